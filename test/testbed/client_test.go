package testbed

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// echo answers with what arrived.
func echo(t *testing.T) Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		user, password, _ := r.BasicAuth()
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(http.StatusFound)
		fmt.Fprintf(w, "%s %s %s:%s %q %s", r.Method, r.RequestURI, user, password, r.Header.Get("Content-Type"), body)
	}))
	t.Cleanup(server.Close)
	return Client{URL: server.URL}
}

func TestClientSendsAsWritten(t *testing.T) {
	c := echo(t)
	f := func(c Client, method, path, body, want string) {
		t.Helper()
		res, err := c.Do(method, path, body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(res.Body)); diff != "" || res.Status != http.StatusFound {
			t.Errorf("status %d (-want +got):\n%s", res.Status, diff)
		}
	}
	f(c, "GET", "/a%2Fb/_search?q=x", "", `GET /a%2Fb/_search?q=x : "" `)
	f(c.As("u", "p"), "POST", "/_count", "{}", `POST /_count u:p "application/json" {}`)
	f(c.As("u", "p").As("", ""), "GET", "/", "", `GET / : "" `)
	f(c, "POST", "/i/_bulk?refresh=true", "{}\n", `POST /i/_bulk?refresh=true : "application/x-ndjson" {}`+"\n")
	f(c, "POST", "/_msearch/template", "{}\n", `POST /_msearch/template : "application/x-ndjson" {}`+"\n")
	f(c, "POST", "/my_bulk", "{}", `POST /my_bulk : "application/json" {}`)
}

func TestClientReportsFailure(t *testing.T) {
	f := func(c Client, method, want string) {
		t.Helper()
		if _, err := c.Do(method, "/", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("do: %v; want %q in it", err, want)
		}
	}
	f(Client{URL: "http://127.0.0.1:1"}, "GET", "cannot send request")
	f(Client{URL: "http://127.0.0.1:1"}, "G T", `cannot make request G T "/"`)
}
