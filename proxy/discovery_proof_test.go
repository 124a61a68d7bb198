package proxy

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"guard/config"
	"guard/gate"
)

// accounts returns how many requests and looks came to the node, and how many of them
// with guard's account.
func (f *esfake) accounts() (all, with int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.seen {
		all++
		with += len(r.header["Authorization"])
	}
	for _, h := range f.looks {
		all++
		with += len(h["Authorization"])
	}
	return all, with
}

// asksFor lets a node answer looks only to guard's account.
func asksFor(cluster string) func(net.Conn, *http.Request) {
	return func(c net.Conn, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			writeAnswer(c, 401, `{}`)
			return
		}
		ofCluster(cluster)(c, r)
	}
}

// discoverer is a transport with an account that has met its nodes, and its log.
func discoverer(t *testing.T, conf *config.Config) (*Transport, *observer.ObservedLogs) {
	t.Helper()
	conf.Upstream.Username, conf.Upstream.Password = "guard", config.NewSecret("topsecret")
	tr, err := NewTransport(conf.Upstream, conf.Timeouts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	core, logs := observer.New(zap.InfoLevel)
	tr.nodes.log.Store(zap.New(core))
	tr.Meet(t.Context())
	return tr, logs
}

// TestDiscoveryProof: what the cluster names is taken up if it proves to be of the cluster,
// and gets guard's account only then.
func TestDiscoveryProof(t *testing.T) {
	f := func(name string, seedSays, says func(net.Conn, *http.Request), why verdict) {
		t.Helper()
		seed, other := newFake(t), newFake(t)
		var nodes atomic.Value
		nodes.Store(publish(other.ln.Addr().String()))
		nodesSay(seed, &nodes)
		nodesSay(other, &nodes)
		seed.says(seedSays)
		other.says(says)
		tr, logs := discoverer(t, faultConfig(seed.url()))
		for range 3 {
			if err := tr.discover(context.Background()); (err == nil) != (why == verdictGood) {
				t.Errorf("%s: error %v", name, err)
			}
		}
		_, _, _ = tr.Fetch(context.Background(), "GET", "/x")
		all, with := other.accounts()
		if why == verdictGood {
			if n := len(other.requests()); n == 0 || with != n {
				t.Errorf("%s: it got %d requests, %d with the account; want each of them, and no look", name, n, with)
			}
			return
		}
		if with != 0 || why == verdictUnproven && all != 0 {
			t.Errorf("%s: who is no node got %d requests, %d with the account", name, all, with)
		}
		lines := logs.FilterMessage("node is not taken up").All()
		if len(lines) != 1 || lines[0].ContextMap()["verdict"] != string(why) {
			t.Errorf("%s: the log says %v; want once, with %s", name, lines, why)
		}
		if n := len(seed.requests()); n < 4 {
			t.Errorf("%s: the node of the configuration got %d requests", name, n)
		}
	}
	ours, stranger := ofCluster("A"), func(c net.Conn, _ *http.Request) { writeAnswer(c, 401, `{}`) }
	f("a node", ours, ours, verdictGood)
	f("a node of another cluster", ours, ofCluster("B"), verdictForeign)
	f("a node of none", ours, ofCluster("_na_"), verdictUnformed)
	f("another service", ours, stranger, verdictDenied)
	f("a page", ours, func(c net.Conn, _ *http.Request) { writeAnswer(c, 200, `<html>`) }, verdictGarbage)
	f("a node of a cluster that asks for the account", asksFor("A"), asksFor("A"), verdictUnproven)
	f("a stranger where the cluster asks for the account", asksFor("A"), ours, verdictUnproven)
}

// TestDiscoveryProofByTLS: where the cluster asks for guard's account, who has shown a
// certificate for what was published gets it; who has none gets nothing.
func TestDiscoveryProofByTLS(t *testing.T) {
	a := newAuthority(t)
	f := func(name string, host string, says func(net.Conn, *http.Request), why verdict) {
		t.Helper()
		seed, other := tlsNode(t, a, "127.0.0.1"), tlsNode(t, a, host)
		var nodes atomic.Value
		nodes.Store(publish(other.ln.Addr().String()))
		nodesSay(seed, &nodes)
		seed.says(asksFor("A"))
		other.says(says)
		conf := faultConfig("https://" + seed.ln.Addr().String())
		conf.Upstream.CAFile = a.file
		conf.Upstream.ClientCert, conf.Upstream.ClientKey = a.issue("guard", nil)
		tr, logs := discoverer(t, conf)
		if err := tr.discover(context.Background()); (err == nil) != (why == verdictGood) {
			t.Errorf("%s: error %v", name, err)
		}
		_, _, _ = tr.Fetch(context.Background(), "GET", "/x")
		if n := len(other.requests()); why == verdictGood && n != 1 || why != verdictGood && n != 0 {
			t.Errorf("%s: it got %d requests", name, n)
		}
		if all, _ := other.accounts(); why == verdictUnreachable && all != 0 {
			t.Errorf("%s: it got %d requests", name, all)
		}
		if lines := logs.FilterMessage("node is not taken up").All(); why != verdictGood && (len(lines) != 1 || lines[0].ContextMap()["verdict"] != string(why)) {
			t.Errorf("%s: the log says %v", name, lines)
		}
	}
	f("a node", "127.0.0.1", asksFor("A"), verdictGood)
	f("a node of another cluster", "127.0.0.1", asksFor("B"), verdictForeign)
	f("another service", "127.0.0.1", func(c net.Conn, _ *http.Request) { writeAnswer(c, 401, `{}`) }, verdictDenied)
	f("a stranger", "elsewhere.example", asksFor("A"), verdictUnreachable)
}

// TestFoundAddressChangesHands: the address of a node that was found is another service's
// later. That gets neither guard's account nor a call, and the configuration is used again.
func TestFoundAddressChangesHands(t *testing.T) {
	seed, other := newFake(t), newFake(t)
	var nodes atomic.Value
	nodes.Store(publish(other.ln.Addr().String()))
	nodesSay(seed, &nodes)
	nodesSay(other, &nodes)
	tr, _ := discoverer(t, faultConfig(seed.url()))
	if err := tr.discover(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := tr.Fetch(context.Background(), "GET", "/x"); err != nil || len(other.requests()) != 1 {
		t.Fatalf("the node that was found is not asked: %v", err)
	}
	_, before := other.accounts()
	other.says(func(c net.Conn, _ *http.Request) { writeAnswer(c, 401, `{}`) })
	other.closeConns()
	for range 5 {
		if _, _, err := tr.Fetch(context.Background(), "GET", "/x"); err == nil {
			t.Error("a stranger's answer is taken")
		}
		_ = callFor(t, tr, fakeCluster)
	}
	if _, with := other.accounts(); with != before {
		t.Errorf("the stranger got guard's account %d times", with-before)
	}
	if err := tr.discover(context.Background()); err == nil {
		t.Error("discovery works without a node")
	}
	if err := callFor(t, tr, fakeCluster); err != nil {
		t.Errorf("the configuration is not used again: %v", err)
	}
}

// TestGuardIsNoNode: a cluster that publishes guard's own address, as one does for clients
// that sniff, does not make guard its own node.
func TestGuardIsNoNode(t *testing.T) {
	seed := newFake(t)
	var nodes atomic.Value
	nodesSay(seed, &nodes)
	conf := testConfig(seed.url())
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	nodes.Store(publish(g.addr))
	tr := g.srv.cluster.(*Transport)
	tr.Meet(t.Context())
	if err := tr.discover(context.Background()); err == nil || !strings.Contains(err.Error(), "none of the 1 nodes") {
		t.Errorf("got %v", err)
	}
	if a := g.send(request("GET", lookTarget, "X-Guard-Look: 1\r\n", "")); a.status != 400 || !strings.Contains(a.body, "guard is no node") {
		t.Errorf("a look at guard got %+v", a)
	}
}
