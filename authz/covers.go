package authz

import (
	"slices"
	"time"

	"guard/internal/ask"
	"guard/internal/names"
)

// Covers reports whether every name that asked can ever match is granted for all of
// the privileges on names, with one and the same restriction, which it returns.
// Only then may the pattern itself be forwarded (law 3).
func (p *Policy) Covers(who *ask.Principal, privileges []ask.Privilege, asked names.Pattern, now time.Time) (ask.RestrictionID, bool) {
	q := query{question: question{policy: p, subject: p.subject(who), part: ask.Part{Privileges: privileges}, now: now}}
	if !q.prepare() || len(q.checks()) == 0 || asked.IsRegex() || p.mayReachClosed(q.subject, asked) ||
		!q.every(true, func(g *grant) bool { return g.set.covers(asked) }) {
		return ask.RestrictionID{}, false
	}
	return q.uniform(asked)
}

// mayReachClosed reports whether asked could match a system or protected index that is not open.
func (p *Policy) mayReachClosed(s *subject, asked names.Pattern) bool {
	if asked.Match(securityIndex) && !s.admin {
		return true
	}
	if slices.ContainsFunc(p.system.meets(asked), func(system names.Pattern) bool { return !s.explicit.set.covers(system) }) {
		return true
	}
	return !s.protector && len(p.protected.meets(asked)) > 0
}

// mayMeet reports whether some name could match both patterns.
func mayMeet(p, q names.Pattern) bool {
	common, exact := names.Intersect(p, q)
	return !(exact && common.IsNothing())
}

// uniform returns the restriction of all names that asked can match, if each entry
// that has a say on any name covers all of them. A member of an alias may have any
// name, so an entry that covers only some names makes it unknowable.
func (q *question) uniform(asked names.Pattern) (ask.RestrictionID, bool) {
	if !q.subject.ruled {
		return ask.Free, true
	}
	var rules ruleSet
	for i := range q.subject.entries {
		e := &q.subject.entries[i]
		inside := slices.ContainsFunc(e.patterns, func(b boundPattern) bool {
			return !b.unknown && b.date == nil && b.pattern.Covers(asked)
		})
		switch {
		case inside:
			rules.add(e, q.subject.who)
		case e.restricts() || q.policy.emptyFrees:
			return ask.RestrictionID{}, false
		}
	}
	return rules.restriction(q.policy.emptyFrees).ID, true
}

// maxCommon bounds the patterns that stand for one.
const maxCommon = 32

// Common returns patterns that match nothing but names that asked matches and of which
// each may be forwarded as Covers has it, all with one restriction. What else of asked is
// granted, by regular expressions, dates or where no pattern says it exactly, they miss.
// None is also the answer where they would be many.
func (p *Policy) Common(who *ask.Principal, privileges []ask.Privilege, asked names.Pattern, now time.Time) (list []names.Pattern, id ask.RestrictionID) {
	q := query{question: question{policy: p, subject: p.subject(who), part: ask.Part{Privileges: privileges}, now: now}}
	if !q.prepare() || len(q.checks()) == 0 || asked.IsRegex() {
		return nil, id
	}
	list = []names.Pattern{asked}
	for _, ch := range q.checks() {
		if list = ch.set.common(list); len(list) > maxCommon {
			return nil, id
		}
	}
	for i, c := range list {
		restriction, ok := p.Covers(who, privileges, c, now)
		if !ok || i > 0 && restriction != id {
			return nil, id
		}
		id = restriction
	}
	return list, id
}

// common returns what the patterns of list have in common with those of s, each once and
// none that another covers, or that no name matches. It ends early where that is more than
// maxCommon.
func (s *nameSet) common(list []names.Pattern) []names.Pattern {
	var out []names.Pattern
	for _, asked := range list {
		for _, granted := range s.list {
			c, exact := names.Intersect(asked, granted)
			if !exact || c.NamesNothing() || slices.ContainsFunc(out, func(o names.Pattern) bool { return o.Covers(c) }) {
				continue
			}
			out = append(slices.DeleteFunc(out, func(o names.Pattern) bool { return c.Covers(o) }), c)
			if len(out) > maxCommon {
				return out
			}
		}
	}
	return out
}
