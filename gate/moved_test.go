package gate

import (
	"fmt"
	"testing"

	"guard/indexresolver"
)

// TestNamesThatMove holds how a name is kept from showing what it comes to mean until guard
// knows: whatever an alias leads to is granted by its name, so it goes on as it is; hits are
// looked at wherever a name alone does not grant them alike.
func TestNamesThatMove(t *testing.T) {
	indices := []indexresolver.Index{
		{Name: "mem-1", Mapping: []byte(`{}`), Aliases: []indexresolver.Membership{{Alias: "al"}}},
		{Name: "mem-2", Mapping: []byte(`{}`), Aliases: []indexresolver.Membership{{Alias: "al"}}},
		{Name: "pub-1", Mapping: []byte(`{}`), Aliases: []indexresolver.Membership{{Alias: "pub-al"}}},
	}
	const (
		everything = `["*"]`
		ruledToo   = ", {index_patterns: [\"vault-*\"], allowed_actions: [\"*\"], dls: '{\"match_none\":{}}'}"
	)
	hit := func(index string) Answer {
		return Answer{Status: 200, ContentType: "application/json", Body: fmt.Appendf(nil,
			`{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"total":{"value":1,"relation":"eq"},"max_score":1.0,"hits":[{"_index":%q,"_id":"1","_score":1.0,"_source":{}}]}}`, index)}
	}
	f := func(patterns, more, target, want, own string, looks bool) {
		t.Helper()
		s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions: [{index_patterns: "+patterns+", allowed_actions: "+everything+"}"+more+"]\n", indices)
		out := planFor(t, s, "GET", target, "")
		if got := gist(t, out); got != want {
			t.Errorf("%s of %s: %s; want %s", target, patterns, got, want)
		}
		if treat := out.Forward.Treat; (treat != nil) != looks {
			t.Errorf("%s of %s: hits are looked at: %v; want %v", target, patterns, treat != nil, looks)
		} else if looks {
			if a, err := treat.Treat(hit(own)); err != nil || string(a.Body) != string(hit(own).Body) {
				t.Errorf("%s of %s: a hit of %s: %s, %v; want it as it is", target, patterns, own, a.Body, err)
			}
			if _, err := treat.Treat(hit("vault-1")); !Moved(err) {
				t.Errorf("%s of %s: a hit of another index: %v; want it withheld", target, patterns, err)
			}
		}
	}
	f(`["pub-*"]`, "", "/pub-1/_search", "GET /pub-1/_search", "", false)
	f(`["pub-*"]`, "", "/pub-al/_search", "GET /pub-1/_search", "", false)
	f(`["al"]`, "", "/al/_search", "GET /al/_search", "", false)
	f(`["al"]`, "", "/mem-1/_search", "GET /mem-1/_search", "mem-1", true)
	f(`["mem-*"]`, "", "/al/_search", "GET /mem-1,mem-2/_search", "", false)
	f(`["pub-*"]`, ruledToo, "/pub-1/_search", "GET /pub-1/_search", "pub-1", true)
	f(`["al"]`, ruledToo, "/al/_search", "GET /mem-1,mem-2/_search", "mem-2", true)
}
