package indexresolver

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"guard/internal/ask"
	"guard/internal/names"
)

// Resolve says what exprs name on s, by the rules of the clusters' search: date
// math is computed at now, wildcards expand to what opts allow, and an exclusion
// counts only behind a wildcard. No expression at all means every index.
//
// Names that the cluster would answer with 404 are no error: they come back as
// Unknown, NoMatch or Excluded, and the cluster says the rest when the request is
// forwarded. An error is an *ask.Rejection.
//
// An alias or data stream that a wildcard matched stays whole where all of its
// indices are meant, else the indices stand for themselves. The result is read-only.
func (s *State) Resolve(exprs []names.Expr, opts names.Options, now time.Time) (ask.Resolved, error) {
	return s.resolve(exprs, walk{opts: opts}, now)
}

// ResolveSeen is Resolve on what s would be without the names that are not seen: it
// says what exprs mean to somebody to whom these must be as if they did not exist. One
// that was written out is still a target, for the decision to refuse. No expression, or
// "*" alone, still means every index, seen or not.
func (s *State) ResolveSeen(exprs []names.Expr, opts names.Options, now time.Time, seen func(*ask.Target) bool) (ask.Resolved, error) {
	return s.resolve(exprs, walk{opts: opts, seen: seen}, now)
}

func (s *State) resolve(exprs []names.Expr, w walk, now time.Time) (ask.Resolved, error) {
	if s.Empty() {
		return ask.Resolved{}, &ask.Rejection{
			Status: http.StatusServiceUnavailable, Reason: ask.ReasonStateStale,
			Type: "cluster_state_unavailable", Public: "the state of the cluster is not known yet",
		}
	}
	if len(exprs) == 1 {
		// Fast path: a name that exists is no wildcard, date math or remote name.
		if e, ok := s.entries[string(exprs[0])]; ok && w.sees(e) {
			return ask.Resolved{Targets: e.itself}, nil
		}
	}
	w.state, w.literal, w.indices, w.named, w.unseen = s, map[*entry]bool{}, map[*entry]bool{}, map[*entry]bool{}, map[*entry]bool{}
	w.kept = map[string]bool{}
	local := make([]names.Expr, 0, len(exprs))
	for _, e := range exprs {
		switch e, remote, err := compute(e, now); {
		case err != nil:
			return ask.Resolved{}, err
		case remote:
			w.out.Remote = append(w.out.Remote, e)
		default:
			local = append(local, e)
		}
	}
	// With a remote part "*" is taken as one of several, which is the wider reading:
	// whether such a cluster exists, and so whether "*" stands alone, is not known.
	if len(w.out.Remote) == 0 && (len(local) == 0 || len(local) == 1 && local[0].IsAll()) {
		return ask.Resolved{All: true, Targets: s.all[w.opts.Expand&names.ExpandAll](), Faults: w.allFaults(local)}, nil
	}
	if len(local) == 1 && len(w.out.Remote) == 0 {
		if targets, ok := w.single(local[0]); ok {
			return ask.Resolved{Targets: targets, Faults: w.leftFaults(local, len(targets)), Beyond: !w.opts.AllowNoIndices}, nil
		}
	}
	w.alone = len(local) == 1
	for _, e := range local {
		if err := w.step(e); err != nil {
			return ask.Resolved{}, err
		}
	}
	w.out.Faults = append(w.out.Faults, w.leftFaults(local, len(w.literal)+len(w.indices)+len(w.kept))...)
	return w.result(), nil
}

// firstTargets bounds the room for the matches of a pattern that goes on behind its
// first '*': how many there are is not known then.
const firstTargets = 256 // 20 KiB

// single expands a wildcard that stands alone, where every group that it matches
// stands whole: then the matches are the result. It is the usual case, and needs
// neither sets nor sorting.
func (w *walk) single(e names.Expr) ([]ask.Target, bool) {
	if e == "" || e[0] == '_' || w.opts.Expand.Nothing() || !e.IsWildcard() {
		return nil, false
	}
	room := len(w.state.withPrefix(string(e)))
	if strings.IndexByte(string(e), '*') < len(e)-1 {
		room = min(room, firstTargets)
	}
	targets := make([]ask.Target, 0, room)
	found := false
	for m := range w.matches(e) {
		found = true
		if !w.visible(m, e) {
			continue
		}
		wanted := !slices.ContainsFunc(m.members, func(x *entry) bool { return !w.wanted(x) })
		switch {
		case wanted:
			targets = append(targets, m.target(true))
		case m.kind != ask.Index:
			return nil, false
		}
	}
	return targets, found
}

// compute refuses what no cluster takes for a name and computes date math.
func compute(e names.Expr, now time.Time) (out names.Expr, remote bool, err error) {
	if selector, ok := e.Selector(); ok {
		return "", false, badExpression(e, fmt.Sprintf("selector [%s] is not supported", names.Clip(selector)))
	}
	if strings.Contains(string(e), ",") {
		return "", false, badExpression(e, "must not contain ','")
	}
	if _, _, ok := e.Remote(); ok {
		return e, true, nil
	}
	out, err = e.DateMath(now)
	if err != nil {
		return "", false, &ask.Rejection{
			Status: http.StatusBadRequest, Type: "parse_exception", Reason: ask.ReasonBadRequest,
			Public: err.Error(), Cause: err,
		}
	}
	return out, false, nil
}

func badExpression(e names.Expr, why string) error {
	return ask.InvalidIndexName(string(e), fmt.Sprintf("Invalid index name [%s], %s.", names.Clip(string(e)), why))
}

// walk goes through the expressions of one list in their order. It keeps two sets,
// as the clusters do: what is searched, and which names stand, which decides the
// filters of aliases. An exclusion can take from one and not from the other.
type walk struct {
	state *State
	opts  names.Options
	seen  func(*ask.Target) bool // nil: every name is
	// literal are the names that were written out and are searched.
	literal map[*entry]bool
	// indices are those that are searched not only through a literal alias or stream.
	indices map[*entry]bool
	// named are the names that stand, written out or matched.
	named map[*entry]bool
	// unseen are names that were written out, exist and are not seen.
	unseen map[*entry]bool
	// kept are names that do not exist and are looked for all the same.
	kept         map[string]bool
	wildcardSeen bool
	alone        bool // there is one expression
	stopped      bool // the cluster ends with another error than 404
	out          ask.Resolved
}

// step applies one expression. The order of the tests is the clusters' own.
func (w *walk) step(e names.Expr) error {
	switch {
	case e == "":
		return ask.NoSuchIndex("", ask.IndexOrAlias)
	case e[0] == '_':
		return badExpression(e, "must not start with '_'")
	case w.opts.Expand.Nothing():
		w.lookup(e)
		return nil
	}
	if found, ok := w.entry(e); ok {
		w.take(found)
		return nil
	}
	excluded, ok := e.Excluded()
	switch exclusion := ok && w.wildcardSeen; {
	case exclusion && excluded.IsWildcard():
		w.excludeAll(excluded)
	case exclusion:
		w.exclude(excluded)
	case e.IsWildcard():
		w.expand(e)
		w.wildcardSeen = true
	default:
		w.lookup(e)
	}
	return nil
}

// entry returns the name e, if it exists and is seen.
func (w *walk) entry(e names.Expr) (*entry, bool) {
	found, ok := w.state.entries[string(e)]
	return found, ok && w.sees(found)
}

func (w *walk) sees(e *entry) bool { return w.seen == nil || w.seen(&e.itself[0]) }

// lookup takes a name that was written out, or notes that there is none. One that is there
// and not seen has no say in what others mean, but it stays what it is: taken for a missing
// name it would be judged without its indices.
func (w *walk) lookup(e names.Expr) {
	switch found, ok := w.state.entries[string(e)]; {
	case ok && w.sees(found):
		w.take(found)
	case ok:
		w.unseen[found] = true
	case e.IsWildcard():
		w.lack(e)
		w.out.NoMatch = append(w.out.NoMatch, e)
	default:
		w.lack(e)
		w.out.Unknown = append(w.out.Unknown, string(e))
	}
}

func (w *walk) take(e *entry) {
	w.literal[e], w.named[e] = true, true
	w.stopped = w.stopped || w.opts.Expand.Nothing() && !w.opts.IgnoreUnavailable && e.anyClosed()
	if e.kind == ask.Index {
		w.indices[e] = true
	}
}

// expand takes what the wildcard e matches. Closed indices of a literal alias are
// meant; those of a matched one only if the options say so.
func (w *walk) expand(e names.Expr) {
	w.out.Beyond = w.out.Beyond || !w.opts.AllowNoIndices
	found := false
	for m := range w.matches(e) {
		found = true
		if !w.visible(m, e) {
			continue
		}
		if m.kind != ask.Index || w.wanted(m) {
			w.named[m] = true
		}
		for _, index := range m.members {
			if w.wanted(index) {
				w.indices[index] = true
			}
		}
	}
	if !found {
		w.out.NoMatch = append(w.out.NoMatch, e)
		w.lackMatch(e, false)
	}
}

// excludeAll takes out the names that the wildcard e would expand to, and their
// indices. An alias that was written out is still searched.
func (w *walk) excludeAll(e names.Expr) {
	w.out.Beyond = true
	if !w.opts.AllowNoIndices {
		w.out.Excluded = append(w.out.Excluded, string(e))
	}
	found := false
	for m := range w.matches(e) {
		found = true
		if !w.visible(m, e) {
			continue
		}
		delete(w.named, m)
		for _, index := range m.members {
			if w.wanted(index) {
				delete(w.indices, index)
				delete(w.literal, index)
			}
		}
	}
	if !found {
		w.lackMatch(e, true)
	}
}

// exclude takes one name out. Of a matched alias or data stream only the name goes,
// and with it the alias's filter: the clusters have put its indices in its place.
func (w *walk) exclude(e names.Expr) {
	w.out.Beyond = true
	if !w.opts.IgnoreUnavailable {
		w.out.Excluded = append(w.out.Excluded, string(e))
	}
	delete(w.kept, string(e))
	m, ok := w.entry(e)
	if !ok {
		w.lackExcluded(e)
		return
	}
	delete(w.named, m)
	delete(w.literal, m)
	delete(w.indices, m)
}

// matches yields the entries whose name e matches, of the kinds that opts allow.
func (w *walk) matches(e names.Expr) func(yield func(*entry) bool) {
	return func(yield func(*entry) bool) {
		p, ok := e.Pattern()
		if !ok {
			return // it holds a character that no name can hold
		}
		for _, m := range w.state.withPrefix(string(e)) {
			skip := m.kind == ask.Alias && w.opts.IgnoreAliases || m.kind == ask.DataStream && w.opts.IgnoreDataStreams
			if !skip && p.Match(m.name) && w.sees(m) && !yield(m) {
				return
			}
		}
	}
}

// Compared returns with how many names of s the wildcards of exprs are compared, each as
// often as it costs. What is looked up counts too: most of a long list may mean nothing.
func (s *State) Compared(exprs []names.Expr) int {
	if s.Empty() {
		return 0
	}
	const lookup, date = 16, 64
	n := lookup * len(exprs)
	for _, e := range exprs {
		if e.IsDateMath() {
			n += date
		}
		if e.IsWildcard() && !(len(exprs) == 1 && e.IsAll()) { // every index is known beforehand
			excluded, _ := e.Excluded()
			n += len(s.withPrefix(string(excluded))) * effort(excluded)
		}
	}
	return n
}

// effort is how many times as much as a usual wildcard e takes to be compared with a name:
// each further '*' is looked for by itself, and what is long takes longer.
func effort(e names.Expr) int {
	const usual, each = 32, 8 // bytes
	return max(1, strings.Count(string(e), "*")) + max(0, len(e)-usual)/each
}

// withPrefix returns the entries that start with what stands before the first '*'.
func (s *State) withPrefix(expr string) []*entry {
	prefix, _, _ := strings.Cut(expr, "*")
	from, _ := slices.BinarySearchFunc(s.sorted, prefix, func(e *entry, p string) int { return strings.Compare(e.name, p) })
	rest := s.sorted[from:]
	to, _ := slices.BinarySearchFunc(rest, prefix, func(e *entry, p string) int {
		if strings.HasPrefix(e.name, p) {
			return -1
		}
		return strings.Compare(e.name, p)
	})
	return rest[:to]
}

// visible reports whether the wildcard e expands to the hidden entry m: if the
// options say so, or if both start with a dot.
func (w *walk) visible(m *entry, e names.Expr) bool {
	return !m.hidden || w.opts.Expand&names.ExpandHidden != 0 ||
		strings.HasPrefix(m.name, ".") && strings.HasPrefix(string(e), ".")
}

// wanted reports whether wildcards expand to indices in the state of index. Hidden
// is asked of what was matched, not of its members.
func (w *walk) wanted(index *entry) bool { return inState(index, w.opts.Expand) }

func inState(index *entry, states names.Expand) bool {
	if index.closed {
		return states&names.ExpandClosed != 0
	}
	return states&names.ExpandOpen != 0
}

// result lists the aliases and data streams that stand whole, and the indices that
// stand for themselves: also those of an alias that was written out and whose name
// was then excluded.
func (w *walk) result() ask.Resolved {
	whole, ways := map[*entry]bool{}, map[*entry][]*entry{}
	for m := range w.named {
		if m.kind == ask.Index {
			continue
		}
		whole[m] = w.isWhole(m)
		w.out.Beyond = w.out.Beyond || !whole[m]
		for _, index := range m.members {
			ways[index] = append(ways[index], m)
		}
	}
	searched := maps.Clone(w.indices)
	for m := range w.literal {
		if m.kind == ask.Index {
			continue
		}
		for _, index := range m.members {
			searched[index] = true
		}
	}
	for m, ok := range whole {
		if ok {
			w.out.Targets = append(w.out.Targets, m.target(!w.literal[m]))
		}
	}
	for m := range w.unseen {
		delete(searched, m)
		w.out.Targets = append(w.out.Targets, m.target(false))
	}
	for index := range searched {
		if w.named[index] || !covered(ways[index], whole) {
			w.out.Targets = append(w.out.Targets, w.indexTarget(index, ways[index]))
		}
	}
	slices.SortFunc(w.out.Targets, func(a, b ask.Target) int { return strings.Compare(a.Name, b.Name) })
	w.out.Unknown = sortedSet(w.out.Unknown)
	w.out.Excluded = sortedSet(w.out.Excluded)
	return w.out
}

// isWhole reports whether m was written out, or all of its indices are searched, so
// that its name means no more than they do.
func (w *walk) isWhole(m *entry) bool {
	return w.literal[m] || !slices.ContainsFunc(m.members, func(x *entry) bool { return !w.indices[x] })
}

// covered reports whether the targets that stand whole say all about an index that
// ways lead to: one of them shows every document, or there is no other way.
func covered(ways []*entry, whole map[*entry]bool) bool {
	partial := slices.ContainsFunc(ways, func(m *entry) bool { return !whole[m] })
	return slices.ContainsFunc(ways, func(m *entry) bool { return whole[m] && (!m.filtered || !partial) })
}

// indexTarget describes an index. One that stands under its own name, or that any
// alias without a filter leads to, shows every document.
func (w *walk) indexTarget(index *entry, ways []*entry) ask.Target {
	t := index.target(!w.literal[index])
	if w.named[index] || slices.ContainsFunc(ways, func(m *entry) bool { return !m.filtered }) {
		return t
	}
	for _, m := range ways {
		t.Via = append(t.Via, m.name)
	}
	t.Via = sortedSet(t.Via)
	t.Filtered = len(t.Via) > 0
	return t
}

func sortedSet(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// everything is what "*" alone expands to: concrete indices. Here a visible data
// stream shows its hidden indices, while a visible alias does not.
func (s *State) everything(states names.Expand) []ask.Target {
	var out []ask.Target
	for _, e := range s.sorted {
		if e.kind != ask.Index || !inState(e, states) {
			continue
		}
		shown := !e.hidden || e.stream != nil && !e.stream.hidden
		if shown || states&names.ExpandHidden != 0 {
			out = append(out, e.target(true))
		}
	}
	return out
}

// Indices returns the concrete indices behind the targets of r, sorted and without
// repeats.
func Indices(r ask.Resolved) []string {
	set := make(map[string]struct{}, len(r.Targets))
	for _, t := range r.Targets {
		for _, m := range t.Members {
			set[m] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(set))
}
