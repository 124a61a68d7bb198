package integration_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/integration"
	"guard/test/testbed"
)

// TestInName compares requests in another's name with the plugin: who may, what he sees then,
// and the refusals to the byte.
func TestInName(t *testing.T) {
	const may = "plugins.security.authcz.rest_impersonation_user.worker"
	secured := start(t, testbed.Options{
		Kind: testbed.Secured, SecurityConfig: guardproc.WriteSecurity(t, policy(t, integration.Strict)),
		Settings: map[string]string{may: "limited,dl*,nosuch"},
	})
	node := start(t, testbed.Options{Kind: testbed.OpenSearch})
	guard := guardproc.Start(t, guardproc.Options{
		Security: guardproc.WriteSecurity(t, policy(t, integration.Strict)), Upstream: node.URL,
		Config: "policy: {impersonation: {worker: [limited, 'dl*', nosuch]}}\n",
	})
	f := func(as, inName, path string, status int) {
		t.Helper()
		var got [2]string
		for i, at := range []testbed.Client{secured.Client, guard.Client} {
			code, body := askInName(t, at.As(as, password), inName, path)
			if code != status {
				t.Errorf("%s as %q of %s: status %d: %s; want %d (0 is the plugin: %d)", as, inName, path, code, body, status, i)
			}
			got[i] = shownBy(path, body)
		}
		if got[0] != got[1] {
			t.Errorf("%s as %q of %s:\nplugin %s\nguard  %s", as, inName, path, got[0], got[1])
		}
	}
	const search = "/orders-eu/_search?size=10"
	f("worker", "", search, 403)
	f("worker", "limited", search, 200)
	f("worker", "dls", search, 200)
	f("worker", "limited", "/work-1/_search", 403) // his own rights don't count
	f("worker", "fls", search, 403)
	f("worker", "nosuch", search, 403)
	f("worker", "*", search, 403)
	f("limited", "worker", search, 403)
	f("limited", "limited", search, 403)
}

// askInName sends a request in somebody's name, in nobody's if it is empty.
func askInName(t *testing.T, c testbed.Client, inName, path string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, c.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(c.User, c.Password)
	if inName != "" {
		r.Header.Set("opendistro_security_impersonate_as", inName)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// shownBy is what both have to say alike: the documents, or the error up to the names that
// guard adds.
func shownBy(path, body string) string {
	var search struct {
		Hits struct {
			Hits []struct {
				ID     string          `json:"_id"`
				Source json.RawMessage `json:"_source"`
			}
		}
		Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(body), &search); err != nil {
		return body
	}
	if search.Error == nil {
		list, err := json.Marshal(search.Hits.Hits)
		if err != nil {
			return err.Error()
		}
		return string(list)
	}
	index, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return strings.ReplaceAll(string(search.Error), " on ["+index+"]", "")
}
