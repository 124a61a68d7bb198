package proxy

import (
	"net"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPass sends requests of an unrestricted principal through and compares what the
// node got and what the client got.
func TestPass(t *testing.T) {
	node := newFake(t)
	node.answers(func(c net.Conn, r *http.Request, body []byte) {
		writeAnswer(c, 201, `{"ok":true}`, "Warning: 299 ES \"a, b\"", "Warning: 299 ES \"c\"", "X-Opaque-Id: 7", "Location: /i/_doc/1",
			"Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5")
	})
	g := startGuard(t, &fakeGate{intake: 3}, testConfig(node.url()))
	a := g.send(request("POST", "/i%2Fx/_doc?a=%2B&a=+&;x", "content-type: application/json\r\nX-Opaque-Id: 7\r\nX-Proxy-User: root\r\nConnection: If-Match\r\nIf-Match: x\r\n", `{"a":1}`))
	if a.status != 201 || a.body != `{"ok":true}` || a.cut {
		t.Fatalf("got %+v", a)
	}
	want := http.Header{
		"Warning": {`299 ES "a, b"`, `299 ES "c"`}, "X-Opaque-Id": {"7"}, "Location": {"/i/_doc/1"},
		"Content-Type": {"application/json; charset=UTF-8"}, "Content-Length": {"11"},
	}
	if d := cmp.Diff(want, a.header); d != "" {
		t.Errorf("headers (-want +got):\n%s", d)
	}
	seen := node.requests()
	wantSeen := []seenRequest{{"POST", "/i%2Fx/_doc?a=%2B&a=+&;x", http.Header{
		"Content-Type": {"application/json"}, "X-Opaque-Id": {"7"}, "Content-Length": {"7"}, "X-Forwarded-For": {"127.0.0.1"},
	}, `{"a":1}`}}
	if d := cmp.Diff(wantSeen, seen, cmp.AllowUnexported(seenRequest{})); d != "" {
		t.Errorf("at the node (-want +got):\n%s", d)
	}
}
