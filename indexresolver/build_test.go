package indexresolver_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"guard/indexresolver"
	"guard/internal/names"
)

// cluster is a small one in which few things change at a time: each is drawn by a number
// of its own.
type cluster struct{ facts, joined, aliased, streams [8]uint64 }

func (c *cluster) change(rnd *rand.Rand) {
	list := []*[8]uint64{&c.facts, &c.joined, &c.aliased, &c.streams}
	for range rnd.IntN(3) {
		list[rnd.IntN(len(list))][rnd.IntN(8)] = rnd.Uint64()
	}
}

func dice(seed uint64) func(int) int { return rand.New(rand.NewPCG(seed, 1)).IntN } //nolint:gosec // G404: repeatable

func (c *cluster) contents(version uint64) indexresolver.Contents {
	out := indexresolver.Contents{ClusterUUID: "c", Version: version}
	streams := map[string]*indexresolver.DataStream{}
	for i := range 8 {
		roll := dice(c.facts[i])
		x := indexresolver.Index{Name: fmt.Sprint("i", i), UUID: "u", Closed: roll(9) == 0, Hidden: roll(9) == 0, Mapping: fmt.Appendf(nil, `{"m":%d}`, roll(2))}
		switch roll(12) {
		case 0:
			x.Mapping = nil
		case 1:
			x.Sort = []string{"@timestamp"}
		case 2:
			x.Analyzers = []string{"a"}
		case 3:
			x.UUID = "v"
		case 4:
			x.Mapping = []byte(`{"@timestamp":1}`)
		case 5:
			continue
		}
		roll = dice(c.aliased[i])
		for _, alias := range []string{"al", "bl"} {
			if roll(3) == 0 {
				x.Aliases = append(x.Aliases, indexresolver.Membership{Alias: alias, Filter: [][]byte{nil, []byte(`{}`)}[roll(2)], Hidden: roll(5) == 0})
			}
		}
		if name := fmt.Sprint("s", dice(c.joined[i])(4)); name < "s2" {
			if streams[name] == nil {
				streams[name] = &indexresolver.DataStream{Name: name, Hidden: dice(c.streams[name[1]-'0'])(2) == 0}
			}
			streams[name].Indices = append(streams[name].Indices, x.Name)
		}
		out.Indices = append(out.Indices, x)
	}
	for _, s := range streams {
		out.DataStreams = append(out.DataStreams, *s)
	}
	rand.Shuffle(len(out.Indices), func(i, j int) { out.Indices[i], out.Indices[j] = out.Indices[j], out.Indices[i] })
	return out
}

// allTold is all that s tells.
func allTold(t *testing.T, s *indexresolver.State) string {
	t.Helper()
	var b strings.Builder
	var all []string
	for target := range s.Targets() {
		all = append(all, target.Name)
		fmt.Fprintln(&b, target)
		raw, id, ok := s.Mapping(target.Name)
		stream, _ := s.StreamOf(target.Name)
		fmt.Fprintf(&b, " %s %x %v, of %q, in %q, %v\n", raw, id[:2], ok, stream, s.AliasesOf(target.Name), s.Order(target.Name))
		if x, ok := s.Index(target.Name); ok {
			fmt.Fprintf(&b, " %+v\n", *x)
		}
	}
	fmt.Fprintln(&b, s.Alike(all))
	var mappings []string
	for id, raw := range s.Mappings() {
		mappings = append(mappings, fmt.Sprintf("%x %s", id[:2], raw))
	}
	slices.Sort(mappings)
	fmt.Fprintln(&b, mappings)
	for _, list := range []string{"", "*", "i*", "al,s*", "*,-al", "s*,i1"} {
		for expand := range names.ExpandAll + 1 {
			res, err := s.Resolve(exprList(list), names.Options{Expand: expand, AllowNoIndices: true, IgnoreUnavailable: true}, now)
			fmt.Fprintln(&b, list, expand, res.All, res.Targets, res.NoMatch, res.Unknown, err)
		}
	}
	return b.String()
}

func exprList(text string) (list []names.Expr) {
	for e := range strings.SplitSeq(text, ",") {
		if e != "" {
			list = append(list, names.Expr(e))
		}
	}
	return list
}

// TestNewFromFormer holds that a state says the same whether it shares what a former one
// has or not, and that the former still says what it said.
func TestNewFromFormer(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // G404: repeatable
	var prev *indexresolver.State
	before := ""
	var c cluster
	for step := range uint64(500) {
		c.change(rnd)
		anew, next := mustNew(t, c.contents(step)), mustNewFrom(t, c.contents(step), prev)
		want, got := allTold(t, anew), allTold(t, next)
		if want != got {
			t.Fatalf("step %d: from the former state:\n%s\nwithout:\n%s", step, got, want)
		}
		if !next.SameNames(anew) {
			t.Fatalf("step %d: not the same names", step)
		}
		if prev != nil {
			if again := allTold(t, prev); again != before {
				t.Fatalf("step %d changed the former state:\n%s\nit was:\n%s", step, again, before)
			}
		}
		prev, before = next, got
	}
}

func mustNewFrom(t *testing.T, c indexresolver.Contents, prev *indexresolver.State) *indexresolver.State {
	t.Helper()
	s, err := indexresolver.New(c, prev)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
