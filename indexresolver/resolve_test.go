package indexresolver_test

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
	"guard/test/resolution"
)

// TestResolveAsMeasured compares with what a real cluster searched.
func TestResolveAsMeasured(t *testing.T) {
	file, err := os.Open("testdata/search.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := mustNew(t, world())
	cases := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		parts := strings.Split(lines.Text(), "\t")
		if strings.HasPrefix(lines.Text(), "#") || strings.Contains(parts[0], ":") {
			continue // with a colon: remote to us, whether or not the cluster has remotes
		}
		cases++
		want := resolution.Answer{Status: 200, Indices: parts[2]}
		if status, _, ok := strings.Cut(parts[2], " "); ok {
			want = resolution.Answer{}
			want.Status, _ = strconv.Atoi(status)
		}
		exprs := names.Split(parts[0])
		o, err := resolution.Options(parts[1])
		if err != nil {
			t.Fatal(err)
		}
		got := resolution.Predict(s, exprs, o, now)
		if r, err := s.Resolve(exprs, o, now); err == nil && len(s.Bindings(r)["a1"].Filters) > 0 {
			got.Indices = strings.Replace(got.Indices, "a1", "", 1) // the filter of "alf" matches no document
		}
		if got != want {
			t.Errorf("%q with %q gives %v; the cluster %v", parts[0], parts[1], got, want)
		}
	}
	if cases < 190 {
		t.Errorf("only %d cases were read", cases)
	}
}

// show prints targets shortly: a name, '*' if a wildcard brought it, its members if
// it has other than itself, and what it came through.
func show(r ask.Resolved) string {
	var parts []string
	if r.All {
		parts = append(parts, "ALL")
	}
	for _, t := range r.Targets {
		text := t.Name
		if t.Wildcard {
			text += "*"
		}
		if t.Kind != ask.Index {
			text += "{" + strings.Join(t.Members, " ") + "}"
		}
		if len(t.Via) > 0 {
			text += "<" + strings.Join(t.Via, " ")
		}
		parts = append(parts, text)
	}
	for _, u := range r.Unknown {
		parts = append(parts, "?"+u)
	}
	for _, n := range r.NoMatch {
		parts = append(parts, "0"+string(n))
	}
	for _, e := range r.Excluded {
		parts = append(parts, "-"+e)
	}
	for _, e := range r.Remote {
		parts = append(parts, "@"+string(e))
	}
	return strings.Join(parts, " ")
}

func TestResolveTargets(t *testing.T) {
	s := mustNew(t, world())
	f := func(expr string, o names.Options, want string) {
		t.Helper()
		r, err := s.Resolve(names.Split(expr), o, now)
		if err != nil {
			t.Errorf("%q: %v", expr, err)
			return
		}
		if got := show(r); got != want {
			t.Errorf("%q means\n%s\nwant\n%s", expr, got, want)
		}
	}
	with := func(e names.Expand) names.Options { o := resolution.Search; o.Expand = e; return o }
	strict := names.Options{Expand: names.ExpandOpen}
	lenient := names.Options{Expand: names.ExpandOpen, IgnoreUnavailable: true, AllowNoIndices: true}
	noAliases := names.Options{Expand: names.ExpandOpen | names.ExpandClosed, AllowNoIndices: true, IgnoreAliases: true}
	noStreams := names.Options{Expand: names.ExpandOpen, AllowNoIndices: true, IgnoreDataStreams: true}

	f("a1", resolution.Search, "a1")
	f("a1,a1", resolution.Search, "a1")
	f("a*,-*", resolution.Search, "") // nothing is left: the empty set, never "all"
	f("", resolution.Search, "ALL .dot* .ds-ds1-000001* .ds-ds1-000002* .ds-ds2-000001* .ds-hds-000001* a1* a2* b1* c-1* sys* x+y*")
	f("*", with(names.ExpandNone), "ALL")
	f("_all", with(names.ExpandClosed), "ALL a3*")

	// Aliases and data streams stay whole where all of their indices are meant.
	f("al", resolution.Search, "al{a1 a2}")
	f("almix", resolution.Search, "almix{a1 a3}")
	f("ds*", resolution.Search, "ds1*{.ds-ds1-000001 .ds-ds1-000002} ds2*{.ds-ds2-000001}")
	f("zal*", resolution.Search, "zal*{b1}")
	f("alm*", resolution.Search, "a1*") // the closed index is not meant
	f("alm*", with(names.ExpandOpen|names.ExpandClosed), "almix*{a1 a3}")
	f("ds*,-.ds-ds1-000001", resolution.Search, ".ds-ds1-000002* ds2*{.ds-ds2-000001} -.ds-ds1-000001")
	f("al,a*,-a1", resolution.Search, "a2* al{a1 a2} althid*{hid} -a1") // a1 is still meant by al
	f("*,b1", resolution.Search, ".aldot*{b1} .dot* a1* a2* al*{a1 a2} alf*{a1} althid*{hid} alw*{a1 a2} b1 c-1* ds1*{.ds-ds1-000001 .ds-ds1-000002} ds2*{.ds-ds2-000001} hds*{.ds-hds-000001} sys* x+y* zal*{b1}")

	// An index that is left of a filtered alias remembers it.
	f("alf*", resolution.Search, "alf*{a1}")
	f("alf*,-alf", resolution.Search, "a1* -alf") // with its name goes the filter
	f("alf*,-a1", resolution.Search, "-a1")

	// Names that are not there.
	f("nosuch", resolution.Search, "?nosuch")
	f("nosuch", lenient, "?nosuch")
	f("A1,a 1,a1?", resolution.Search, "?A1 ?a 1 ?a1?")
	f("nosuch*", resolution.Search, "0nosuch*")
	f("a?*,-a1", resolution.Search, "0a?* -a1")
	f("a1*,-nosuch", resolution.Search, "a1* -nosuch")
	f("a1*,-nosuch", lenient, "a1*") // no 404 comes of it
	f("a1*,-nosuch*", resolution.Search, "a1*")
	f("a1*,-nosuch*", strict, "a1* -nosuch*")
	f("-a1,a2", resolution.Search, "a2 ?-a1") // no wildcard before it
	f("a2,-a2", resolution.Search, "a2 ?-a2")

	// Endpoints that pass kinds over.
	f("al*", noAliases, "0al*")
	f("a*", noAliases, "a1* a2* a3*")
	f("al", noAliases, "al{a1 a2}") // written out it counts: the cluster answers
	f("ds*", noStreams, "0ds*")
	f("ds1", noStreams, "ds1{.ds-ds1-000001 .ds-ds1-000002}")

	// Date math and remote names.
	f("<a1>", resolution.Search, "a1")
	f("<logs-{now/d}>", resolution.Search, "?logs-2026.11.30")
	f("a*,<-a1>", resolution.Search, "a2* althid*{hid} -a1")
	f("rem:a1", resolution.Search, "@rem:a1")
	f("rem:*,a1", resolution.Search, "a1 @rem:*")
	f("rem:a,*", with(names.ExpandClosed), "a3* alclosed*{a3} @rem:a")
	f("<x-{now/d{yyyy|+02:00}}>", resolution.Search, "?x-2026")
}

func TestResolveRefuses(t *testing.T) {
	s := mustNew(t, world())
	f := func(expr names.Expr, status int, typ, reason string) {
		t.Helper()
		r, err := s.Resolve([]names.Expr{"a1", expr}, resolution.Search, now)
		var rejection *ask.Rejection
		if !errors.As(err, &rejection) {
			t.Errorf("%q means %v, %v; want a rejection", expr, show(r), err)
			return
		}
		if rejection.Status.Code() != status || rejection.Type.Name() != typ || !strings.Contains(rejection.Public, reason) {
			t.Errorf("%q is refused with %d %s %q; want %d %s %q", expr, rejection.Status, rejection.Type, rejection.Public, status, typ, reason)
		}
		if diff := cmp.Diff(ask.Resolved{}, r); diff != "" {
			t.Errorf("%q was refused and still means %s", expr, show(r))
		}
	}
	f("_foo", 400, "invalid_index_name_exception", "Invalid index name [_foo], must not start with '_'.")
	f("_foo*", 400, "invalid_index_name_exception", "must not start with '_'")
	f("_all", 400, "invalid_index_name_exception", "must not start with '_'") // only alone it means all
	f("<_foo>", 400, "invalid_index_name_exception", "must not start with '_'")
	f("", 404, "index_not_found_exception", "no such index []")
	f("a1,a2", 400, "invalid_index_name_exception", "must not contain ','") // an element of a JSON array
	f("ds1::failures", 400, "invalid_index_name_exception", "selector [failures]")
	f("<a-{now/q}>", 400, "parse_exception", "unit")
	f("<>", 400, "parse_exception", "nothing captured")
}

func TestZeroStateResolvesNothing(t *testing.T) {
	for _, s := range []*indexresolver.State{nil, {}} {
		for _, expr := range []string{"", "*", "a", "rem:a"} {
			r, err := s.Resolve(names.Split(expr), resolution.Search, now)
			var rejection *ask.Rejection
			if !errors.As(err, &rejection) || rejection.Status != 503 || rejection.Reason != ask.ReasonStateStale {
				t.Errorf("%q on no state means %s, %v; want 503", expr, show(r), err)
			}
		}
		if _, ok := s.Lookup("a"); ok {
			t.Error("no state knows a name")
		}
		if _, _, ok := s.Mapping("a"); ok {
			t.Error("no state knows a mapping")
		}
	}
}

// TestResolveRandomly compares with the naive evaluator over random worlds.
func TestResolveRandomly(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		c := randomContents(rnd)
		s := mustNew(t, c)
		for range 60 {
			compareWithNaive(t, s, c, randomExprs(rnd), randomOptions(rnd))
		}
		if t.Failed() {
			t.Fatalf("world: %+v %+v", c.Indices, c.DataStreams)
		}
	}
}

func compareWithNaive(t *testing.T, s *indexresolver.State, c indexresolver.Contents, exprs []string, o names.Options) {
	t.Helper()
	list := make([]names.Expr, len(exprs))
	for i, e := range exprs {
		list[i] = names.Expr(e)
	}
	n := naive{Contents: c, opts: o}
	got, want := resolution.Predict(s, list, o, now), n.answer(exprs)
	// Which of two faults is told first is the cluster's affair.
	if got.Status >= 400 && want.Status >= 400 {
		got = want
	}
	if got != want {
		t.Errorf("%q with %+v gives %v; naive %v", exprs, o, got, want)
	}
	r, err := s.Resolve(list, o, now)
	if err != nil || r.All || o.Expand&names.ExpandOpen == 0 || want.Status != 200 {
		return
	}
	bound := map[string][]string{}
	searched := strings.Split(want.Indices, ",")
	for index, b := range s.Bindings(r) {
		if len(b.Filters) > 0 && slices.Contains(searched, index) {
			for _, filter := range b.Filters {
				bound[index] = append(bound[index], string(filter))
			}
			slices.Sort(bound[index])
		}
	}
	filters := n.filters(exprs)
	for index := range filters {
		if !slices.Contains(searched, index) {
			delete(filters, index)
		}
	}
	if diff := cmp.Diff(filters, bound, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%q with %+v: filters differ (-naive +got):\n%s", exprs, o, diff)
	}
}

func randomContents(rnd *rand.Rand) indexresolver.Contents {
	c := indexresolver.Contents{FetchedAt: now}
	for _, name := range []string{"a", "ab", "abb", "b", "ba", ".a", ".ab", "ac"} {
		x := indexresolver.Index{Name: name, Closed: rnd.IntN(4) == 0, Hidden: rnd.IntN(4) == 0}
		for _, alias := range []string{"aa", "bb", ".b", "aac", "cc"} {
			if rnd.IntN(3) == 0 {
				m := indexresolver.Membership{Alias: alias, Hidden: alias == "cc"}
				if rnd.IntN(2) == 0 {
					m.Filter = []byte(`{"term":{"f":` + strconv.Itoa(rnd.IntN(3)) + `}}`)
				}
				x.Aliases = append(x.Aliases, m)
			}
		}
		if rnd.IntN(4) > 0 {
			c.Indices = append(c.Indices, x)
		}
	}
	for _, stream := range []string{"ads", "bds"} {
		d := indexresolver.DataStream{Name: stream, Hidden: rnd.IntN(4) == 0}
		for i := range rnd.IntN(3) {
			name := ".ds-" + stream + strconv.Itoa(i)
			c.Indices = append(c.Indices, indexresolver.Index{Name: name, Hidden: true})
			d.Indices = append(d.Indices, name)
		}
		if len(d.Indices) > 0 {
			c.DataStreams = append(c.DataStreams, d)
		}
	}
	return c
}

var pieces = []string{
	"a", "ab", "abb", "b", ".a", "aa", "bb", ".b", "aac", "cc", "ads", ".ds-ads0", "nosuch", "aa", "bb", "cc",
	"*", "*", "*", "a*", "*b", "b*", ".*", "*a*", ".ds*", "nosuch*", "c*", "aa*", "_all", "**", "ad*",
}

func randomExprs(rnd *rand.Rand) []string {
	var out []string
	for range rnd.IntN(5) {
		e := pieces[rnd.IntN(len(pieces))]
		if rnd.IntN(3) == 0 {
			e = "-" + e
		}
		out = append(out, e)
	}
	return out
}

func randomOptions(rnd *rand.Rand) names.Options {
	return names.Options{
		Expand:            names.Expand(rnd.IntN(8)),
		IgnoreUnavailable: rnd.IntN(2) == 0,
		AllowNoIndices:    rnd.IntN(3) > 0,
	}
}

func FuzzResolve(f *testing.F) {
	c := world()
	s, err := indexresolver.New(c, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("a*,-a1", uint8(1), true, false)
	f.Add("*,-zal*", uint8(7), false, false)
	f.Add("alf*,-alf,.d*", uint8(3), true, true)
	f.Fuzz(func(t *testing.T, text string, expand uint8, allowNone, ignore bool) {
		exprs := strings.Split(text, ",")
		if strings.ContainsAny(text, `:<?[\`) || slices.Contains(exprs, "-") {
			return // the naive evaluator has no date math and no remote names
		}
		compareWithNaive(t, s, c, exprs, names.Options{
			Expand: names.Expand(expand % 8), AllowNoIndices: allowNone, IgnoreUnavailable: ignore,
		})
	})
}
