package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"

	"guard/gate"
)

// TestNodesThatForbidTheirState: a node that lets nobody read its state is one that can
// serve if its root names the cluster, and none if that is of another cluster or forbidden.
func TestNodesThatForbidTheirState(t *testing.T) {
	f := func(status int, root string, rootStatus int, want verdict) {
		t.Helper()
		node := newFake(t)
		node.takes(func(c net.Conn, br *bufio.Reader) {
			for {
				r, err := http.ReadRequest(br)
				if err != nil {
					return
				}
				answer := plainAnswer(status, `{"Message":"not allowed"}`)
				if r.URL.Path == "/" {
					answer = plainAnswer(rootStatus, root)
				}
				_, _ = io.WriteString(c, answer) // guard may have left
			}
		})
		g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(node.url()))
		g.srv.cluster.(*Transport).Meet(t.Context())
		if n := g.metric("guard_upstream_looks_total", string(want)); n == 0 {
			t.Errorf("state %d, root %d %s: no look has found it %s", status, rootStatus, root, want)
		}
		up := 0.0
		if want == verdictGood {
			up = 1
		}
		if n := nodesIn(t, g, stateUp); n != up {
			t.Errorf("state %d, root %d %s: %v nodes are up; want %v", status, rootStatus, root, n, up)
		}
	}
	ours, none := `{"name":"n","cluster_uuid":"`+fakeCluster+`","version":{"number":"2.19.4"}}`, `{"name":"n"}`
	for _, status := range []int{400, 403, 404, 405} {
		f(status, ours, 200, verdictGood)
	}
	f(401, ours, 200, verdictDenied) // then calls are refused as well
	f(403, none, 200, verdictDenied)
	f(403, ours, 403, verdictDenied)
	f(403, ours, 503, verdictDenied)
	f(403, `{"cluster_uuid":"_na_"}`, 200, verdictDenied)
}
