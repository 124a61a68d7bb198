package gate

import (
	"testing"
)

// TestUnrestrictedRepeats: what the catalogue says of a row decides whether a call may be
// sent once more, and never the method alone: a GET can move a scroll on, or write.
func TestUnrestrictedRepeats(t *testing.T) {
	snap, sec := planned(t)
	admin := snap.Principal(identityOf("admin", sec.Users["admin"]))
	if !admin.Unrestricted {
		t.Fatal("admin is bound")
	}
	f := func(method, target string, want bool) {
		t.Helper()
		out := snap.Plan(admin, newRequest(t, method, target, "", nil), Known{})
		if out.Kind != Forward || out.Forward.Repeatable != want {
			t.Errorf("%s %s: kind %v, repeatable %v; want it forwarded, and %v", method, target, out.Kind, out.Forward.Repeatable, want)
		}
	}
	for _, target := range []string{"/_search", "/hr/_search", "/hr/_doc/1", "/_cluster/health", "/_cluster/state", "/_cat/shards", "/_nodes", "/hr/_settings", "/hr/_stats", "/_tasks"} {
		f("GET", target, true)
	}
	f("HEAD", "/hr", true)
	f("POST", "/hr/_search", true)
	for _, target := range []string{
		"/_search/scroll", "/_search/scroll?scroll_id=x", "/_search/scroll/x", "/hr/_flush", "/_flush",
		"/_plugins/_sql?sql=DELETE%20FROM%20hr", "/_scripts/painless/_execute", "/hr/_termvectors", "/_unheard/of", "/_render/template",
	} {
		f("GET", target, false)
	}
	f("HEAD", "/_unheard/of", false)
	f("PUT", "/hr/_doc/1", false)
	f("POST", "/_reindex", false)
	f("DELETE", "/hr", false)
}
