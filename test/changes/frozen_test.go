package changes

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"guard/test/guardproc"
	"guard/test/testbed"
)

// freezer stands before a node. While it is frozen nobody learns anything new of the
// cluster's state; all else passes.
type freezer struct {
	pass http.Handler
	mu   sync.RWMutex // held for writing while frozen
}

func startFreezer(t *testing.T, node string) (*freezer, string) {
	t.Helper()
	to, err := url.Parse(node)
	if err != nil {
		t.Fatal(err)
	}
	f := &freezer{pass: httputil.NewSingleHostReverseProxy(to)}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

// wait returns when nothing is frozen.
func (f *freezer) wait() {
	f.mu.RLock()
	defer f.mu.RUnlock()
}

func (f *freezer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/_cluster/state") {
		f.wait()
		w = &late{w, f}
	}
	f.pass.ServeHTTP(w, r)
}

// late writes an answer only when nothing is frozen: the question was asked before.
type late struct {
	http.ResponseWriter
	f *freezer
}

// WriteHeader waits.
func (l *late) WriteHeader(status int) {
	l.f.wait()
	l.ResponseWriter.WriteHeader(status)
}

// TestFrozen asks everything at a moment in which guard does not yet know what names have
// come to mean. What nobody was ever granted must not be shown even then.
func TestFrozen(t *testing.T) {
	for _, kind := range engines {
		t.Run(string(kind), func(t *testing.T) {
			w := &world{t: t, node: testbed.Cluster(t, kind), streams: kind != testbed.ES710}
			w.load()
			f, upstream := startFreezer(t, w.node.URL)
			guards := map[string]*guardproc.Proc{}
			for _, mode := range modeNames {
				guards[mode] = guardproc.Start(t, guardproc.Options{
					Security: guardproc.WriteSecurity(t, policy(t, mode, roles)), Upstream: upstream, Config: "state: {timeout: 100ms}\n",
				})
			}
			l := newLoad(t, w, guards)
			l.settle()
			f.mu.Lock()
			defer f.mu.Unlock()
			w.aliases(removeIndex("mem-1"), add("vault-1", "mem-1"))
			w.aliases(removeIndex("swap-1"), add("vault-2", "swap-1"), add("vault-2", "swap-8"))
			w.journal.grant("pub", "sec-1")
			w.aliases(removeIndex("pub-1"), add("sec-1", "pub-1"))
			if w.streams {
				w.do("DELETE", "/_data_stream/ds-app", "")
				w.aliases(add("vault-1", ".ds-ds-app-000001"))
			}
			for _, mode := range modeNames {
				for i := range people {
					l.askAll(mode, &people[i])
				}
			}
			l.report()
		})
	}
}

// settle returns when every guard knows the indices that there are.
func (l *load) settle() {
	for mode := range l.guards {
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			a, ok := l.send(mode, "aliased", "GET", "/_resolve/index/al-*", "")
			if ok && strings.Contains(string(a.body), "mem-w-000001") {
				break
			}
			if time.Now().After(deadline) {
				l.t.Fatalf("%s does not come to know the cluster: %d %s", mode, a.status, a.body)
			}
		}
	}
}

// askAll has a person ask every question about every place.
func (l *load) askAll(mode string, p *person) {
	if p.name == "streamed" && !l.world.streams {
		return
	}
	for _, part := range []struct {
		questions []question
		places    []string
	}{{lists, p.places}, {singles, p.single}, {writes, p.single}} {
		for _, q := range part.questions {
			for _, place := range part.places {
				l.put(mode, p, q.on(place, p.name))
			}
		}
	}
}
