package indexresolver

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/internal/ask"
	"guard/internal/names"
)

var now = time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC)

// world is the cluster on which testdata/search.tsv was measured.
func world() Contents {
	in := func(aliases ...string) []Membership {
		var out []Membership
		for _, a := range aliases {
			out = append(out, Membership{Alias: a})
		}
		return out
	}
	a1 := in("al", "almix")
	a1 = append(a1,
		Membership{Alias: "alhid", Hidden: true},
		Membership{Alias: "alf", Filter: []byte(`{"term":{"k":"none"}}`), SearchRouting: "1", IndexRouting: "1"},
		Membership{Alias: "alw", Write: true})
	b1 := append(in(".aldot", "zal"), Membership{Alias: ".aldothid", Hidden: true})
	return Contents{
		ClusterUUID: "c", StateUUID: "s", Version: 1, FetchedAt: now,
		Indices: []Index{
			{Name: "a1", Aliases: a1},
			{Name: "a2", Aliases: in("al", "alw")},
			{Name: "a3", Closed: true, Aliases: in("alclosed", "almix")},
			{Name: "b1", Aliases: b1},
			{Name: "hid", Hidden: true, Aliases: in("althid")},
			{Name: ".dot"},
			{Name: ".dothid", Hidden: true},
			{Name: "x+y"}, {Name: "c-1"}, {Name: "sys"},
			{Name: ".ds-ds1-000001", Hidden: true}, {Name: ".ds-ds1-000002", Hidden: true},
			{Name: ".ds-ds2-000001", Hidden: true}, {Name: ".ds-hds-000001", Hidden: true},
		},
		DataStreams: []DataStream{
			{Name: "ds1", Indices: []string{".ds-ds1-000001", ".ds-ds1-000002"}},
			{Name: "ds2", Indices: []string{".ds-ds2-000001"}},
			{Name: "hds", Indices: []string{".ds-hds-000001"}},
		},
	}
}

func mustNew(t testing.TB, c Contents) *State {
	t.Helper()
	s, err := New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// search are the options of a search without parameters.
var search = names.Options{Expand: names.ExpandOpen, AllowNoIndices: true}

// options reads the URL parameters of a recorded case over the defaults of a search.
func options(t testing.TB, query string) names.Options {
	t.Helper()
	o := search
	for part := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "":
		case "expand_wildcards":
			e, err := names.ParseExpand(value)
			if err != nil {
				t.Fatal(err)
			}
			o.Expand = e
		case "ignore_unavailable":
			o.IgnoreUnavailable = value == "true"
		case "allow_no_indices":
			o.AllowNoIndices = value == "true"
		default:
			t.Fatalf("unknown parameter %q", key)
		}
	}
	return o
}

// answer is what a search would do: the status, and the indices that it searches.
type answer struct {
	Status  int
	Indices string
}

// predict says from a resolution what the cluster answers to the search itself. It
// holds that a resolution loses nothing of what the cluster's answer depends on.
func predict(s *State, exprs []names.Expr, o names.Options) answer {
	r, err := s.Resolve(exprs, o, now)
	if err != nil {
		return answer{Status: err.(*ask.Rejection).Status} //nolint:errorlint // Resolve promises it
	}
	missing := len(r.Unknown) > 0
	lost := len(r.NoMatch) > 0
	for _, x := range r.Excluded {
		_, known := s.Lookup(x)
		missing = missing || !known && !names.Expr(x).IsWildcard()
		lost = lost || names.Expr(x).IsWildcard() && !anyMatch(s, x)
	}
	fatal := !o.IgnoreUnavailable
	if o.Expand.Nothing() { // no wildcard is read: one name may be missing, of several none
		missing, lost = missing || lost, false
		if len(exprs) == 1 {
			fatal = !o.AllowNoIndices
		}
	}
	if missing && fatal || lost && !o.AllowNoIndices {
		return answer{Status: http.StatusNotFound}
	}
	return searched(s, Indices(r), o)
}

func anyMatch(s *State, wildcard string) bool {
	p, ok := names.Expr(wildcard).Pattern()
	for t := range s.Targets() {
		if ok && p.Match(t.Name) {
			return true
		}
	}
	return false
}

// searched applies what a search does to closed indices and to the empty list.
func searched(s *State, indices []string, o names.Options) answer {
	var open []string
	for _, name := range indices {
		if x, _ := s.Index(name); !x.Closed {
			open = append(open, name)
		} else if !o.IgnoreUnavailable {
			return answer{Status: http.StatusBadRequest}
		}
	}
	if len(open) == 0 && !o.AllowNoIndices {
		return answer{Status: http.StatusNotFound}
	}
	slices.Sort(open)
	return answer{Status: http.StatusOK, Indices: strings.Join(open, ",")}
}
