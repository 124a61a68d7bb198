package indexresolver_test

import (
	"testing"
	"time"

	"guard/indexresolver"
)

var now = time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC)

// world is the cluster on which testdata/search.tsv was measured.
func world() indexresolver.Contents {
	in := func(aliases ...string) []indexresolver.Membership {
		var out []indexresolver.Membership
		for _, a := range aliases {
			out = append(out, indexresolver.Membership{Alias: a})
		}
		return out
	}
	a1 := in("al", "almix")
	a1 = append(a1,
		indexresolver.Membership{Alias: "alhid", Hidden: true},
		indexresolver.Membership{Alias: "alf", Filter: []byte(`{"term":{"k":"none"}}`), SearchRouting: "1", IndexRouting: "1"},
		indexresolver.Membership{Alias: "alw"})
	b1 := append(in(".aldot", "zal"), indexresolver.Membership{Alias: ".aldothid", Hidden: true})
	return indexresolver.Contents{
		ClusterUUID: "c", StateUUID: "s", Version: 1, FetchedAt: now,
		Indices: []indexresolver.Index{
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
		DataStreams: []indexresolver.DataStream{
			{Name: "ds1", Indices: []string{".ds-ds1-000001", ".ds-ds1-000002"}},
			{Name: "ds2", Indices: []string{".ds-ds2-000001"}},
			{Name: "hds", Indices: []string{".ds-hds-000001"}},
		},
	}
}

func mustNew(t testing.TB, c indexresolver.Contents) *indexresolver.State {
	t.Helper()
	s, err := indexresolver.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
