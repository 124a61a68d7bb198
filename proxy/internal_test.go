package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"guard/gate"
)

func TestInternal(t *testing.T) {
	node := newFake(t)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, testConfig(node.url()))
	g.send(request("GET", "/", "", ""))
	g.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	g.send("get / HTTP/1.1\r\nHost: a\r\n\r\n")
	level := zap.NewAtomicLevel()
	var ready, reloadErr error
	var faulty []FaultyPart
	var reloaded Reloaded
	draining := false
	in := Internal{Ready: func() error { return ready }, Draining: func() bool { return draining }, Metrics: g.reg, Level: level, Log: zap.NewNop(),
		Faulty: func() []FaultyPart { return faulty }, Reload: func(context.Context) (Reloaded, error) { return reloaded, reloadErr }}
	srv, err := in.Server()
	if err != nil {
		t.Fatal(err)
	}
	h := srv.Handler
	f := func(method, path, body string, status int, parts ...string) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1:9290"+path, strings.NewReader(body)))
		got, _ := io.ReadAll(w.Body)
		if w.Code != status {
			t.Errorf("%s %s: got %d %s; want %d", method, path, w.Code, got, status)
		}
		for _, p := range parts {
			if !strings.Contains(string(got), p) {
				t.Errorf("%s %s: %q is not in\n%s", method, path, p, got)
			}
		}
	}
	f("GET", "/livez", "", 200, `{"status":"ok"}`)
	f("GET", "/readyz", "", 200, `{"status":"ok"}`)
	ready = errors.New(`no "state" yet`)
	f("GET", "/readyz", "", 503, `{"status":"unavailable","reason":"no \"state\" yet"}`)
	faulty = []FaultyPart{{Part: "policy", Faulty: true, Since: time.Unix(0, 0).UTC(), Reason: `a "fault"`}, {Part: "x", Faulty: true}}
	f("GET", "/readyz", "", 503, `{"status":"unavailable","reason":"no \"state\" yet","policy":{"faulty":true,`)
	ready = nil
	f("GET", "/readyz", "", 200, `{"status":"ok","policy":{"faulty":true,"since":"1970-01-01T00:00:00Z","reason":"a \"fault\""},"x":{"faulty":true,`)
	f("GET", "/livez", "", 200, `{"status":"ok"}`)
	draining, faulty = true, nil
	f("GET", "/readyz", "", 503, "draining")
	f("GET", "/livez", "", 200)
	f("GET", "/metrics", "", 200,
		`guard_requests_total{class="2xx",route="any"} 1`, `guard_requests_total{class="4xx",route="none"} 1`, `guard_requests_total{class="5xx",route="none"} 1`,
		`guard_denials_total{reason="unauthenticated"} 1`, `guard_denials_total{reason="bad_request"} 1`,
		"guard_requests_in_flight 0", "guard_panics_total 0", "guard_upstream_connections 1", "guard_held_bytes 0")
	f("PUT", "/log-level", `{"level":"debug"}`, 200)
	if level.Level() != zap.DebugLevel {
		t.Errorf("level %v", level)
	}
	f("PUT", "/log-level", `{"level":"loud"}`, 400)
	reloaded = Reloaded{Generation: 7, Changed: true, Warnings: []Finding{{Part: "policy", File: "roles.yml", Line: 3, Path: "a.b", Message: "odd", Want: "even"}}}
	f("POST", "/-/reload", "whatever", 200, `{"generation":7,"changed":true,"warnings":[{"part":"policy","file":"roles.yml","line":3,"path":"a.b","message":"odd","want":"even"}]}`)
	reloaded = Reloaded{Generation: 7, Warnings: []Finding{}, Faults: []Finding{{Part: "tls", Message: "no such file"}}}
	f("POST", "/-/reload", "", 400, `{"generation":7,"changed":false,"warnings":[],"faults":[{"part":"tls","message":"no such file"}]}`)
	f("GET", "/-/reload", "", http.StatusMethodNotAllowed)
	f("PUT", "/-/reload", "", http.StatusMethodNotAllowed)
	reloadErr = errors.New("guard is stopping")
	f("POST", "/-/reload", "", 503, `{"status":"unavailable","reason":"guard is stopping"}`)
	f("POST", "/livez", "", http.StatusMethodNotAllowed)
	f("GET", "/debug/pprof/", "", 404)
}
