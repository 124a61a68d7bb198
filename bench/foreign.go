package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// foreignProxy is a proxy that others made, as a plain reverse proxy with kept
// connections to both sides. Each is one process with one thread, as guard is one.
type foreignProxy struct {
	name, pack string // also of the program; the Debian package
	// config is a format of: folder, address, upstream, connections.
	config string
	args   func(dir, config string) []string
}

var foreign = []foreignProxy{
	{
		name: nginxName, pack: "nginx-light", config: nginxConfig,
		args: func(dir, config string) []string { return []string{"-p", dir, "-e", "stderr", "-c", config} },
	},
	{
		name: haproxyName, pack: "haproxy", config: haproxyConfig,
		args: func(_, config string) []string { return []string{"-db", "-f", config} },
	},
}

// errNotInstalled means that a column is left out.
var errNotInstalled = errors.New("not installed")

// nginxConfig writes no file for the answers that its buffers can't hold.
const nginxConfig = `daemon off; master_process off; worker_processes 1; worker_rlimit_nofile %[5]d; pid %[1]s/nginx.pid;
events { worker_connections %[5]d; }
http {
  access_log off;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  keepalive_requests 10000000; keepalive_timeout 10m;
  upstream stub { server %[3]s; keepalive 64; keepalive_requests 10000000; }
  server {
    listen %[2]s backlog=4096;
    location / {
      proxy_pass http://stub; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffer_size 8k; proxy_buffers 16 8k; proxy_max_temp_file_size 0;
    }
  }
}
`

const haproxyConfig = `global
  nbthread 1
  maxconn %[4]d
  no strict-limits # as many descriptors as there are
defaults
  mode http
  timeout connect 5s
  timeout client 10m
  timeout http-keep-alive 10m
  timeout server 5m
  http-reuse always
frontend clients
  bind %[2]s backlog 4096
  default_backend cluster
backend cluster
  server stub %[3]s
`

// find returns the path of the program.
func (f foreignProxy) find() (string, error) {
	for _, name := range []string{f.name, "/usr/sbin/" + f.name} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is %w (apt-get install %s): its column is left out", f.name, errNotInstalled, f.pack)
}

var versionNumber = regexp.MustCompile(`[0-9]+\.[0-9]+(\.[0-9]+)?`)

// version names the program with its version; "" if it is not installed.
func (f foreignProxy) version() string {
	path, err := f.find()
	if err != nil {
		return ""
	}
	out, err := exec.Command(path, "-v").CombinedOutput()
	if err != nil {
		return f.name
	}
	return f.name + " " + versionNumber.FindString(string(out))
}

// startForeign runs it in front of upstream, for up to conns clients.
func (m *machine) startForeign(ctx context.Context, f foreignProxy, upstream string, conns int) (process, error) {
	binary, err := f.find()
	if err != nil {
		return process{}, err
	}
	addr, err := freeAddr()
	if err != nil {
		return process{}, err
	}
	dir, err := os.MkdirTemp(m.dir, f.name+"-")
	if err != nil {
		return process{}, fmt.Errorf("cannot make a folder for %s: %w", f.name, err)
	}
	path := filepath.Join(dir, f.name+".conf")
	beside := 256 + conns/8 // connections to the stub, and files; nginx ends idle clients where fewer than one in 16 are free
	if err := os.WriteFile(path, fmt.Appendf(nil, f.config, dir, addr, upstream, conns, conns+beside), 0o600); err != nil {
		return process{}, fmt.Errorf("cannot write the configuration of %s: %w", f.name, err)
	}
	return m.logged(ctx, m.command(ctx, proxyCore, binary, f.args(dir, path)...), func(string) (process, error) {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return process{}, fmt.Errorf("%s does not listen yet: %w", f.name, err)
		}
		return process{addr: addr}, c.Close()
	})
}

// freeAddr returns an address that was free a moment ago: these programs can't pick one.
func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("cannot find a free port: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}
