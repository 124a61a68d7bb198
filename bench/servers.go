package main

import (
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// policy is the security folder of the guard that is measured.
//
//go:embed testdata/security
var policy embed.FS

// password is that of all users in testdata/security.
const password = "bench"

func basic(user string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// startGuard runs a guard binary in front of upstream.
func (m *machine) startGuard(ctx context.Context, binary, upstream string) (process, error) {
	security := filepath.Join(m.dir, "security")
	files, err := fs.Sub(policy, "testdata/security")
	if err != nil {
		return process{}, fmt.Errorf("cannot read the policy: %w", err)
	}
	if err := os.CopyFS(security, files); err != nil {
		return process{}, fmt.Errorf("cannot write the policy: %w", err)
	}
	cmd := m.command(ctx, proxyCore, binary, "serve", "--listen", "127.0.0.1:0", "--internal", "127.0.0.1:0",
		"--upstream", "http://"+upstream, "--security", security)
	cmd.Env = append(os.Environ(), profileEnv+"="+filepath.Join(m.dir, "profile"))
	return m.logged(ctx, cmd, guardReady)
}

// guardReady finds in guard's log where it listens, and asks whether it is ready.
func guardReady(log string) (string, error) {
	for line := range strings.Lines(log) {
		var said struct{ Listen, Internal string }
		if json.Unmarshal([]byte(line), &said) != nil || said.Listen == "" || said.Internal == "" {
			continue
		}
		res, err := http.Get("http://" + said.Internal + "/readyz")
		if err != nil {
			return "", fmt.Errorf("cannot ask whether guard is ready: %w", err)
		}
		_ = res.Body.Close() // the status is enough
		if res.StatusCode != http.StatusOK {
			return "", fmt.Errorf("/readyz answers %d", res.StatusCode)
		}
		return said.Listen, nil
	}
	return "", errors.New("guard does not listen yet")
}

// buildGuard makes the binary that is measured. With profile it gets a file more,
// which the product does not have: on a signal it writes profiles.
func (m *machine) buildGuard(ctx context.Context, profile bool) (string, error) {
	binary := filepath.Join(m.dir, "guard")
	args := []string{"build", "-trimpath", "-o", binary}
	if profile {
		overlay, err := m.overlay()
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.CommandContext(ctx, "go", append(args, "guard/cmd/guard")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build guard: %w\n%s", err, out)
	}
	return binary, nil
}

// errNoNginx says how to get the column that is missing.
var errNoNginx = errors.New("nginx is not installed (apt-get install nginx-light): its column is left out")

// nginxConfig is a plain reverse proxy with kept connections. One process, as the
// others are one; the buffers hold the large answer, so that no file is written.
const nginxConfig = `daemon off; master_process off; worker_processes 1; pid %[1]s/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  keepalive_requests 10000000;
  upstream stub { server %[3]s; keepalive 64; keepalive_requests 10000000; }
  server {
    listen %[2]s;
    location / {
      proxy_pass http://stub; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffer_size 8k; proxy_buffers 16 8k;
    }
  }
}
`

// startNginx runs nginx in front of upstream, or returns errNoNginx.
func (m *machine) startNginx(ctx context.Context, upstream string) (process, error) {
	binary, err := exec.LookPath("nginx")
	if err != nil {
		if binary, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			return process{}, errNoNginx
		}
	}
	addr, err := freeAddr()
	if err != nil {
		return process{}, err
	}
	path := filepath.Join(m.dir, "nginx.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, nginxConfig, m.dir, addr, upstream), 0o600); err != nil {
		return process{}, fmt.Errorf("cannot write nginx's configuration: %w", err)
	}
	cmd := m.command(ctx, proxyCore, binary, "-p", m.dir, "-e", "stderr", "-c", path)
	return m.logged(ctx, cmd, func(string) (string, error) {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return "", fmt.Errorf("nginx does not listen yet: %w", err)
		}
		return addr, c.Close()
	})
}

// freeAddr returns an address that was free a moment ago: nginx can't pick one.
func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}
