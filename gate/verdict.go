package gate

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"

	"guard/authz"
	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/names"
)

// A verdict is what was decided on wildcards, and what follows from that alone. It is kept
// for all who have the same standing, and over changes of the cluster that do not concern
// its names: so a pattern costs the same whatever it matches, but for the first time.
type verdict struct {
	judged   judged // of no snapshot
	compared int    // with so many names the wildcards were compared
	concern  concern
	cost     int64         // about as many bytes
	state    atomic.Uint64 // serial of the last state on which it held
	aliased  bool          // a filter or routing of an alias binds some of what is allowed

	mu       sync.Mutex // guards what follows, which is made when it is first asked
	named    *forwarded
	bindings [2]*binding // that of names which can come to mean other indices is the second
}

// verdictKey is all that a verdict depends on, beside policy and cluster.
type verdictKey struct {
	standing   authz.Standing
	route      *endpoint.Route
	privileges *ask.Privilege // the first one: lists of them belong to routes, and never change
	exprs      string
	opts       names.Options
	fixed      bool
}

// maxKeyed bounds the expressions of which a verdict is kept, in bytes.
const maxKeyed = 1 << 10

// verdictKey returns the key of what is decided on part, if that is kept. Names that were
// written out are decided faster than found again, and date math means another name
// tomorrow.
func (pl *plan) verdictKey(part *ask.Part) (verdictKey, bool) {
	if part.Single || part.Aliases || len(part.Privileges) == 0 || !hasWildcard(part.Exprs) {
		return verdictKey{}, false
	}
	key := verdictKey{route: pl.m.Route, privileges: &part.Privileges[0], opts: part.Opts, fixed: part.Fixed, exprs: keyText(part.Exprs)}
	if len(key.exprs) > maxKeyed || strings.Contains(key.exprs, "<") {
		return verdictKey{}, false
	}
	var lasting bool
	key.standing, lasting = pl.s.policy.Standing(pl.who)
	return key, lasting
}

// keyText joins expressions, which hold no comma but in date math; none is not an empty one.
func keyText(exprs []names.Expr) string {
	switch len(exprs) {
	case 0:
		return ","
	case 1:
		return string(exprs[0])
	}
	return strings.Join(exprTexts(exprs), ",")
}

// concern tells on which names a verdict rests.
type concern struct {
	all      bool
	literal  []string
	patterns []names.Pattern
}

func concernOf(exprs []names.Expr) concern {
	c := concern{all: len(exprs) == 0}
	for _, e := range exprs {
		excluded, _ := e.Excluded()
		for _, e := range []names.Expr{e, excluded} {
			c.literal = append(c.literal, string(e))
			if p, ok := e.Pattern(); ok && (e.IsWildcard() || e.IsAll()) {
				c.patterns = append(c.patterns, p)
			}
		}
	}
	return c
}

func (c *concern) with(name string) bool {
	return c.all || slices.Contains(c.literal, name) || slices.ContainsFunc(c.patterns, func(p names.Pattern) bool { return p.Match(name) })
}

// recall returns what was decided on a part, if it is known and still holds.
func (pl *plan) recall(key verdictKey, part *ask.Part) (j judged, ok bool, err error) {
	v, ok := pl.s.memo.verdicts.get(key)
	if !ok || !v.holds(pl.s) {
		return judged{}, false, nil
	}
	if err := pl.count(v.compared, len(v.judged.resolved.Targets)); err != nil {
		return judged{part: *part}, true, err
	}
	pl.s.memo.verdicts.recalled.Add(1)
	j = v.judged
	j.part, j.kept = *part, v
	j.Decision = pl.s.policy.Again(j.Decision, pl.who, cluster{pl.s.state}, j.part, j.resolved, pl.r.Now)
	return j, true, nil
}

// holds reports whether v is right on the state of s.
func (v *verdict) holds(s *Snapshot) bool {
	at := v.state.Load()
	if at == s.state.Serial() {
		return true
	}
	if !s.state.Unaffected(at, v.concern.with) {
		return false
	}
	v.state.CompareAndSwap(at, s.state.Serial())
	return true
}

// remember keeps j, which was decided on a part that shares no memory with the request.
func (pl *plan) remember(key verdictKey, j *judged, compared int) {
	if j.rejection != nil || len(j.resolved.Unknown)+len(j.resolved.Faults) > 0 {
		return // what a client makes up is not kept
	}
	v := &verdict{judged: *j, compared: compared, concern: concernOf(j.part.Exprs), cost: costOf(j)}
	v.judged.Decision = j.Decision.Alone()
	v.aliased = slices.ContainsFunc(j.Allowed, func(t ask.Target) bool { return t.Filtered || len(t.Via) > 0 })
	v.state.Store(pl.s.state.Serial())
	if pl.s.memo.verdicts.add(key, v) {
		j.kept = v
	}
}

// costOf is about what a verdict of j takes: its targets, their names as they are forwarded
// and as what filters answers knows them.
func costOf(j *judged) int64 {
	const fixed, each = 2 << 10, 256
	n := int64(fixed + each*len(j.Allowed))
	for i := range j.Groups {
		n += int64(each * len(j.Groups[i].Indices))
	}
	return n
}

// forwardNames is plan.forwardNames for all who get this verdict.
func (v *verdict) forwardNames(pl *plan, j *judged) (forwarded, *ask.Rejection) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.named == nil {
		kept := *j
		kept.part.Exprs = v.judged.part.Exprs // the request's own would stay with all of its head
		f, rej := pl.writeNames(&kept)
		if rej != nil {
			return f, rej
		}
		f.listed = new(listed)
		v.named = &f
	}
	return *v.named, nil
}

// bind is plan.bind for all who get this verdict.
func (v *verdict) bind(pl *plan, j *judged, open bool) (*binding, *ask.Rejection) {
	i := 0
	if open {
		i = 1
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.bindings[i] == nil {
		made, rej := pl.bindAnew(j, open)
		if rej != nil {
			return nil, rej
		}
		made.keepTreatment()
		made.known = pl.s.knownOf(made)
		v.bindings[i] = made
	}
	return v.bindings[i].again(), nil
}

// maxVerdicts bounds how many decisions are kept, beside the bytes that they may take.
const maxVerdicts = 100_000

// verdicts are bounded by what they take: those that were not asked for longest go first.
type verdicts struct {
	most           int64 // bytes
	table          *lru.Cache[verdictKey, *verdict]
	adding         sync.Mutex // held while one is added, so that bytes is right
	bytes          atomic.Int64
	recalled, made atomic.Int64
}

func newVerdicts(most int64) *verdicts {
	v := &verdicts{most: most}
	table, err := lru.NewWithEvict(maxVerdicts, func(_ verdictKey, gone *verdict) { v.bytes.Add(-gone.cost) })
	if err != nil {
		panic("BUG: table of verdicts: " + err.Error()) // only a size below one is refused
	}
	v.table = table
	return v
}

func (v *verdicts) get(key verdictKey) (*verdict, bool) { return v.table.Get(key) }

// add keeps one verdict, unless it would take more than a quarter of the room: then it is
// decided anew each time.
func (v *verdicts) add(key verdictKey, made *verdict) bool {
	if made.cost > v.most/4 {
		return false
	}
	v.adding.Lock()
	defer v.adding.Unlock()
	v.made.Add(1)
	v.table.Remove(key) // tells of the former one, which a replacement would not
	v.bytes.Add(made.cost)
	v.table.Add(key, made)
	for v.bytes.Load() > v.most {
		v.table.RemoveOldest()
	}
	return true
}

// Kept tells of the decisions on wildcards that are kept.
type Kept struct {
	Bytes          int64 // that they take, about
	Recalled, Made int64 // since the policy is at work
}

// Kept returns what is kept under the snapshot's policy.
func (s *Snapshot) Kept() Kept {
	v := s.memo.verdicts
	return Kept{v.bytes.Load(), v.recalled.Load(), v.made.Load()}
}
