package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"guard/test/guardproc"
)

// asGuard makes the test binary be guard, with the arguments that it got.
const asGuard = "GUARD_TEST_IS_GUARD"

func TestMain(m *testing.M) {
	if os.Getenv(asGuard) != "" {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// stubCluster answers what guard asks to know the indices, as a real node did, and each
// search with a hit that names the index it was sent to. A search for "slow" waits.
type stubCluster struct {
	*httptest.Server
	slow chan struct{} // closed to let them go
	let  func()        // closes it

	mu   sync.Mutex // guards seen
	seen []string   // paths of searches
}

func newStubCluster(t *testing.T) *stubCluster {
	t.Helper()
	s := &stubCluster{slow: make(chan struct{})}
	s.let = sync.OnceFunc(func() { close(s.slow) })
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.let()
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *stubCluster) serve(w http.ResponseWriter, r *http.Request) {
	recorded := func(name string) {
		text, err := os.ReadFile("../../bench/testdata/state/" + name + ".json")
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(text) // guard may be gone
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	switch path := r.URL.Path; {
	case path == "/":
		recorded("root")
	case path == "/_alias":
		recorded("aliases")
	case path == "/_cluster/state/version,metadata":
		recorded("metadata")
	case path == "/_cluster/state/version" && r.URL.Query().Has("wait_for_metadata_version"):
		w.WriteHeader(http.StatusForbidden) // then guard polls
	case path == "/_cluster/state/version", path == "/_cluster/state/blocks":
		recorded("version")
	case strings.HasSuffix(path, "/_search"):
		s.search(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *stubCluster) search(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // cut: nobody waits for the answer
	s.mu.Lock()
	s.seen = append(s.seen, r.URL.Path)
	s.mu.Unlock()
	if strings.Contains(string(body), "slow") {
		<-s.slow
	}
	index := strings.Split(r.URL.Path, "/")[1]
	fmt.Fprintf(w, `{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},`+
		`"hits":{"total":{"value":1,"relation":"eq"},"max_score":1.0,"hits":[{"_index":%q,"_id":"1","_score":1.0,"_source":{}}]}}`, index)
}

// searches returns how many came.
func (s *stubCluster) searches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// reader is a policy in which anna, of the backend role of this name, reads one index.
func reader(t *testing.T, role, index string) map[string]string {
	t.Helper()
	return map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", map[string]any{"anna": map[string]any{"hash": annasHash, "backend_roles": []string{role}}}),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", map[string]any{role: map[string]any{"backend_roles": []string{role}}}),
		"roles.yml": guardproc.Section(t, "roles", map[string]any{role: map[string]any{
			"cluster_permissions": []string{"cluster_composite_ops_ro"},
			"index_permissions":   []any{map[string]any{"index_patterns": []string{index}, "allowed_actions": []string{"read"}}},
		}}),
	}
}

// annasHash is that of "pw".
const annasHash = "$2a$04$4eWSwVCujIz/WK1WIMCp9u2CMgBl.WE8XgOiBaR0idDrqbbqcxik6"

// process is a guard that runs.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	url      string // for clients
	internal string
	ended    chan struct{}
	logFile  string

	configFile string        // guard.yml
	pipe       *os.File      // instead of a file; where the log is read
	text       *lockedBuffer // instead of both, in the test's own process
	stop       func()        // ends that one
}

// launch says how guard is started.
type launch struct {
	security string
	config   string // further text of guard.yml
	shell    string // what a shell does before it becomes guard
	pipe     bool   // the log goes to a pipe that is read until guard serves; else to a file
}

// start runs guard and returns when it is ready.
func start(t *testing.T, cluster *stubCluster, how launch) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{t: t, ended: make(chan struct{}), logFile: filepath.Join(dir, "log")}
	file := filepath.Join(dir, "guard.yml")
	p.configFile = file
	if err := os.WriteFile(file, []byte("log: {level: info}\n"+how.config), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--listen", "127.0.0.1:0", "--internal", "127.0.0.1:0", "--upstream", cluster.URL, "--security", how.security, "--config", file}
	p.cmd = exec.Command(self, args...)
	if how.shell != "" {
		p.cmd = exec.Command("sh", append([]string{"-c", how.shell + ` && exec "$0" "$@"`, self}, args...)...)
	}
	logs, err := p.logTo(how.pipe)
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr, p.cmd.Env = logs, append(os.Environ(), asGuard+"=1")
	err = p.cmd.Start()
	_ = logs.Close() // the process has its own
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // tests look at the state
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // has ended already, or will
		<-p.ended
		if t.Failed() {
			log := p.log()
			t.Logf("end of the log:\n%s", log[max(0, len(log)-2000):])
		}
	})
	p.eventually("guard listens", p.listens)
	p.eventually("guard is ready", func() bool { status, _ := p.ask("GET", "/readyz"); return status == 200 })
	return p
}

// logTo returns where the log is written.
func (p *process) logTo(pipe bool) (*os.File, error) {
	if !pipe {
		return os.Create(p.logFile)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.t.Cleanup(func() { _ = r.Close() })
	p.pipe = r
	return w, nil
}

// listens finds the record that tells where guard listens.
func (p *process) listens() bool {
	text := ""
	if p.pipe != nil {
		buf := make([]byte, 64<<10)
		n, _ := p.pipe.Read(buf) // at the end there is nothing
		text = string(buf[:n])
	} else {
		text = p.log()
	}
	for line := range strings.Lines(text) {
		var said struct{ Listen, Internal string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Listen != "" {
			p.url, p.internal = "http://"+said.Listen, "http://"+said.Internal
			return true
		}
	}
	return false
}

func (p *process) log() string {
	if p.text != nil {
		return p.text.String()
	}
	text, err := os.ReadFile(p.logFile)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ask asks the internal listener; a status of 0 says that it did not answer.
func (p *process) ask(method, path string) (int, string) {
	return call(method, p.internal+path, "", &http.Client{Timeout: 10 * time.Second})
}

// client makes a connection for each request.
func (p *process) client() *http.Client {
	return &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
}

// search sends a search of anna.
func (p *process) search(body string) (int, string) {
	return call("POST", p.url+"/people,archive/_search", body, p.client())
}

func call(method, url, body string, by *http.Client) (int, string) {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	r.SetBasicAuth("anna", "pw")
	r.Header.Set("Content-Type", "application/json")
	res, err := by.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(text)
}

func (p *process) metric(name string) float64 {
	p.t.Helper()
	_, text := p.ask("GET", "/metrics")
	for line := range strings.Lines(text) {
		if series, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && series == name {
			var v float64
			if err := json.Unmarshal([]byte(value), &v); err != nil {
				p.t.Fatal(err)
			}
			return v
		}
	}
	return 0
}

func (p *process) eventually(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
		select {
		case <-p.ended:
			p.t.Fatalf("guard has ended (%v) before: %s\n%s", p.cmd.ProcessState, what, p.log())
		default:
		}
	}
	p.t.Fatalf("it did not happen within 20 s: %s", what)
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits for the end and returns its code.
func (p *process) exit() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		p.t.Fatal("guard does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// keptConn is a connection that a client keeps.
type keptConn struct {
	t *testing.T
	net.Conn
	br *bufio.Reader
}

func (p *process) keep() keptConn {
	p.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	p.t.Cleanup(func() { _ = c.Close() })
	return keptConn{p.t, c, bufio.NewReader(c)}
}

// search sends one on this connection and tells whether that was its last.
func (c keptConn) search() (status int, last bool) {
	c.t.Helper()
	r, err := http.NewRequest("GET", "http://guard/people/_search", nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.SetBasicAuth("anna", "pw")
	if err := r.Write(c); err != nil {
		return 0, true
	}
	res, err := http.ReadResponse(c.br, r)
	if err != nil {
		return 0, true
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode, res.Close
}

// closed reports whether guard has closed the connection, without waiting long.
func (c keptConn) closed() bool {
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	_, err := c.br.Peek(1)
	return errors.Is(err, io.EOF)
}
