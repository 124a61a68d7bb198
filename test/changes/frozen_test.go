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

// freezer stands before a node. Once it is frozen the state of the cluster is told as it
// was, as by a node that lags behind; all else passes.
type freezer struct {
	node testbed.Client
	pass http.Handler

	mu     sync.Mutex // guards what follows
	frozen bool
	told   map[string]testbed.Response // about the state, by target
}

func startFreezer(t *testing.T, node testbed.Client) (*freezer, string) {
	t.Helper()
	to, err := url.Parse(node.URL)
	if err != nil {
		t.Fatal(err)
	}
	f := &freezer{node: node, pass: httputil.NewSingleHostReverseProxy(to), told: map[string]testbed.Response{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

func (f *freezer) freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = true
}

func (f *freezer) thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = false
}

func (f *freezer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch target := r.URL.RequestURI(); {
	case strings.Contains(target, "wait_for_metadata_version"):
		f.noNews(w, r)
	case strings.HasPrefix(target, "/_cluster/state"), target == "/_alias?expand_wildcards=all":
		f.tell(w, target)
	default:
		f.pass.ServeHTTP(w, r)
	}
}

// noNews is what a node says when a wait for its metadata is over: there was nothing new.
// Nobody learns of a change in this way, so that guard looks when it is asked to.
func (f *freezer) noNews(w http.ResponseWriter, r *http.Request) {
	wait, err := time.ParseDuration(r.URL.Query().Get("wait_for_timeout"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
	}
	http.Error(w, `{"error":{"type":"null_pointer_exception"},"status":500}`, http.StatusInternalServerError)
}

// tell answers about the state.
func (f *freezer) tell(w http.ResponseWriter, target string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	res, ok := f.told[target]
	if !f.frozen || !ok {
		var err error
		if res, err = f.node.Do("GET", target, ""); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		f.told[target] = res
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(res.Status)
	_, _ = w.Write(res.Body) // a guard that has gone needs no answer
}

// TestFrozen asks everything at a moment in which guard does not yet know what names have
// come to mean. What nobody was ever granted must not be shown even then in a hit or a
// document. Once guard knows, it must not be shown in anything.
func TestFrozen(t *testing.T) {
	for _, kind := range engines {
		t.Run(string(kind), func(t *testing.T) {
			w := &world{t: t, node: testbed.Cluster(t, kind), streams: kind != testbed.ES710}
			w.load()
			f, upstream := startFreezer(t, w.node.Client)
			guards := map[string]*guardproc.Proc{}
			for _, mode := range modeNames {
				guards[mode] = guardproc.Start(t, guardproc.Options{
					Security: guardproc.WriteSecurity(t, policy(t, mode, roles)), Upstream: upstream,
				})
			}
			l := newLoad(t, w, guards)
			l.settle()
			f.freeze()
			w.aliases(removeIndex("mem-1"), add("vault-1", "mem-1"))
			w.aliases(removeIndex("swap-1"), add("vault-2", "swap-1"), add("vault-2", "swap-8"))
			w.journal.grant("pub", "sec-1")
			w.aliases(removeIndex("pub-1"), add("sec-1", "pub-1"))
			if w.streams {
				w.do("DELETE", "/_data_stream/ds-app", "")
				w.aliases(add("vault-1", ".ds-ds-app-000001"))
			}
			l.askEverything()
			f.thaw()
			w.aliases(add("mem-w-000001", "al-thawed"))
			l.learn("/al-thawed/_search")
			l.strict = true
			l.askEverything()
			l.report()
		})
	}
}

// askEverything has all people ask every question of every guard.
func (l *load) askEverything() {
	for _, mode := range modeNames {
		for i := range people {
			l.askAll(mode, &people[i])
		}
	}
}

// bounded reports whether what a person is shown by a name that has come to mean something
// else is bounded by the age of the state alone, as docs/compatibility.md says: where the
// answer does not tell from which index it is and no rule binds him, and where it is over
// indices under different rules.
func bounded(p *person, q question) bool {
	hits := strings.HasSuffix(q.path, "/_search") && !strings.Contains(q.body, `"size":0`) ||
		strings.Contains(q.path, "_search?size=") || q.method == "GET" && strings.Contains(q.path, "/_doc/")
	return p.mixed || p.tenant == "" && !p.noPins && !hits
}

// learn has every guard look for a name that is new.
func (l *load) learn(path string) {
	for mode := range l.guards {
		if a, ok := l.send(mode, "aliased", "GET", path, ""); !ok || a.status != http.StatusOK {
			l.t.Fatalf("%s does not come to know the cluster: %d %s", mode, a.status, a.body)
		}
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

// TestMoved: who asks for a name that means something else since guard has looked gets the
// answer of now, and no error, also under a rule.
func TestMoved(t *testing.T) {
	for _, kind := range engines {
		t.Run(string(kind), func(t *testing.T) {
			w := &world{t: t, node: testbed.Cluster(t, kind), streams: kind != testbed.ES710}
			w.load()
			_, upstream := startFreezer(t, w.node.Client)
			for _, q := range []question{
				{method: "GET", path: "@/_search"},
				{method: "GET", path: "@/_doc/0"},
				{method: "GET", path: "@/_source/0"},
			} {
				for _, who := range []string{"rows", "fields"} {
					guards := map[string]*guardproc.Proc{"v4": guardproc.Start(t, guardproc.Options{
						Security: guardproc.WriteSecurity(t, policy(t, "v4", roles)), Upstream: upstream,
					})}
					l := newLoad(t, w, guards)
					l.await("v4", &people[1], "/pub-0/_search", l.marks("/pub-0/_search"))
					w.aliases(removeIndex("pub-1"), add("sec-1", "pub-1"))
					asked := q.on("/pub-1", "")
					a, ok := l.send("v4", who, asked.method, asked.path, "")
					if ok && (a.status != http.StatusOK || !strings.Contains(string(a.body), "doc:sec-1:")) {
						t.Errorf("%s asks for %s: status %d: %.300s", who, asked.path, a.status, a.body)
					}
					w.aliases(remove("sec-1", "pub-1"))
					w.make("pub-1")
				}
			}
		})
	}
}

// marks are those that the node itself answers with.
func (l *load) marks(question string) []string {
	l.t.Helper()
	all := &person{}
	return all.sees(l.world.node.Must(l.t, "GET", question, "").Body)
}
