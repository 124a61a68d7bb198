package gate

import (
	"strings"
	"testing"
)

// TestEveryShard holds that no search over shards with hidden documents lets the cluster
// ask for their smallest and largest values: by these it leaves shards out, and hits with
// equal values stand in their order.
func TestEveryShard(t *testing.T) {
	const ordered = "pre_filter_shard_size=1000000"
	f := func(roles, method, target, body string, want bool) {
		t.Helper()
		indices, stream := withStream()
		s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions:\n"+roles, indices, stream)
		out := planFor(t, s, method, target, body)
		if out.Kind != Forward || strings.Contains(out.Forward.Call.Target, ordered) != want {
			t.Errorf("%s %s %s: %s; want %s %v", method, target, body, gist(t, out), ordered, want)
		}
	}
	const (
		free  = `    - {index_patterns: ["logs-*"], allowed_actions: ["*"]}` + "\n"
		bound = `    - {index_patterns: ["logs-a-1"], dls: '{"term":{"level":"info"}}', allowed_actions: ["*"]}` + "\n"
		other = `    - {index_patterns: ["hr"], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}` + "\n"
		sort  = `{"sort":["@timestamp"]}`
	)
	f(bound, "POST", "/logs-a-1/_search", sort, true)
	f(bound, "GET", "/logs-a-1/_search?sort=level", "", true)
	f(bound+free, "POST", "/logs-b-1,logs-a-1/_search", sort, true) // the others tell by what they are compared with
	f(bound, "POST", "/_msearch", "{\"index\":\"logs-a-1\"}\n{}\n{\"index\":\"logs-a-1\"}\n"+sort+"\n", true)
	f(free+other, "POST", "/logs-*/_search", sort, false)                                                                    // by concrete names, of which none hides a document
	f(bound, "POST", "/logs-a-1/_search", `{"collapse":{"field":"level","inner_hits":{"name":"i","sort":["level"]}}}`, true) // those hits are searched for anew
	f(bound, "POST", "/logs-a-1/_search", `{"size":1}`, true)                                                                // a shard would be left out by its smallest and largest date
	f(bound, "POST", "/logs-a-1/_count", "", false)
	f(free, "POST", "/logs-a-1/_search", sort, false)
}
