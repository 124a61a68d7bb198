package main

import (
	"net/http"
	"testing"

	"guard/test/guardproc"
)

// TestRolesByAddress: a role that is given by hosts is that of the client behind the
// trusted proxies, and of nobody who only says that he is there.
func TestRolesByAddress(t *testing.T) {
	files := reader(t, "reader", "people")
	files["roles_mapping.yml"] = guardproc.Section(t, "rolesmapping", map[string]any{"reader": map[string]any{"hosts": []string{"10.1.*"}}})
	f := func(config, forwarded string, want int) {
		t.Helper()
		p := start(t, newStubCluster(t), launch{security: guardproc.WriteSecurity(t, files), config: config})
		r, err := http.NewRequest("GET", p.url+"/people/_search", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("anna", "pw")
		r.Header.Set("X-Forwarded-For", forwarded)
		res, err := p.client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%q with %q: got %d; want %d", forwarded, config, res.StatusCode, want)
		}
	}
	const trusting = "trusted_proxies: [127.0.0.1]\n"
	f(trusting, "10.1.2.3", 200)
	f(trusting, "10.1.2.3, 10.2.0.1", 403) // the client's own word
	f("", "10.1.2.3", 403)
}
