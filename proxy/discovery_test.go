package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestParsePublished(t *testing.T) {
	f := func(text, name, server, dial string) {
		t.Helper()
		got, err := parsePublished(text, true)
		if want := (address{true, name, server, dial}); err != nil || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, err, want)
		}
	}
	f("10.0.0.7:9200", "10.0.0.7:9200", "10.0.0.7", "10.0.0.7:9200")
	f("es-7.example/10.0.0.7:9200", "es-7.example:9200", "es-7.example", "10.0.0.7:9200")
	f("[2001:db8::7]:9200", "[2001:db8::7]:9200", "2001:db8::7", "[2001:db8::7]:9200")
	f("es_7/[2001:db8::7]:9200", "es_7:9200", "es_7", "[2001:db8::7]:9200")
	f("[::ffff:10.0.0.7]:9200", "10.0.0.7:9200", "10.0.0.7", "10.0.0.7:9200")
	f("10.0.0.7/10.0.0.7:9200", "10.0.0.7:9200", "10.0.0.7", "10.0.0.7:9200")

	fail := func(text string) {
		t.Helper()
		if got, err := parsePublished(text, false); err == nil || !strings.Contains(err.Error(), "want ip:port or name/ip:port") {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	fail("")
	fail("es-7.example:9200") // a name that would have to be looked up
	fail("10.0.0.7")
	fail("10.0.0.7:0")
	fail("10.0.0.7:99999")
	fail("0.0.0.0:9200")
	fail("[::]:9200")
	fail("/10.0.0.7:9200")
	fail("a/b/10.0.0.7:9200")
	fail("a\r\nX: y/10.0.0.7:9200")
	fail("a:1/10.0.0.7:9200")
	fail(strings.Repeat("a", 300) + "/10.0.0.7:9200")
}

func TestParseNodes(t *testing.T) {
	f := func(body string, whole bool, want ...string) {
		t.Helper()
		found, all, err := parseNodes([]byte(body), false)
		var got []string
		for _, at := range found {
			got = append(got, at.dial)
		}
		if d := cmp.Diff(want, got); err != nil || d != "" || all != whole {
			t.Errorf("%s: %v, whole %v (-want +got):\n%s", body, err, all, d)
		}
	}
	node := func(address string, roles ...string) string {
		return fmt.Sprintf(`"%s%v":{"roles":["%s"],"http":{"publish_address":"%s"}}`, address, roles, strings.Join(roles, `","`), address)
	}
	f(`{}`, true)
	f(`{"nodes":{`+node("10.0.0.2:1", "data", "ingest")+`,`+node("10.0.0.1:1", "cluster_manager", "data_hot")+`}}`, true, "10.0.0.1:1", "10.0.0.2:1")
	f(`{"_nodes":{"failed":1},"nodes":{`+node("10.0.0.1:1", "ml")+`}}`, false, "10.0.0.1:1")
	f(`{"nodes":{`+node("10.0.0.1:1", "master")+`,`+node("10.0.0.2:1", "cluster_manager", "remote_cluster_client")+`}}`, true)
	f(`{"nodes":{"a":{"roles":[],"http":{"publish_address":"10.0.0.1:1"}},"b":{"roles":["data"]}}}`, true, "10.0.0.1:1") // b has no HTTP

	fail := func(body, want string) {
		t.Helper()
		if _, _, err := parseNodes([]byte(body), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: got error %v; want %q", body, err, want)
		}
	}
	fail(`[]`, "cannot read the nodes")
	fail(`{"nodes":{"a":{"http":{"publish_address":7}}}}`, "cannot read the nodes")
	fail(`{"nodes":{`+node("10.0.0.2:1", "data")+`,`+node("nowhere", "data")+`}}`, `publish_address "nowhere"`)
	var many []string
	for i := range maxNodes + 1 {
		many = append(many, node(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256), "data"))
	}
	fail(`{"nodes":{`+strings.Join(many, ",")+`}}`, "the cluster names 1025 nodes")
}

// nodesSay lets a node answer the question for the nodes, and everything else with 200.
func nodesSay(f *esfake, answer *atomic.Value) {
	f.answers(func(c net.Conn, r *http.Request, _ []byte) {
		if strings.HasPrefix(r.RequestURI, "/_nodes/") {
			status, body, _ := strings.Cut(answer.Load().(string), " ")
			_, _ = io.WriteString(c, "HTTP/1.1 "+status+" X\r\nContent-Length: "+itoa(len(body))+"\r\n\r\n"+body)
			return
		}
		writeAnswer(c, 200, "{}")
	})
}

// publish is the answer of a cluster of these nodes.
func publish(dials ...string) string {
	var b strings.Builder
	for i, at := range dials {
		fmt.Fprintf(&b, `,"%d":{"roles":["data"],"http":{"publish_address":"%s"}}`, i, at)
	}
	return `200 {"nodes":{` + strings.TrimPrefix(b.String(), ",") + `}}`
}

// TestDiscovery: the nodes are those that the cluster names and guard reaches. A bad
// answer changes nothing.
func TestDiscovery(t *testing.T) {
	seed, other := newFake(t), newFake(t)
	var says atomic.Value
	nodesSay(seed, &says)
	nodesSay(other, &says)
	at := func(f *esfake) string { return f.ln.Addr().String() }
	tr := newTestTransport(t, seed.url())
	tr.Meet(t.Context())
	f := func(answer, fault string, want ...string) {
		t.Helper()
		says.Store(answer)
		err := tr.discover(context.Background())
		if fault == "" && err != nil || fault != "" && (err == nil || !strings.Contains(err.Error(), fault)) {
			t.Errorf("%s: error %v; want %q", answer, err, fault)
		}
		var got []string
		for _, a := range tr.nodes.addresses() {
			got = append(got, a.dial)
		}
		slices.Sort(want)
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: nodes (-want +got):\n%s", answer, d)
		}
	}
	f("403 {}", "status 403", at(seed))
	f("200 []", "cannot read the nodes", at(seed))
	f(publish(), "none of the 0 nodes", at(seed))
	f(publish("127.0.0.1:1"), "none of the 1 nodes", at(seed)) // nobody listens there
	f(publish(at(other), "es:9200"), "cannot read http.publish_address", at(seed))
	f(publish(at(other), "127.0.0.1:1", at(seed)), "", at(seed), at(other))
	f(strings.Replace(publish(at(seed)), "{", `{"_nodes":{"failed":1},`, 1), "", at(seed), at(other)) // other may only be slow
	f(publish(at(other)), "", at(other))
	f(publish("name/"+at(other)), "", at(other))
	if _, _, err := tr.Fetch(context.Background(), "GET", "/x"); err != nil {
		t.Fatal(err)
	}
	if seen := other.requests(); seen[len(seen)-1].target != "/x" {
		t.Errorf("the node got %+v", seen[len(seen)-1])
	}
	// When none is left, those of the configuration are asked again.
	_ = other.ln.Close()
	other.closeConns()
	f("", "connection refused", at(seed))
	f(publish(at(seed)), "", at(seed))
}

// TestDiscoverRuns looks by itself, and at once when the last node is gone.
func TestDiscoverRuns(t *testing.T) {
	seed, other := newFake(t), newFake(t)
	var says atomic.Value
	nodesSay(seed, &says)
	nodesSay(other, &says)
	says.Store(publish(other.ln.Addr().String()))
	tr := newTestTransport(t, seed.url())
	core, logs := observer.New(zap.InfoLevel)
	tr.nodes.log.Store(zap.New(core))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tr.Discover(ctx, time.Hour)
	}()
	goesTo := func(f *esfake) func() bool {
		return func() bool {
			n := len(f.requests())
			_, _, _ = tr.Fetch(context.Background(), "GET", "/x")
			return len(f.requests()) > n
		}
	}
	eventually(t, "the node that was found gets calls", goesTo(other))
	says.Store(publish(seed.ln.Addr().String()))
	_ = other.ln.Close()
	other.closeConns()
	eventually(t, "the configured node gets calls", goesTo(seed))
	cancel()
	<-done
	if logs.FilterMessage("node is out").Len() != 1 {
		t.Errorf("the log says %v", logs.All())
	}
}

// TestDiscoveryByTLS checks the name that a node publishes, or else its address.
func TestDiscoveryByTLS(t *testing.T) {
	a := newAuthority(t)
	f := func(published string, hosts []string, fit bool) {
		t.Helper()
		node := tlsNode(t, a, hosts...)
		conf := testConfig("https://" + node.ln.Addr().String())
		conf.Upstream.CAFile = a.file
		conf.Upstream.ClientCert, conf.Upstream.ClientKey = a.issue("guard", nil)
		tr, err := NewTransport(conf.Upstream, conf.Timeouts)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(tr.Close)
		at, err := parsePublished(published+node.ln.Addr().String(), true)
		if err != nil {
			t.Fatal(err)
		}
		c, err := tr.newHost(at).open(context.Background(), tr.common.shown.load())
		if (err == nil) != fit {
			t.Errorf("%q for a certificate of %v: %v; want it to fit: %v", published, hosts, err, fit)
		}
		if err == nil {
			_, _ = c.(*tls.Conn).Write([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")) // the client's certificate is sent with it
			_ = c.Close()
		}
	}
	f("", []string{"127.0.0.1"}, true)
	f("", []string{"es-7"}, false)
	f("es-7/", []string{"es-7"}, true)
	f("es-8/", []string{"es-7", "127.0.0.1"}, false)
}
