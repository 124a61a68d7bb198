package indexresolver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/names"
)

func TestListed(t *testing.T) {
	s, err := New(Contents{ClusterUUID: "c", StateUUID: "s", Version: 1, Indices: []Index{
		{Name: "a", Aliases: []Membership{{Alias: "al"}, {Alias: "hid-al", Hidden: true}}},
		{Name: "closed", Closed: true}, {Name: "hid", Hidden: true}, {Name: ".ds-1", Hidden: true},
	}, DataStreams: []DataStream{{Name: "stream", Indices: []string{".ds-1"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := func(states names.Expand, want ...string) {
		t.Helper()
		var got []string
		for _, target := range s.Listed(states) {
			got = append(got, target.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("states %b (-want +got):\n%s", states, diff)
		}
	}
	f(names.ExpandOpen, "a", "al", "stream")
	f(names.ExpandOpen|names.ExpandClosed, "a", "al", "closed", "stream")
	f(names.ExpandAll, ".ds-1", "a", "al", "closed", "hid", "hid-al", "stream")
	if got := (*State)(nil).Listed(names.ExpandAll); got != nil {
		t.Errorf("no state lists %v; want nothing", got)
	}
}
