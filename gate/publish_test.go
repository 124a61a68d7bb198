package gate

import (
	"testing"

	"guard/config"
	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
)

func TestPublishTreatment(t *testing.T) {
	f := func(body, shown, hidden string) {
		t.Helper()
		for address, want := range map[string]string{"guard.example:9200": shown, "": hidden} {
			a := Answer{Status: 200, ContentType: "application/json; charset=UTF-8", Body: []byte(body)}
			got, err := publishTreatment{address: address}.Treat(a)
			if err != nil || string(got.Body) != want || got.ContentType != a.ContentType || string(a.Body) != body {
				t.Errorf("%s\n as %q: got\n%s, %v; want\n%s", body, address, got.Body, err, want)
			}
		}
	}
	same := func(body string) {
		t.Helper()
		f(body, body, body)
	}
	f(`{"nodes":{"a":{"http":{"publish_address":"127.0.0.1:9200"}}}}`,
		`{"nodes":{"a":{"http":{"publish_address":"guard.example:9200"}}}}`,
		`{"nodes":{"a":{"http":{}}}}`)
	f(`{"_nodes":{"total":2},"nodes":{"a":{"transport":{"publish_address":"1:1"},"http":{"bound_address":["127.0.0.1:9200"],"publish_address":"es/127.0.0.1:9200","n":1e400}},"b":{"http":{"publish_address":"[::1]:9200","n":1.0}}}}`,
		`{"_nodes":{"total":2},"nodes":{"a":{"transport":{"publish_address":"1:1"},"http":{"bound_address":["127.0.0.1:9200"],"publish_address":"guard.example:9200","n":1e400}},"b":{"http":{"publish_address":"guard.example:9200","n":1.0}}}}`,
		`{"_nodes":{"total":2},"nodes":{"a":{"transport":{"publish_address":"1:1"},"http":{"bound_address":["127.0.0.1:9200"],"n":1e400}},"b":{"http":{"n":1.0}}}}`)
	f("{\n  \"nodes\" : {\n    \"a\" : {\n      \"http\" : {\n        \"b\" : [ ],\n        \"publish_address\" : \"x:1\"\n      }\n    }\n  }\n}\n",
		"{\n  \"nodes\" : {\n    \"a\" : {\n      \"http\" : {\n        \"b\" : [ ],\n        \"publish_address\" : \"guard.example:9200\"\n      }\n    }\n  }\n}\n",
		"{\n  \"nodes\" : {\n    \"a\" : {\n      \"http\" : {\n        \"b\" : [ ]\n      }\n    }\n  }\n}\n")
	f("{\"nodes\":{\"a\":{\"http\":{ \"publish_address\" : \"x:1\" , \"n\":1}}}}",
		"{\"nodes\":{\"a\":{\"http\":{ \"publish_address\" : \"guard.example:9200\" , \"n\":1}}}}",
		"{\"nodes\":{\"a\":{\"http\":{ \"n\":1}}}}")
	f(`{"nodes":{"a":{"http":{"publish\u005faddress":"\u0031"}}}}`, `{"nodes":{"a":{"http":{"publish\u005faddress":"guard.example:9200"}}}}`, `{"nodes":{"a":{"http":{}}}}`)

	same(`{}`)
	same(`{"nodes":{}}`)
	same(`{"nodes":[],"http":{"publish_address":"x"}}`)
	same(`{"nodes":{"a":{"settings":{"http":{"publish_address":"x"},"http.publish_host":"y"}}}}`)
	same(`{"nodes":{"a":{"http":{"publish_address":null}}}}`)
	same(`{"nodes":{"a":{"transport":{"publish_address":"x"}}}}`)
	same(`{"nodes":{"a":{"http":{"publish_address":"x"`) // not understood: it passes, for it hides nothing
	same(`{"nodes":{"a":1},"nodes":{"a":{"http":{"publish_address":"x"}}}}`)

	other := func(status int, contentType, body string) {
		t.Helper()
		a, err := publishTreatment{address: "x:1"}.Treat(Answer{Status: status, ContentType: contentType, Body: []byte(body)})
		if err != nil || string(a.Body) != body {
			t.Errorf("%d %s: got %s, %v", status, contentType, a.Body, err)
		}
	}
	const one = `{"nodes":{"a":{"http":{"publish_address":"127.0.0.1:9200"}}}}`
	other(400, "application/json", one)
	other(200, "application/yaml", one)
	other(200, "application/cbor", "\xbf\xff")
}

func TestAuthority(t *testing.T) {
	f := func(host string, secure bool, want string) {
		t.Helper()
		if got := authority(&ask.Request{Header: ask.Header{Host: host}, Secure: secure}); got != want {
			t.Errorf("%q: got %q; want %q", host, got, want)
		}
	}
	f("es:9200", false, "es:9200")
	f("es:9200", true, "es:9200")
	f("es", false, "es:80")
	f("es", true, "es:443")
	f("es:", true, "es:443")
	f("[::1]:9200", false, "[::1]:9200")
	f("[::1]", true, "[::1]:443")
	f("", false, "")
	f(":", false, "")
	f(":9200", false, "")
	f("::1", false, "")
	f("a:b:c", false, "")
}

// TestPublish treats the answers that name addresses and no other, for whom nothing binds.
func TestPublish(t *testing.T) {
	snap, sec := planned(t)
	admin := snap.Principal(identityOf("admin", sec.Users["admin"]))
	f := func(setting, target string, want Treatment) {
		t.Helper()
		s := *snap
		s.settings.PublishAddress = setting
		r := newRequest(t, "GET", target, "", nil)
		r.Header.Host = "guard:9200"
		out := s.Plan(admin, r, Known{})
		if out.Kind != Forward || out.Forward.Treat != want || out.Forward.Target != target || out.Forward.Source != ClientBody || out.Forward.AsAsked != (want != nil) {
			t.Errorf("%q %s: got %+v; want treatment %v", setting, target, out.Forward, want)
		}
		if want != nil && out.Route != endpoint.NodesInfo {
			t.Errorf("%s is route %q", target, out.Route)
		}
	}
	own := publishTreatment{address: "guard:9200"}
	for _, target := range []string{
		"/_nodes", "/_nodes/", "/_nodes/http", "/_nodes/_all", "/_nodes/a,b/http", "/_nodes/_local/info/http,os", "/_nodes/a/info",
		"/_nodes/http?filter_path=nodes.*.http&pretty", "/_nodes?format=yaml",
	} {
		f(config.PublishHost, target, own)
		f("es.example:443", target, publishTreatment{address: "es.example:443"})
		f(config.PublishHide, target, publishTreatment{})
		f(config.PublishKeep, target, nil)
	}
	for _, target := range []string{"/_nodes/stats", "/_nodes/stats/http", "/_nodes/a/stats/http", "/_nodes/usage", "/_nodes/hot_threads", "/_cat/nodes", "/_cluster/state", "/nodes/_search"} {
		f(config.PublishHost, target, nil)
	}
}

// FuzzPublishTreatment holds that a text without the member stays what it is, and that of
// any other what was before and behind the member does.
func FuzzPublishTreatment(f *testing.F) {
	f.Add(`"n":1,`, `,"m":{"publish_address":"x"}`, "127.0.0.1:9200")
	f.Add("\n \"a\" : [ ],\n", "\n", `a/b"\`)
	f.Fuzz(func(t *testing.T, before, behind, address string) {
		const head, tail = `{"nodes":{"a":{"http":{`, `}},"b":{}}}`
		body := head + before + `"publish_address":"1:1"` + behind + tail
		a := Answer{Status: 200, ContentType: "application/json", Body: []byte(body)}
		if at := published(t, a); at != len(head+before+`"publish_address":`) {
			return // something else stands there
		}
		shown, err := publishTreatment{address: "g:1"}.Treat(a)
		if err != nil || string(shown.Body) != head+before+`"publish_address":"g:1"`+behind+tail {
			t.Fatalf("%s became %s, %v", body, shown.Body, err)
		}
		odd, _ := publishTreatment{address: address + "x"}.Treat(a)
		if at := published(t, odd); at != len(head+before+`"publish_address":`) {
			t.Fatalf("%s with %q became %s", body, address, odd.Body)
		}
		hidden, _ := publishTreatment{}.Treat(a)
		if at := published(t, hidden); at != 0 || len(hidden.Body) >= len(body) {
			t.Fatalf("%s became %s", body, hidden.Body)
		}
	})
}

// published returns where the address of node a stands; 0: nowhere, -1: a is no JSON.
func published(t *testing.T, a Answer) int {
	t.Helper()
	v, err := parseAnswer(new(esjson.Tape), a)
	if err != nil {
		return -1
	}
	nodes, _ := v.Lookup("nodes")
	node, _ := nodes.Lookup("a")
	http, _ := node.Lookup("http")
	address, _ := http.Lookup("publish_address")
	return address.Offset()
}
