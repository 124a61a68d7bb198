package authz

import (
	"time"

	"guard/config"
	"guard/internal/ask"
)

// The rules of "v4" are those of the plugin's newer evaluator: aliases and streams
// stay whole and are granted by their own names. What a wildcard found and is not
// granted counts as not found, whatever the request does: else the answer would tell
// how forbidden names begin. Names that the client wrote are taken away from a request
// that has a wildcard as well, or ignores unavailable names; else they refuse it.

func (q *query) v4() Decision {
	out := outcome{all: q.asked()}
	for i := range out.all {
		q.v4Target(&out, i)
	}
	remote, allRemote := q.splitRemote()
	forbidden := out.forbidden || !allRemote
	targets := out.targets()
	switch {
	case q.part.Single && (out.taken || len(out.all) == 0):
		return q.deny()
	case forbidden && !q.v4Reducible():
		return q.deny()
	case len(targets)+len(remote) == 0 && !q.v4Empty(forbidden):
		return q.deny()
	}
	return q.allow(targets, remote, out.taken || !allRemote)
}

// v4Target judges target i by its name.
func (q *query) v4Target(out *outcome, i int) {
	t := &out.all[i]
	switch granted, closed := q.v4Granted(t); {
	case granted:
		out.keep(i)
	default:
		out.drop(i, t.Wildcard && (closed || q.policy.reduce))
	}
}

// v4Granted reports whether a target is granted by its name. An alias or stream that
// holds a closed index is not.
func (q *query) v4Granted(t *ask.Target) (granted, closed bool) {
	switch {
	case q.anyClosed(t):
		return false, true
	case t.Kind == ask.Index || t.Kind == ask.DataStream:
		return q.mayIndex(t.Name), false
	default:
		return q.mayName(t.Name, t.Kind == ask.Missing), false
	}
}

// v4Empty reports whether nothing may be done: only if the actions are granted
// somewhere, and if something that the client wrote was taken away, only if he allows
// no indices.
func (q *query) v4Empty(forbidden bool) bool {
	if forbidden && !q.part.Opts.AllowNoIndices {
		return false
	}
	return q.every(false, func(g *grant) bool { return !g.nothing() })
}

// v4Reducible reports whether names that the client wrote may be taken away from this
// part.
func (q *query) v4Reducible() bool {
	return q.policy.reduce && !q.part.Single && !q.part.Fixed && (q.part.Opts.IgnoreUnavailable || q.wild())
}

// Seen returns which names there are for who, where those that are not granted for part
// must be as if they did not exist, and nil where all names count. What of them are found
// by a wildcard Decide takes away by itself: it is needed where other names than those
// have a say.
func (p *Policy) Seen(who *ask.Principal, c Cluster, part ask.Part, now time.Time) func(*ask.Target) bool {
	if p.evaluation != config.EvaluationV4 || !p.reduce || part.Single {
		return nil
	}
	q := query{question: question{policy: p, subject: p.subject(who), cluster: c, part: part, now: now}}
	if !q.prepare() || len(q.checks()) == 0 {
		return nil
	}
	return func(t *ask.Target) bool {
		granted, _ := q.v4Granted(t)
		return granted
	}
}
