package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"guard/config"
	"guard/proxy"
	"guard/test/guardproc"
)

// mounted is a security folder as Kubernetes mounts a ConfigMap: the files are links
// through one that is exchanged as a whole.
type mounted struct {
	t   *testing.T
	dir string
}

// mount makes a folder that holds one of the generations, each under its name.
func mount(t *testing.T, generations map[string]map[string]string) mounted {
	t.Helper()
	m := mounted{t, t.TempDir()}
	for name, files := range generations {
		if err := os.CopyFS(filepath.Join(m.dir, ".."+name), os.DirFS(guardproc.WriteSecurity(t, files))); err != nil {
			t.Fatal(err)
		}
	}
	for name := range generations {
		m.swap(name)
		entries, err := os.ReadDir(filepath.Join(m.dir, "..data"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			_ = os.Symlink(filepath.Join("..data", e.Name()), filepath.Join(m.dir, e.Name())) // there already, from another one
		}
	}
	return m
}

// swap exchanges what the folder holds, at once.
func (m mounted) swap(name string) {
	m.t.Helper()
	next := filepath.Join(m.dir, "..next")
	if err := errors.Join(os.Symlink(".."+name, next), os.Rename(next, filepath.Join(m.dir, "..data"))); err != nil {
		m.t.Fatal(err)
	}
}

// generations are two policies that differ in what anna reads, and how she comes to: the roles
// of one are none in the other. A third one has a fault.
func generations(t *testing.T) map[string]map[string]string {
	t.Helper()
	bad := reader(t, "even", "people")
	bad["roles.yml"] = "_meta: {type: roles, config_version: 2}\neven: {nosuch: 1}\n"
	return map[string]map[string]string{"even": reader(t, "even", "people"), "odd": reader(t, "odd", "archive"), "bad": bad}
}

// TestReloadByOperators: a link that is swapped, SIGHUP and POST /-/reload put a policy to work; a bad
// one changes nothing, is answered with its faults, and shows in log, metrics and
// /readyz until it is taken back.
func TestReloadByOperators(t *testing.T) {
	folder := mount(t, generations(t))
	folder.swap("even")
	p := start(t, newStubCluster(t), launch{security: folder.dir})
	shows := func(index string) {
		t.Helper()
		if status, body := p.search("{}"); status != 200 || !strings.Contains(body, `"_index":"`+index+`"`) {
			t.Errorf("anna gets %d %s; want a hit of %s", status, body, index)
		}
	}
	reload := func(want int, parts ...string) {
		t.Helper()
		status, body := p.ask("POST", "/-/reload")
		for _, part := range parts {
			if status != want || !json.Valid([]byte(body)) || !strings.Contains(body, part) {
				t.Errorf("reload: got %d %s; want %d and %q", status, body, want, part)
			}
		}
	}
	shows("people")
	folder.swap("odd")
	p.eventually("the swapped link is seen", func() bool { return p.metric("guard_config_reloads_total") == 1 })
	shows("archive")

	folder.swap("even")
	reload(200, `"generation":3,"changed":true,"warnings":[]`)
	shows("people")
	reload(200, `"generation":3,"changed":false`)

	folder.swap("bad")
	reload(400, `"generation":3,"changed":false`, `{"part":"policy","file":"`, `roles.yml","line":2,"path":"even.nosuch","message":"`)
	shows("people")
	status, body := p.ask("GET", "/readyz")
	if status != 200 || !strings.Contains(body, `{"status":"ok","policy":{"faulty":true,"since":"20`) || !strings.Contains(body, "nosuch") {
		t.Errorf("/readyz answers %d %s; want 200 and what is wrong with the policy", status, body)
	}
	if n := p.metric("guard_config_faulty"); n != 1 {
		t.Errorf("guard_config_faulty is %v; want 1", n)
	}
	p.signal(syscall.SIGHUP)
	p.eventually("SIGHUP is tried", func() bool { return p.metric("guard_config_reload_errors_total") == 2 })

	folder.swap("odd")
	p.signal(syscall.SIGHUP)
	p.eventually("SIGHUP reloads", func() bool { return p.metric("guard_config_reloads_total") == 3 })
	shows("archive")
	if status, body := p.ask("GET", "/readyz"); status != 200 || body != `{"status":"ok"}` || p.metric("guard_config_faulty") != 0 {
		t.Errorf("/readyz answers %d %s; want nothing of a fault", status, body)
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		if status, _ := p.ask(method, "/-/reload"); status != http.StatusMethodNotAllowed {
			t.Errorf("%s /-/reload answers %d; want 405", method, status)
		}
	}
	for _, want := range []string{`"msg":"told to reload","signal":"hangup"`, "cannot use the changed security folder", `"msg":"policy reloaded"`} {
		if !strings.Contains(p.log(), want) {
			t.Errorf("the log does not say %s", want)
		}
	}
}

// TestNothingToReload: who asks for a reload is told that nothing has changed, or that what
// has changed, guard.yml, waits for a restart.
func TestNothingToReload(t *testing.T) {
	p := start(t, newStubCluster(t), launch{security: guardproc.WriteSecurity(t, reader(t, "r", "people"))})
	const nothing, waits, again = `"msg":"nothing to reload has changed"`, `"msg":"the configuration file has changed; a restart`, `"msg":"the configuration file holds what is at work again"`
	said := func(what string, times int) {
		t.Helper()
		p.eventually(what, func() bool { return strings.Count(p.log(), what) == times })
	}
	p.signal(syscall.SIGHUP)
	said(nothing, 1)
	before, err := os.ReadFile(p.configFile)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(p.configFile), filepath.Base(p.configFile), string(before)+"listen: 127.0.0.1:1\n")
	said(waits, 1)
	if status, body := p.ask("POST", "/-/reload"); status != 200 || !strings.Contains(body, `"warnings":[{"part":"guard.yml","file":"`) {
		t.Errorf("reload: %d %s; want a warning that guard.yml waits for a restart", status, body)
	}
	said(waits, 2)
	write(t, filepath.Dir(p.configFile), filepath.Base(p.configFile), string(before))
	said(again, 1)
	if status, body := p.ask("POST", "/-/reload"); status != 200 || !strings.Contains(body, `"warnings":[]`) {
		t.Errorf("reload: %d %s; want no warning", status, body)
	}
}

// lockedBuffer is a log that a test reads while it is written.
type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// inProcess runs guard in the test's own process, which can then look at what it leaves.
func inProcess(t *testing.T, cluster *stubCluster, security string) *process {
	t.Helper()
	c, warnings, err := config.Load("", config.Overrides{Listen: "127.0.0.1:0", Internal: "127.0.0.1:0", Upstream: []string{cluster.URL}, Security: security})
	if err != nil {
		t.Fatal(err)
	}
	log := &lockedBuffer{}
	srv, err := newServer(c, warnings, log)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, ended: make(chan struct{}), text: log}
	ctx, cancel := context.WithCancel(context.Background())
	var failed error
	go func() {
		defer close(p.ended)
		failed = srv.run(ctx, signals{})
		srv.transport.Close()
		srv.sink.close()
	}()
	t.Cleanup(func() {
		cancel()
		<-p.ended
		if failed != nil {
			t.Error(failed)
		}
	})
	p.stop = cancel
	p.eventually("guard listens", p.listens)
	p.eventually("guard is ready", func() bool { status, _ := p.ask("GET", "/readyz"); return status == 200 })
	return p
}

// TestThousandReloads: under load, no request is lost or answered by a mix of two
// policies, whoever asks for a reload gets what was there when it was asked, and nothing is left behind.
func TestThousandReloads(t *testing.T) {
	cluster := newStubCluster(t)
	folder := mount(t, generations(t))
	folder.swap("even")
	warm := runtime.NumGoroutine()
	p := inProcess(t, cluster, folder.dir)
	load := startLoad(p)
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	reloadOften(p, folder, 50)
	heap, goroutines := heapInUse(), runtime.NumGoroutine()
	reloadOften(p, folder, rounds)
	if n := load.end(); n < int64(rounds)/10 {
		t.Errorf("%d searches during %d reloads: the test shows little", n, rounds)
	}
	if now := runtime.NumGoroutine(); now > goroutines+10 {
		t.Errorf("%d goroutines after %d reloads; %d before", now, rounds, goroutines)
	}
	if now := heapInUse(); now > heap+8<<20 {
		t.Errorf("%d bytes in use after %d reloads; %d before", now, rounds, heap)
	}
	p.stop()
	<-p.ended
	http.DefaultTransport.(*http.Transport).CloseIdleConnections() //nolint:forcetypeassert // it is one
	cluster.CloseClientConnections()
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > warm+10 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if now := runtime.NumGoroutine(); now > warm+10 {
		t.Errorf("%d goroutines after the end; %d before the start", now, warm)
	}
}

// reloadOften swaps the folder and reloads n times. Every tenth policy is bad.
func reloadOften(p *process, folder mounted, n int) {
	p.t.Helper()
	by := &http.Client{Timeout: 20 * time.Second}
	defer by.CloseIdleConnections()
	shown := map[string]string{"even": "people", "odd": "archive"}
	works := ""
	for i := range n {
		name, want := "even", 200
		switch {
		case i%10 == 9:
			name, want = "bad", 400
		case i%2 == 1:
			name = "odd"
		}
		folder.swap(name)
		if status, body := call("POST", p.internal+"/-/reload", "", by); status != want {
			p.t.Fatalf("reload %d (%s) got %d %s; want %d", i, name, status, body, want)
		}
		if name != "bad" {
			works = name
		}
		if status, body := call("POST", p.url+"/people,archive/_search", "{}", by); status != 200 || !strings.Contains(body, `"_index":"`+shown[works]+`"`) {
			p.t.Fatalf("after reload %d (%s): got %d %s; want a hit of %s", i, name, status, body, shown[works])
		}
	}
}

// heapInUse is what is in use when all garbage is gone.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// load is some clients that search until they are told to end.
type load struct {
	ended atomic.Bool
	all   sync.WaitGroup
	n     atomic.Int64
}

func startLoad(p *process) *load {
	l := &load{}
	for range 3 {
		l.all.Go(func() {
			by := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{}}
			defer by.CloseIdleConnections()
			for !l.ended.Load() {
				status, body := call("POST", p.url+"/people,archive/_search", "{}", by)
				if status != 200 || strings.Contains(body, `"_index":"people"`) == strings.Contains(body, `"_index":"archive"`) {
					p.t.Errorf("a search got %d %s; want a hit of the one index or of the other", status, body)
					return
				}
				l.n.Add(1)
			}
		})
	}
	return l
}

// end ends the clients and returns how often they searched.
func (l *load) end() int64 {
	l.ended.Store(true)
	l.all.Wait()
	return l.n.Load()
}

// TestReloadsAreShared: who asks while a reload is under way gets one that began later,
// and many who wait get one together.
func TestReloadsAreShared(t *testing.T) {
	re, began, gate := partReloads(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go re.run(ctx)
	ask := func() <-chan proxy.Reloaded {
		got := make(chan proxy.Reloaded, 1)
		go func() {
			r, err := re.Reload(ctx)
			if err != nil {
				t.Error(err)
			}
			got <- r
		}()
		return got
	}
	first := ask()
	<-began
	var waiting []<-chan proxy.Reloaded
	for range 20 {
		waiting = append(waiting, ask())
	}
	time.Sleep(100 * time.Millisecond) // until all ask
	gate <- nil
	<-first
	<-began
	gate <- errors.New("no such certificate")
	for _, got := range waiting {
		r := <-got
		if len(r.Faults) != 1 || r.Faults[0] != (proxy.Finding{Part: "tls", Message: "no such certificate"}) {
			t.Errorf("got %+v; want the fault of the second reload", r)
		}
	}
	cancel()
	<-re.ended
	if _, err := re.Reload(context.Background()); !errors.Is(err, errEnding) {
		t.Errorf("after the end: %v; want %v", err, errEnding)
	}
}

// partReloads are reloads with one further part, which waits until a test says how it ends.
func partReloads(t *testing.T, falls any) (re *reloads, began chan struct{}, gate chan error) {
	t.Helper()
	c := sampleConfig(guardproc.WriteSecurity(t, reader(t, "r", "people")))
	v, err := newVerifier(c)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := loadPolicy(c, v)
	if err != nil {
		t.Fatal(err)
	}
	cur := &current{}
	cur.setPolicy(p)
	re = newReloads(prometheus.NewRegistry(), c, v, cur, zap.NewNop())
	began, gate = make(chan struct{}), make(chan error)
	re.others = []part{{name: "tls", reload: func(context.Context) (bool, error) {
		if falls != nil {
			panic(falls)
		}
		began <- struct{}{}
		return false, <-gate
	}}}
	return re, began, gate
}

// TestPanicInReload: a panic over files that nobody foresaw is a fault of that part.
func TestPanicInReload(t *testing.T) {
	re, _, _ := partReloads(t, "a fault in a part")
	ctx, cancel := context.WithCancel(t.Context())
	go re.run(ctx)
	for range 2 {
		r, err := re.Reload(ctx)
		if err != nil || len(r.Faults) != 1 || !strings.Contains(r.Faults[0].Message, "BUG: panic: a fault in a part") {
			t.Fatalf("got %+v, %v; want the panic as a fault", r, err)
		}
	}
	cancel()
	<-re.ended
}

// TestParts: a part that fails is told of by its name; one that falls is run again; the
// others go on until all end.
func TestParts(t *testing.T) {
	f := func(part func(context.Context) error, want string) {
		t.Helper()
		p := newParts(t.Context(), zap.NewNop())
		others := make(chan struct{})
		p.run("other", func(ctx context.Context) error {
			<-ctx.Done()
			close(others)
			return nil
		})
		p.run("part", part)
		if err := <-p.failed; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v; want %s", err, want)
		}
		select {
		case <-others:
			t.Error("the other part has ended with it")
		default:
		}
		if err := p.end(time.Minute); err != nil {
			t.Error(err)
		}
		<-others
	}
	f(func(context.Context) error { return errors.New("no") }, "part: no")
	fallen := false
	f(func(context.Context) error {
		if !fallen {
			fallen = true
			panic("a fault")
		}
		return errors.New("run again")
	}, "part: run again")
	if fmt.Sprint(closed(http.ErrServerClosed), closed(errors.New("x"))) != "<nil> x" {
		t.Error("that a server was closed is no fault; anything else is")
	}
}
