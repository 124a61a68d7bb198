package framing_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"guard/test/framing"
	"guard/test/written"
)

var compare = flag.Bool("compare", false, "play the table at nginx and HAProxy too, which must be installed")

// other is a proxy that guard is compared with, and what came of the shapes there.
type other struct {
	Version  string            `json:"version"`
	Verdicts map[string]string `json:"verdicts"` // by ID of the shape
}

const (
	recorded = "testdata/others.json"
	document = "../../docs/framing.md"
)

// rival says how another proxy is started with the configuration that its documentation
// shows first: pass all to one upstream, keep connections. Limits of time are those that
// guard has here.
type rival struct {
	name    string
	args    []string // behind the name of the program; %s is the folder
	version *regexp.Regexp
	ask     string // the argument that shows the version
	config  string // for folder, address and upstream
}

var rivals = []rival{
	{
		name: "nginx", args: []string{"-p", "%s", "-e", "stderr", "-c", "%s/proxy.conf"}, ask: "-v", version: regexp.MustCompile(`nginx/([0-9.]+)`),
		config: `daemon off; master_process off; worker_processes 1; pid %[1]s/pid;
events { worker_connections 256; }
http {
  access_log off; client_header_timeout 1s; client_body_timeout 1s;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  upstream cluster { server %[3]s; keepalive 16; }
  server {
    listen %[2]s;
    location / { proxy_pass http://cluster; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`,
	},
	{
		name: "haproxy", args: []string{"-db", "-f", "%s/proxy.conf"}, ask: "-v", version: regexp.MustCompile(`version ([0-9.]+)`),
		config: `# folder %[1]s
defaults
  mode http
  timeout connect 5s
  timeout client 1s
  timeout server 5s
  timeout http-request 1s
frontend clients
  bind %[2]s
  default_backend cluster
backend cluster
  server node %[3]s
`,
	},
}

// TestCompare plays the table at the other proxies and, with -update, records what came
// of it. Nothing is wanted of them.
func TestCompare(t *testing.T) {
	if !*compare {
		t.Skip("without -compare")
	}
	others := map[string]other{}
	for _, r := range rivals {
		t.Run(r.name, func(t *testing.T) {
			s, version := r.start(t)
			o := other{version, map[string]string{}}
			for _, shape := range framing.Shapes(s.player.Auth) {
				p, seen := s.play(t, &shape)
				v := framing.Judge(&shape, &p, &seen)
				o.Verdicts[shape.ID] = v.String()
				if v.Kind > framing.AsItIs {
					t.Logf("%s: %v; faults %v, begun %q, stray %q", shape.ID, v, seen.Faults, seen.Begun, p.Stray)
				}
			}
			others[r.name] = o
		})
	}
	if !*update || t.Failed() {
		return
	}
	text, err := json.MarshalIndent(others, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recorded, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start runs the proxy until the test ends.
func (r *rival) start(t *testing.T) (*stage, string) {
	t.Helper()
	program, err := exec.LookPath(r.name)
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/" + r.name); err != nil {
			t.Fatalf("%s is not installed: %v", r.name, err)
		}
	}
	said, err := exec.Command(program, r.ask).CombinedOutput()
	version := r.version.FindSubmatch(said)
	if err != nil || version == nil {
		t.Fatalf("%s does not tell its version: %v\n%s", r.name, err, said)
	}
	c, dir, addr := startCluster(t), t.TempDir(), freeAddr(t)
	if err := os.WriteFile(filepath.Join(dir, "proxy.conf"), fmt.Appendf(nil, r.config, dir, addr, c.Addr()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := make([]string, len(r.args))
	for i, a := range r.args {
		args[i] = strings.ReplaceAll(a, "%s", dir)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if probe, err := net.Dial("tcp", addr); err == nil {
			_ = probe.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not listen", r.name)
		}
	}
	s := &stage{c, framing.Player{Addr: addr, Auth: authLine(admin), Deadline: 8 * time.Second}}
	s.await(t)
	return s, string(version[1])
}

// freeAddr returns an address that was free a moment ago: these proxies can't pick one.
func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// checkTable holds the table of docs/framing.md to what was found, and to what was
// recorded of the other proxies.
func checkTable(t *testing.T, all, limited map[string]framing.Verdict) {
	t.Helper()
	others := map[string]other{}
	text, err := os.ReadFile(recorded)
	if err == nil {
		err = json.Unmarshal(text, &others)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| shape | guard | nginx %s | HAProxy %s |\n|---|---|---|---|\n", others["nginx"].Version, others["haproxy"].Version)
	for _, s := range framing.Shapes("") {
		verdict := func(name string) string {
			if v := others[name].Verdicts[s.ID]; v != "" && !s.Racy {
				return v
			}
			return framing.Verdict{}.String()
		}
		guard := all[s.ID].String()
		if l := limited[s.ID].String(); l != guard {
			guard += "; limited: " + l
		}
		if s.Racy {
			continue // what is seen differs from run to run
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.ReplaceAll(s.Name(), "|", `\|`), guard, verdict("nginx"), verdict("haproxy"))
	}
	written.Block(t, document, "shapes", b.String(), *update)
}
