package authz

import (
	"slices"
	"time"

	"guard/internal/ask"
)

// Standing is what decides for a principal, beside the cluster: whoever has the same one
// gets the same decisions under one policy. It can be compared.
type Standing struct {
	profile *profile
	who     *ask.Principal // nil where no rule tells principals of one profile apart
}

// Standing returns that of who. If lasting is false, what is decided depends on the time:
// a pattern has a date in it, or is an expression that can run out of time.
func (p *Policy) Standing(who *ask.Principal) (s Standing, lasting bool) {
	subject := p.subject(who)
	s.profile = subject.profile
	if subject.personal {
		s.who = who
	}
	return s, subject.lasting && p.lasting
}

// Again returns d, which was decided for somebody of the same standing and on a cluster
// in which the names mean the same, as what p decides now.
func (p *Policy) Again(d Decision, who *ask.Principal, c Cluster, part ask.Part, res ask.Resolved, now time.Time) Decision {
	d.asked = question{p, p.subject(who), c, part, res, now}
	return d
}

// Alone returns d without what it was decided from, which it would keep in memory.
func (d Decision) Alone() Decision {
	d.asked = question{}
	return d
}

// lasts reports whether an entry covers a name at one time if it does at another.
func (e *boundEntry) lasts() bool {
	return !slices.ContainsFunc(e.patterns, func(p boundPattern) bool { return p.date != nil || !p.pattern.Sure() })
}

// personal reports whether what e shows depends on more than the patterns that are bound.
func (e *boundEntry) personal() bool { return e.dls != nil && len(e.dls.variables()) > 0 }
