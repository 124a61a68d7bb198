package authz

import (
	"slices"

	"guard/internal/ask"
	"guard/internal/names"
)

// The rules of "legacy" are those of the security plugin up to 3.4: aliases are
// what their members are, and names are taken away from a request only with
// do_not_fail_on_forbidden and only for some reads.

// legacyReducible are the actions whose list of names may be shortened.
var legacyReducible = names.NewPatterns(
	names.MustParsePattern("indices:data/read/*"),
	names.MustParsePattern("indices:admin/mappings/fields/get*"),
	names.MustParsePattern("indices:admin/shards/search_shards"),
	names.MustParsePattern("indices:admin/resolve/index"),
	names.MustParsePattern("indices:monitor/settings/get"),
	names.MustParsePattern("indices:monitor/stats"),
	names.MustParsePattern("indices:admin/aliases/get"),
)

// legacyDenied are the actions that nobody may run on all indices at once, since
// they would reach the security index.
var legacyDenied = names.NewPatterns(
	names.MustParsePattern("indices:data/write*"),
	names.MustParsePattern("indices:admin/delete*"),
	names.MustParsePattern("indices:admin/mapping/delete*"),
	names.MustParsePattern("indices:admin/mapping/put*"),
	names.MustParsePattern("indices:admin/freeze*"),
	names.MustParsePattern("indices:admin/settings/update*"),
	names.MustParsePattern("indices:admin/aliases"),
	names.MustParsePattern("indices:admin/close*"),
	names.MustParsePattern("cluster:admin/snapshot/restore*"),
)

func (q *query) legacy() Decision {
	if q.res.All && !q.subject.admin && slices.ContainsFunc(q.checks(), func(ch check) bool { return ch.denied }) {
		return q.deny()
	}
	out := outcome{all: q.asked()}
	for i := range out.all {
		q.legacyTarget(&out, i)
	}
	remote, allRemote := q.splitRemote()
	if q.mustBeWhole(&out) {
		return q.deny()
	}
	if !out.forbidden && allRemote {
		return q.allow(out.targets(), remote, out.taken)
	}
	if !q.legacyReducible() {
		return q.deny()
	}
	targets := out.targets()
	if len(targets) == 0 && len(remote) == 0 && !q.policy.reduceAll {
		return q.deny()
	}
	return q.allow(targets, remote, true)
}

// legacyTarget judges target i. What a wildcard found and is closed counts as not
// found.
func (q *query) legacyTarget(out *outcome, i int) {
	t := &out.all[i]
	switch t.Kind {
	case ask.Index:
		closed := q.closed(t.Name)
		if !closed && q.mayIndex(t.Name) {
			out.keep(i)
			return
		}
		out.drop(i, closed && t.Wildcard)
	case ask.Alias, ask.DataStream:
		q.legacyMembers(out, i)
	case ask.Missing:
		if !q.closed(t.Name) && q.mayName(t.Name, true) {
			out.keep(i)
			return
		}
		out.drop(i, false)
	}
}

// legacyMembers judges an alias or a stream. A stream counts by its own name as
// well: holding its generations is not enough for it.
func (q *query) legacyMembers(out *outcome, i int) {
	t := &out.all[i]
	if t.Kind == ask.DataStream && (q.closed(t.Name) || !q.mayIndex(t.Name)) {
		out.drop(i, q.closed(t.Name) && t.Wildcard, q.members(t)...)
		return
	}
	hidden, refused := 0, 0
	for _, m := range t.Members {
		switch {
		case q.closed(m):
			hidden++
		case !q.mayIndex(m):
			refused++
		}
	}
	if hidden+refused == 0 && len(t.Members) > 0 {
		out.keep(i)
		return
	}
	out.drop(i, refused == 0 && hidden > 0 && t.Wildcard, q.members(t)...)
}

// members returns the granted members of an alias or stream in its place. Those of
// a filtered or routed alias say that its filter binds them: their own names would
// lose it.
func (q *query) members(t *ask.Target) []ask.Target {
	var via []string
	if t.Filtered {
		via = []string{t.Name}
	}
	var granted []ask.Target
	for _, m := range t.Members {
		if !q.closed(m) && q.mayIndex(m) {
			// As if found by a wildcard: the client did not name it, so its end must not
			// become a 404.
			granted = append(granted, ask.Target{
				Name: m, Kind: ask.Index, Members: []string{m}, Wildcard: true, Filtered: t.Filtered, Via: via,
			})
		}
	}
	return granted
}

// legacyReducible reports whether names may be taken away from this part.
func (q *query) legacyReducible() bool {
	return q.policy.reduce && !q.part.Single && !q.part.Fixed &&
		!slices.ContainsFunc(q.checks(), func(ch check) bool { return !ch.reducible })
}
