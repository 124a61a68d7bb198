package proxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestSettle: which cluster guard is for, by what its nodes have named.
func TestSettle(t *testing.T) {
	p := newPaperNodes(nodeLimits{}, "a", "b", "c")
	p.home.met = true
	f := func(named, want string) { // the clusters of a, b and c; "-" has named none
		t.Helper()
		for i, cluster := range strings.Fields(named) {
			p.list[i].cluster = strings.TrimPrefix(cluster, "-")
		}
		p.settle(nil)
		if got := p.home.uuid; got != want {
			t.Errorf("after %q guard is for %q; want %q", named, got, want)
		}
	}
	f("- - -", "")
	f("- B A", "B") // of equals the first
	p.home.uuid = ""
	f("B A A", "A") // the most
	f("B B A", "A") // it stays as long as one is left
	f("B B -", "A") // nobody says yet that it is over
	f("B B B", "B") // all say so
	f("- A B", "B")
	p.home.seen = time.Now().Add(-2 * loyalty)
	f("- A B", "A") // none of B was seen for long
	f("- - -", "A") // to know no node is not to know another cluster
	p.home.uuid, p.home.met = "", false
	f("A A A", "") // only when all had the time to be met
}

// stateOf asks a transport which cluster it reaches, as guard's own question.
func stateOf(t *testing.T, tr *Transport) string {
	t.Helper()
	_, body, err := tr.Fetch(context.Background(), "GET", "/which")
	if err != nil {
		return "error"
	}
	return strings.Trim(string(body), `{"}:1`)
}

// isOf makes a node one of a cluster, which it names in each answer.
func (f *esfake) isOf(cluster string) {
	f.says(ofCluster(cluster))
	f.answers(func(c net.Conn, _ *http.Request, _ []byte) { writeAnswer(c, 200, `{"`+cluster+`":1}`) })
	f.closeConns() // a node that is another one is another process
}

// callFor makes a call that was decided by the state of a cluster.
func callFor(t *testing.T, tr *Transport, cluster string) error {
	t.Helper()
	a, err := tr.Do(context.Background(), &call{method: "POST", target: "/write", cluster: cluster})
	if err == nil {
		a.body.Close()
	}
	return err
}

// TestTwoClusters: of nodes of two clusters, those of the fewer get nothing, whatever
// happens to the others.
func TestTwoClusters(t *testing.T) {
	one, two, stray := newFake(t), newFake(t), newFake(t)
	one.isOf("A")
	two.isOf("A")
	stray.isOf("B")
	tr := newTestTransport(t, stray.url(), one.url(), two.url())
	tr.Meet(t.Context())
	for range 9 {
		if got := stateOf(t, tr); got != "A" {
			t.Errorf("guard asks %s", got)
		}
		if err := callFor(t, tr, "A"); err != nil {
			t.Error(err)
		}
	}
	for _, node := range []*esfake{one, two} {
		_ = node.ln.Close()
		node.closeConns()
	}
	var wire *wireError
	for range 9 {
		if err := callFor(t, tr, "A"); !errors.As(err, &wire) || wire.kind != faultConnect {
			t.Errorf("got %v; want that nothing can be reached", err)
		}
		stateOf(t, tr)
	}
	if n := len(stray.requests()); n != 0 {
		t.Errorf("the node of the other cluster got %d requests", n)
	}
}

// TestReplaced: a cluster that was put in the place of another one is served as soon as all
// nodes are of it; what was decided by the state of the one is not sent to the other.
func TestReplaced(t *testing.T) {
	one, two := newFake(t), newFake(t)
	one.isOf("A")
	two.isOf("A")
	tr := newTestTransport(t, one.url(), two.url())
	tr.Meet(t.Context())
	if err := callFor(t, tr, "A"); err != nil {
		t.Error(err)
	}
	one.isOf("B")
	for range 5 {
		if err := callFor(t, tr, "A"); err != nil {
			t.Errorf("one node is left: %v", err)
		}
	}
	writes := func(f *esfake) (n int) {
		for _, r := range f.requests() {
			if r.target == "/write" {
				n++
			}
		}
		return n
	}
	before := writes(one) + writes(two)
	two.isOf("B")
	eventually(t, "guard asks the new cluster", func() bool {
		if err := callFor(t, tr, "A"); err == nil {
			t.Error("a call for the old cluster was sent")
		}
		return stateOf(t, tr) == "B"
	})
	if n := writes(one) + writes(two); n != before {
		t.Errorf("%d calls for the old cluster came to the new one", n-before)
	}
	eventually(t, "calls for the new cluster are sent", func() bool { return callFor(t, tr, "B") == nil })
}

// TestForms: a cluster that has not formed when guard starts is served when it has.
func TestForms(t *testing.T) {
	node := newFake(t)
	node.isOf("_na_")
	tr := newTestTransport(t, node.url())
	tr.Meet(t.Context())
	if got := tr.nodes.ours(); got != "" {
		t.Errorf("guard is for %q", got)
	}
	node.isOf("A")
	eventually(t, "guard is for the cluster", func() bool { return tr.nodes.ours() == "A" })
	if err := callFor(t, tr, "A"); err != nil {
		t.Error(err)
	}
}

// TestMeetsTheMost: Meet waits for no node that can't be met once most have been.
func TestMeetsTheMost(t *testing.T) {
	one, two, hangs := newFake(t), newFake(t), newFake(t)
	stop := make(chan struct{})
	defer close(stop)
	hangs.says(func(net.Conn, *http.Request) { <-stop })
	conf := testConfig(hangs.url(), one.url(), two.url()) // its timeouts are longer than a test
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	tr.Meet(t.Context())
	if got := tr.nodes.ours(); got != fakeCluster {
		t.Errorf("guard is for %q", got)
	}
	if h := tr.nodes.list[0]; !h.looked.IsZero() {
		t.Error("the node that hangs was waited for")
	}
}
