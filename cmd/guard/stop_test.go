package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"guard/test/guardproc"
)

// answered is what a search that waits came to.
type answered struct {
	status int
	body   string
}

// slowly sends a search that waits at the cluster, and returns when it is there.
func (p *process) slowly(cluster *stubCluster) <-chan answered {
	p.t.Helper()
	before, got := cluster.searches(), make(chan answered, 1)
	go func() {
		status, body := p.search(`{"query":{"term":{"region":"slow"}}}`)
		got <- answered{status, body}
	}()
	p.eventually("the search is at the cluster", func() bool { return cluster.searches() > before })
	return got
}

// TestStop: told to stop, guard says that it is not ready and serves on for the delay,
// with the last answer of each connection; then it accepts nothing, closes what is idle, and lets what
// is under way end.
func TestStop(t *testing.T) {
	cluster := newStubCluster(t)
	p := start(t, cluster, launch{security: readsPeople(t), config: "timeouts: {drain_delay: 2s}\n"})
	kept, idle, silent := p.keep(), p.keep(), p.keep()
	for _, c := range []keptConn{kept, idle} {
		if status, last := c.search(); status != 200 || last {
			t.Fatalf("before: got %d, last %v; want 200 and a connection that is kept", status, last)
		}
	}
	slow := p.slowly(cluster)
	p.signal(syscall.SIGTERM)
	p.eventually("guard is not ready", func() bool {
		status, body := p.ask("GET", "/readyz")
		return status == 503 && strings.Contains(body, "draining")
	})
	if status, _ := p.ask("GET", "/livez"); status != 200 {
		t.Errorf("/livez answers %d; want 200: it is not dead", status)
	}
	for name, c := range map[string]keptConn{"a kept connection": kept, "a new one": p.keep()} {
		if status, last := c.search(); status != 200 || !last {
			t.Errorf("%s in the delay: got %d, last %v; want 200, and that it was the last", name, status, last)
		}
	}
	if idle.closed() || silent.closed() {
		t.Error("an idle connection is closed before the delay is over")
	}
	p.eventually("idle connections are closed", func() bool { return idle.closed() && silent.closed() })
	p.eventually("nothing is accepted", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	select {
	case a := <-slow:
		t.Errorf("the search that is under way ended too soon: %+v", a)
	default:
	}
	cluster.let()
	if a := <-slow; a.status != 200 || !strings.Contains(a.body, `"_index":"people"`) {
		t.Errorf("the search that was under way got %+v; want its answer", a)
	}
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d; want 0", code)
	}
	for _, want := range []string{`"msg":"told to stop","signal":"terminated"`, `"msg":"draining","delay":2,"at_most":30`, `"msg":"stopped"`} {
		if !strings.Contains(p.log(), want) {
			t.Errorf("the log does not say %s", want)
		}
	}
}

// TestStopIsBounded: what has not ended in time is cut, and the exit code says so.
func TestStopIsBounded(t *testing.T) {
	cluster := newStubCluster(t)
	p := start(t, cluster, launch{security: readsPeople(t), config: "timeouts: {drain: 300ms}\n"})
	slow := p.slowly(cluster)
	p.signal(os.Interrupt)
	if a := <-slow; a.status != 502 || !strings.Contains(a.body, "is unknown") {
		t.Errorf("the search got %+v; want 502 and that its end is unknown", a)
	}
	if code := p.exit(); code != 1 || !strings.Contains(p.log(), "requests were cut at the end of the drain") {
		t.Errorf("exit code %d; want 1, and that requests were cut", code)
	}
}

// TestStopTwice: told a second time, guard ends at once.
func TestStopTwice(t *testing.T) {
	cluster := newStubCluster(t)
	p := start(t, cluster, launch{security: readsPeople(t), config: "timeouts: {drain_delay: 1m, drain: 1h}\n"})
	p.slowly(cluster)
	p.signal(syscall.SIGTERM)
	p.eventually("guard drains", func() bool { status, _ := p.ask("GET", "/readyz"); return status == 503 })
	began := time.Now()
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 1 || time.Since(began) > 10*time.Second {
		t.Errorf("exit code %d after %v; want 1 at once", code, time.Since(began))
	}
	if want := `"msg":"told to stop a second time; what is under way is cut"`; !strings.Contains(p.log(), want) {
		t.Errorf("the log does not say %s", want)
	}
}

// TestHangingPart: a part that does not end is named, and does not keep guard.
func TestHangingPart(t *testing.T) {
	p := newParts(t.Context(), zap.NewNop())
	hang := make(chan struct{})
	defer close(hang)
	p.run("files", func(context.Context) error { <-hang; return nil })
	p.run("another", func(context.Context) error { <-hang; return nil })
	p.run("good", func(ctx context.Context) error { <-ctx.Done(); return nil })
	if err := p.end(time.Second); err == nil || err.Error() != "did not end within 1s: another, files" {
		t.Errorf("got %v; want both that hang by their names", err)
	}
}

// TestPipesInPlaceOfFiles: what stands in the place of a file and gives nothing is a fault
// that is told; guard is ready, takes what is whole, and ends when told to.
func TestPipesInPlaceOfFiles(t *testing.T) {
	security, password := readsPeople(t), filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("pw"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, newStubCluster(t), launch{security: security, config: "upstream: {username: guard, password_file: " + password + "}\n"})
	roles := filepath.Join(security, "roles.yml")
	if err := errors.Join(os.Remove(password), syscall.Mkfifo(password, 0o600), os.Rename(roles, roles+".whole"), syscall.Mkfifo(roles, 0o600)); err != nil {
		t.Fatal(err)
	}
	if status, body := p.ask("POST", "/-/reload"); status != 400 || strings.Count(body, "not a regular file") != 2 {
		t.Errorf("reload got %d %s; want 400 and both faults", status, body)
	}
	if status, body := p.ask("GET", "/readyz"); status != 200 || !strings.Contains(body, "upstream_files") {
		t.Errorf("/readyz got %d %s; want 200 and the part at fault", status, body)
	}
	if err := os.Rename(roles+".whole", roles); err != nil {
		t.Fatal(err)
	}
	if status, body := p.ask("POST", "/-/reload"); status != 400 || strings.Count(body, "not a regular file") != 1 {
		t.Errorf("reload got %d %s; want 400 and the fault that is left", status, body)
	}
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d; want 0", code)
	}
}

// TestLogIsGone: guard serves on when nobody reads its log any more, and counts what is lost.
func TestLogIsGone(t *testing.T) {
	p := start(t, newStubCluster(t), launch{security: readsPeople(t), pipe: true})
	_ = p.pipe.Close() // every write of guard's is a broken pipe from now on
	for range 3 {
		if status, body := call("GET", p.url+"/nosuch/_search", "", p.client()); status != 403 {
			t.Errorf("got %d %s; want 403, which is logged", status, body)
		}
	}
	p.eventually("the loss is counted", func() bool { return p.metric("guard_log_errors_total") >= 3 })
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d; want 0", code)
	}
}

// TestLogIsStuck: guard serves on while nobody reads the pipe that its log goes to.
func TestLogIsStuck(t *testing.T) {
	security := readsPeople(t)
	p := start(t, newStubCluster(t), launch{security: security, pipe: true})
	bad := strings.Repeat("nosuch: {nosuch: 1}\n", 5000) // long records, each as many faults
	write(t, security, "roles.yml", strings.ReplaceAll("_meta: {type: roles, config_version: 2}\n"+bad, "nosuch: {", "role: {"))
	for n := 0; p.metric("guard_log_errors_total") == 0; n++ {
		if status, body := p.ask("POST", "/-/reload"); status != 400 {
			t.Fatalf("reload %d got %d %.200s; want 400", n, status, body)
		}
	}
	if status, _ := p.search("{}"); status != 200 {
		t.Errorf("a search got %d; want 200", status)
	}
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d; want 0", code)
	}
}

// readsPeople is a security folder in which anna reads one index.
func readsPeople(t *testing.T) string {
	t.Helper()
	return guardproc.WriteSecurity(t, reader(t, "r", "people"))
}

// TestDescriptors: the soft limit is raised to the hard one; where that is too low, guard
// says so, and clients can't take the descriptors that the cluster is reached by.
func TestDescriptors(t *testing.T) {
	security := readsPeople(t)
	p := start(t, newStubCluster(t), launch{
		security: security, config: "upstream: {max_connections: 20}\nlimits: {max_connections: 100}\n", shell: "ulimit -Sn 32 && ulimit -Hn 400",
	})
	if n := p.metric("process_max_fds"); n < 399 { // the runtime leaves one
		t.Errorf("%v descriptors; want those of the hard limit, 400", n)
	}
	if strings.Contains(p.log(), "the limit of open files is too low") {
		t.Error("the log says that 400 descriptors are too few for 100 connections")
	}
	p = start(t, newStubCluster(t), launch{
		security: security, config: "upstream: {max_connections: 20}\nlimits: {max_connections: 1000}\n", shell: "ulimit -n 200",
	})
	if want := `"limit":200,"wanted":1148,"max_connections":52`; !strings.Contains(p.log(), want) {
		t.Errorf("the log does not say %s", want)
	}
	var kept []keptConn
	for range 52 {
		kept = append(kept, p.keep())
	}
	p.eventually("all are inside", func() bool { return p.metric("guard_client_connections") == 52 })
	for range 60 { // beyond: turned away
		p.keep()
	}
	p.eventually("the others are turned away", func() bool { return p.metric(`guard_limit_hits_total{limit="max_connections"}`) == 60 })
	if status, _ := kept[0].search(); status != 200 {
		t.Errorf("a search got %d; want 200: there are descriptors for the cluster", status)
	}
}
