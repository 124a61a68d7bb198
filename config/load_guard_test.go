package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const minimalGuard = "upstream: {urls: ['http://127.0.0.1:9201']}\n"

func parseGuard(text string, o Overrides) (*Config, []Warning, error) {
	var r report
	c := parse(&r, "guard.yml", []byte(text), o, testEnv)
	if err := r.faults.Err(); err != nil {
		return nil, r.warnings, err
	}
	return c, r.warnings, nil
}

func TestGuardDefaults(t *testing.T) {
	c, warnings, err := parseGuard(minimalGuard, Overrides{})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v", warnings, err)
	}
	if c.Listen != "127.0.0.1:9200" || c.Internal != "127.0.0.1:9290" || c.Security != "security" ||
		c.State.MaxAge != time.Minute || c.Limits.MaxUpstreamURI != 4096 || c.Policy.RolesMappingResolution != MappingOnly ||
		c.Policy.DFMEmptyOverridesAll || c.TLS.Enabled() || c.TLS.ClientAuth != ClientAuthNone || c.Log.Level != LogInfo || c.Auth.CacheTTL == 0 {
		t.Errorf("defaults are %+v", c)
	}
}

// TestUserInFlight: without a word of its own, the room of one user follows that of all,
// and always lets a body pass.
func TestUserInFlight(t *testing.T) {
	f := func(limits string, want int64) {
		t.Helper()
		c, _, err := parseGuard(minimalGuard+"limits: {"+limits+"}\n", Overrides{})
		if err != nil || c.Limits.MaxUserInFlight != want {
			t.Errorf("%s: got %+v, %v; want %d", limits, c, err, want)
		}
	}
	f("", 256<<20)
	f("max_in_flight: 1000000000", 500_000_000)
	f("max_in_flight: 20000000", 16<<20)
	f("max_in_flight: 20000000, max_user_in_flight: 20000000", 20_000_000)
}

// TestNoFile starts guard by flags alone.
func TestNoFile(t *testing.T) {
	c, _, err := Load("", Overrides{
		Listen: "127.0.0.1:0", Internal: "127.0.0.1:0", Upstream: []string{"http://127.0.0.1:9201"}, Security: "./sec", LogLevel: "debug",
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:0" || c.Security != "./sec" || c.Log.Level != LogDebug || c.Limits.MaxDepth != 64 {
		t.Errorf("%+v", c)
	}
	fail := func(o Overrides, want ...string) {
		t.Helper()
		_, _, err := Load("", o)
		checkFaults(t, err, want)
	}
	fail(Overrides{}, "command line: upstream.urls: no URL; want the URL of the cluster, such as http://127.0.0.1:9201, in --upstream or in the file of --config")
	fail(Overrides{Upstream: []string{"cluster:9200"}, Listen: "9200", LogLevel: "loud"},
		`--listen: "9200"; want host:port, such as 127.0.0.1:9200 or :9200`,
		`--log-level: "loud"; want one of "debug", "info", "warn", "error"`,
		`--upstream: [0]: no scheme in "cluster:9200"; want "http://cluster:9200" or "https://cluster:9200"`)
}

// writeIn writes a file into a folder and returns its path.
func writeIn(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGuardFromDisk(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string { return writeIn(t, dir, name, text) }
	write("ca.pem", "x")
	write("password", "correct horse\r\n")
	for _, name := range []string{"a.pem", "a.key", "b.pem", "b.key"} {
		write(name, "x")
	}
	path := write("guard.yml", `
listen: ":9200"
security: policy
upstream:
  urls: ["https://a:9200", "https://b:9200/"]
  ca_file: ca.pem
  username: guard
  password_file: password
timeouts: {connect: 1s500ms}
tls: {certificate: a.pem, key: a.key, certificates: [{certificate: b.pem, key: b.key}]}
limits: {max_body: 1048576}
policy:
  compliance_salt: 0123456789abcdef
  system_indices: {enabled: true, indices: [".plugins-*"]}
`)
	c, warnings, err := Load(path, Overrides{Listen: "127.0.0.1:1"})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v", warnings, err)
	}
	if c.Listen != "127.0.0.1:1" || c.Security != filepath.Join(dir, "policy") || c.Upstream.CAFile != filepath.Join(dir, "ca.pem") ||
		c.Upstream.Password.Reveal() != "correct horse" || c.Timeouts.Connect != 1500*time.Millisecond || c.Timeouts.Idle != 2*time.Minute ||
		c.Limits.MaxBody != 1<<20 || c.Policy.MaskSalt.Reveal() != "0123456789abcdef" {
		t.Errorf("%+v", c)
	}
	var pairs []string
	for _, pair := range c.TLS.Pairs() {
		pairs = append(pairs, filepath.Base(pair.Certificate), pair.Key)
	}
	if diff := cmp.Diff([]string{"a.pem", filepath.Join(dir, "a.key"), "b.pem", filepath.Join(dir, "b.key")}, pairs); diff != "" {
		t.Errorf("certificates (-want +got):\n%s", diff)
	}
}

// TestGuardWithoutItsFiles: a file that guard.yml names and that can't be used is a fault of
// the key that names it.
func TestGuardWithoutItsFiles(t *testing.T) {
	dir := t.TempDir()
	writeIn(t, dir, "ca.pem", "x")
	path := writeIn(t, dir, "guard.yml", "upstream:\n  urls: ['https://a:9200']\n  ca_file: ca.pem\n  username: guard\n  password_file: password\n")
	failPassword := func(text, want string) {
		t.Helper()
		writeIn(t, dir, "password", text)
		_, _, err := Load(path, Overrides{})
		checkFaults(t, err, []string{path + ":5: upstream.password_file: " + want + "; want a file with the password in one line"})
	}
	failPassword("", "file is empty")
	failPassword("\n", "file is empty")
	failPassword("a\nb\n", "file has more than one line")

	if err := os.Remove(filepath.Join(dir, "ca.pem")); err != nil {
		t.Fatal(err)
	}
	_, _, err := Load(path, Overrides{})
	checkFaults(t, err, []string{path + ":3: upstream.ca_file: open " + filepath.Join(dir, "ca.pem") + ": no such file or directory; want a file that guard can read"})

	missing := filepath.Join(dir, "none.yml")
	_, _, err = Load(missing, Overrides{})
	checkFaults(t, err, []string{missing + ": cannot open: no such file or directory; want a file that guard can read"})
}

// refusedGuard returns a check that a guard.yml has exactly these faults.
func refusedGuard(t *testing.T) func(text string, want ...string) {
	return func(text string, want ...string) {
		t.Helper()
		_, _, err := parseGuard(text, Overrides{})
		checkFaults(t, err, want)
	}
}

// refusedLine is refusedGuard for faults of one line, added to a guard.yml without any.
func refusedLine(t *testing.T) func(text string, want ...string) {
	f := refusedGuard(t)
	return func(text string, want ...string) {
		t.Helper()
		for i := range want {
			want[i] = "guard.yml:2: " + want[i]
		}
		f(minimalGuard+text, want...)
	}
}

func TestRefusedForm(t *testing.T) {
	f := refusedGuard(t)
	f("", "guard.yml:1: file is empty; want a map of keys")
	f("listen: [\n", "guard.yml:1: did not find expected node content; want each bracket closed, and commas between the items")
	f("lisen: x\n", `guard.yml:1: lisen: unknown key "lisen"; want one of auth, compatibility, cors, forwarded_header, internal, internal_hosts, limits, listen, listen_mode, log, policy, proxy_protocol, publish_address, security, state, timeouts, tls, trusted_proxies, upstream`)
	f("listen: &a x\ninternal: *a\n",
		`guard.yml:1: listen: anchor "&a"; want the text itself, written out where it is used`,
		`guard.yml:2: internal: alias "*a"; want the text itself, written out where it is used`)
	f("upstream: {urls: ['http://a:1'], username: u, password: 'x${environment}hunter2'}\n", `guard.yml:1: upstream.password: malformed environment variable; want ${env.NAME}, ${envbase64.NAME} or ${envbc.NAME}, with a default as in ${env.NAME:-default}`)
	f("upstream: {urls: ['http://a:1'], password: '${env.NONE}'}\n", `guard.yml:1: upstream.password: environment variable "NONE" is not set; want it set, or a default: ${env.NONE:-…}`)
}

func TestRefusedListen(t *testing.T) {
	f, one := refusedGuard(t), refusedLine(t)
	one("listen: localhost\n", `listen: "localhost"; want host:port, such as 127.0.0.1:9200 or :9200`)
	one("listen: ':http'\n", `listen: port "http"; want host:port, such as 127.0.0.1:9200 or :9200`)
	one("listen: ':65536'\n", `listen: port "65536"; want host:port, such as 127.0.0.1:9200 or :9200`)
	one("listen: unix:guard.sock\n", `listen: path "guard.sock"; want an absolute path, such as unix:/run/guard/guard.sock`)
	one("listen: 'unix:'\n", `listen: path ""; want an absolute path, such as unix:/run/guard/guard.sock`)
	one("listen: unix:/"+strings.Repeat("x", 107)+"\n", `listen: a path of 108 bytes; want at most 107 bytes`)
	for _, name := range []string{"", "guard:9290", "a b", "https://guard", "[::1]", strings.Repeat("x", 256)} {
		one("internal_hosts: [metrics.example, '"+name+"']\n", `internal_hosts[1]: "`+name+`"; want a name without a port, such as guard.search.svc`)
	}
	one("listen_mode: 0600\n", `listen_mode: set, and listen is no socket; want a socket to listen on, or no mode`)
	for _, mode := range []string{"66", "0888", "1777", "rw", "", "-660", "0o660"} {
		f("upstream: {urls: ['http://127.0.0.1:9201']}\nlisten: unix:/run/guard.sock\nlisten_mode: '"+mode+"'\n",
			`guard.yml:3: listen_mode: "`+mode+`"; want octal digits, such as 0660`)
	}
}

func TestRefusedProxies(t *testing.T) {
	f, one := refusedGuard(t), refusedLine(t)
	f(minimalGuard+"proxy_protocol: true\n", `guard.yml:1: trusted_proxies: not set, and proxy_protocol is; want the addresses of the proxies that name their clients`)
	one("trusted_proxies: [unix]\n", `trusted_proxies: unix, and listen is no socket; want a socket to listen on, or no unix`)
	f(minimalGuard+"listen: unix:/run/guard.sock\nproxy_protocol: true\ntrusted_proxies: [10.0.0.1]\n",
		`guard.yml:4: trusted_proxies: no unix, and proxy_protocol is set for a socket; want unix, or no proxy_protocol`)
	for _, text := range []string{"10.0.0", "10.0.0.1/8", "10.0.0.0/33", "proxy.example", "fe80::1%eth0", "::ffff:10.0.0.1", "::ffff:10.0.0.0/104", "", "10.0.0.1:80", "*"} {
		one("trusted_proxies: ['"+text+"']\n", `trusted_proxies[0]: "`+text+`"; want an address, a CIDR such as 10.1.0.0/16, or unix`)
	}
	one("forwarded_header: X-Real-IP\n", `forwarded_header: "X-Real-IP"; want one of "x-forwarded-for", "forwarded", "none"`)
	one("forwarded_header: forwarded\n", `forwarded_header: "forwarded", and no proxy is trusted; want trusted_proxies as well: nobody else's header is read`)
	f(minimalGuard+"forwarded_header: none\ntrusted_proxies: ['::1']\n",
		`guard.yml:3: trusted_proxies: set, and nothing that they say is read; want a forwarded_header, proxy_protocol, or no proxies`)
}

func TestRefusedTLS(t *testing.T) {
	one := refusedLine(t)
	one("tls: {certificate: c.pem}\n", `tls.key: not set, and certificate is; want both or none`)
	one("tls: {key: k.pem}\n", `tls.certificate: not set, and key is; want both or none`)
	one("tls: {client_auth: always}\n", `tls.client_auth: "always"; want one of "none", "optional", "required"`,
		`tls.client_ca: not set, and client_auth is "always"; want the file of the CAs that sign client certificates`)
	one("tls: {certificate: c, key: k, client_auth: required}\n", `tls.client_ca: not set, and client_auth is "required"; want the file of the CAs that sign client certificates`)
	one("tls: {certificate: c, key: k, client_ca: a}\n", `tls.client_auth: client certificates are not asked for; want one of "optional", "required", or no client_ca`)
	one("tls: {client_ca: a, client_auth: required}\n", `tls.certificate: not set, and client_ca is; want a certificate and key: without them clients are served without TLS`)
	one("tls: {min_version: 1.3}\n", `tls.certificate: not set, and min_version is; want a certificate and key: without them clients are served without TLS`)
	one("tls: {cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}\n", `tls.certificate: not set, and cipher_suites is; want a certificate and key: without them clients are served without TLS`)
	one("tls: {certificate: c, key: k, min_version: 1.1}\n", `tls.min_version: "1.1"; want one of "1.2", "1.3"`)
	one("tls: {certificate: c, key: k, min_version: 1.3, cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]}\n",
		`tls.cipher_suites: 1 suites, and min_version is 1.3; want no suites: they are those of TLS 1.2`)
	one("tls: {certificate: c, key: k, cipher_suites: [TLS_RSA_WITH_RC4_128_SHA, TLS_AES_128_GCM_SHA256]}\n",
		`tls.cipher_suites[0]: "TLS_RSA_WITH_RC4_128_SHA" is no safe suite of TLS 1.2; want one of `+strings.Join(cipherSuites(), ", "),
		`tls.cipher_suites[1]: "TLS_AES_128_GCM_SHA256" is no safe suite of TLS 1.2; want one of `+strings.Join(cipherSuites(), ", "))
	one("tls: {certificates: [{certificate: c}, {key: k}, {}]}\n",
		`tls.certificates[0].key: not set, and certificate is; want both or none`,
		`tls.certificates[1].certificate: not set, and key is; want both or none`,
		`tls.certificates[2]: neither certificate nor key; want the files of a certificate and its key`)
}

// TestRefusedBounds: limits, times and what is remembered.
func TestRefusedBounds(t *testing.T) {
	one := refusedLine(t)
	one("timeouts: {read: 30}\n", `timeouts.read: "30"; want a duration with its unit, such as "500ms", "30s" or "5m"`)
	one("timeouts: {read: 0s}\n", `timeouts.read: 0s; want more than 0`)
	one("timeouts: {read: [1s]}\n", `timeouts.read: a list; want a duration with its unit, such as "500ms", "30s" or "5m"`)
	one("state: {poll: 2m}\n", `state.poll: 2m0s; want less than max_age, or the state would always be too old`)
	one("limits: {min_rate: -1}\n", `limits.min_rate: -1; want 0 or more`)
	one("timeouts: {stall: 0s}\n", `timeouts.stall: 0s; want more than 0`)
	one("limits: {max_depth: 0}\n", `limits.max_depth: 0; want more than 0`)
	one("limits: {max_depth: 1e3}\n", `limits.max_depth: "1e3"; want a whole number`)
	one("limits: {max_in_flight: 1000}\n", `limits.max_in_flight: 1000; want at least max_body, or no such body could ever pass`)
	one("limits: {max_user_in_flight: 1000}\n", `limits.max_user_in_flight: 1000; want at least max_body, or no such body could ever pass`)
	one("limits: {max_in_flight: 20000000, max_user_in_flight: 20000001}\n", `limits.max_user_in_flight: 20000001; want at most max_in_flight`)
	one("auth: {cache_ttl: -1s, cache_size: 0}\n", `auth.cache_ttl: -1s; want 0 for no cache, or more`, `auth.cache_size: 0; want more than 0`)
	one("auth: {failed_ttl: -1s, failed_logins_per_minute: -1}\n", `auth.failed_ttl: -1s; want 0 for none, or more`, `auth.failed_logins_per_minute: -1; want 0 for no bound, or more`)
	one("limits: {max_address_connections: -1, max_connections: 0}\n", `limits.max_connections: 0; want more than 0`, `limits.max_address_connections: -1; want 0 for no bound, or more`)
}

// TestRefusedGuard: all other settings.
func TestRefusedGuard(t *testing.T) {
	one := refusedLine(t)
	one("internal: 127.0.0.1:9200\n", `internal: "127.0.0.1:9200", the same as listen; want an address of its own: probes and metrics are not for clients`)
	one("security: ''\n", `security: ""; want the path of the security folder`)
	one("publish_address: guard\n", `publish_address: "guard"; want host:port by which clients reach guard, hide, keep, or nothing`)
	one("publish_address: https://guard:9200\n", `publish_address: "https://guard:9200"; want host:port by which clients reach guard, hide, keep, or nothing`)
	one("publish_address: :9200\n", `publish_address: ":9200"; want host:port by which clients reach guard, hide, keep, or nothing`)
	one("publish_address: guard:0\n", `publish_address: port "0"; want host:port by which clients reach guard, hide, keep, or nothing`)
	one("compatibility: opensearch\n", `compatibility: "opensearch"; want one of "none", "elasticsearch"`)
	one("log: {level: trace}\n", `log.level: "trace"; want one of "debug", "info", "warn", "error"`)
	one("policy: {roles_mapping_resolution: both}\n", `policy.roles_mapping_resolution: "both"; want one of "MAPPING_ONLY", "BACKENDROLES_ONLY", "BOTH"`)
	one("policy: {compliance_salt: short}\n", `policy.compliance_salt: 5 bytes; want at least 16 bytes`)
	one("policy: {masked_fields_algorithm_default: CRC32}\n", `policy.masked_fields_algorithm_default: "CRC32"; want one of BLAKE2B_LEGACY_DEFAULT, MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512, SHA-512/224, SHA-512/256, SHA3-224, SHA3-256, SHA3-384, SHA3-512`)
	one("policy: {admin_dn: ['CN=a', boss]}\n", `policy.admin_dn[1]: "boss"; want a distinguished name, such as CN=ada,OU=search`)
	one("policy: {impersonation: {a: [b, '/[/']}}\n", "policy.impersonation.a[1]: cannot parse pattern \"/[/\": unclosed '['; want a regular expression")
	one("policy: {system_indices: {indices: ['/[/']}}\n", "policy.system_indices.indices[0]: cannot parse pattern \"/[/\": unclosed '['; want a regular expression")
}

func TestRefusedCORS(t *testing.T) {
	f := func(keys string, want ...string) {
		t.Helper()
		for i := range want {
			want[i] = "guard.yml:2: cors." + want[i]
		}
		_, _, err := parseGuard(minimalGuard+"cors: {"+keys+"}\n", Overrides{})
		checkFaults(t, err, want)
	}
	const origin = "want scheme and host, with the port if it is not the usual one, such as https://app.example"
	const stranger = " matches every site, and allow_credentials is set; want the sites alone that may use a browser's credentials, or no allow_credentials"
	f("allow_origins: ['*']", "enabled: not set, and what it would allow is; want true, or no origins and credentials")
	f("allow_credentials: true", "enabled: not set, and what it would allow is; want true, or no origins and credentials")
	f("enabled: true", "allow_origins: none, and enabled is true; want the origins that are allowed")
	for _, text := range []string{"app.example", "https://app.example/", "https://app.example/x", "https://App.example", "https://", "https://me@app.example", "https://a.example https://b.example", "''", "/"} {
		f("enabled: true, allow_origins: ["+text+"]", `allow_origins[0]: "`+strings.Trim(text, "'")+`"; `+origin)
	}
	f("enabled: true, allow_origins: ['https://*.example?']", `allow_origins[0]: "https://*.example?"; want an origin in which * stands for any characters`)
	f("enabled: true, allow_origins: ['/[/']", "allow_origins[0]: cannot parse pattern \"/[/\": unclosed '['; want a regular expression")
	for _, text := range []string{"*", "**", "https://*", "http*", "*://*", "/.*/", "/https?:.*/", "null"} {
		f("enabled: true, allow_credentials: true, allow_origins: ['https://app.example', '"+text+"']", `allow_origins[1]: "`+text+`"`+stranger)
	}
	f("enabled: true, allow_origins: ['*'], allow_methods: [get], allow_headers: ['a b', ''], expose_headers: ['X:'], max_age: -1s",
		`allow_methods[0]: "get"; want one of "OPTIONS", "HEAD", "GET", "POST", "PUT", "DELETE", "PATCH"`,
		`allow_headers[0]: "a b"; want the name of a header`, `allow_headers[1]: ""; want the name of a header`,
		`expose_headers[0]: "X:"; want the name of a header`, `max_age: -1s; want 0 or more`)
	if _, _, err := parseGuard(minimalGuard+
		"cors: {enabled: true, allow_credentials: true, allow_origins: ['https://app.example:8443', 'https://*.app.example', '/https://app[0-9]+\\.example/', 'chrome-extension://abc']}\n", Overrides{}); err != nil {
		t.Error(err)
	}
}

func TestRefusedUpstream(t *testing.T) {
	f := func(keys string, want ...string) {
		t.Helper()
		for i := range want {
			want[i] = "guard.yml:1: upstream." + want[i]
		}
		_, _, err := parseGuard("upstream: {"+keys+"}\n", Overrides{})
		checkFaults(t, err, want)
	}
	const form = "want scheme, host and port, such as http://127.0.0.1:9201"
	f("", "urls: no URL; want the URL of the cluster, such as http://127.0.0.1:9201, in --upstream or in the file of --config")
	f("urls: ['a:9200']", `urls[0]: no scheme in "a:9200"; want "http://a:9200" or "https://a:9200"`)
	f("urls: ['ftp://a:9200']", `urls[0]: scheme "ftp"; want http or https`)
	f("urls: ['me:secret@a:9200']", `urls[0]: scheme "me"; want http or https`)
	f("urls: ['http://']", `urls[0]: no host in "http://"; `+form)
	f("urls: ['http://:9200']", `urls[0]: no host in "http://:9200"; `+form)
	f("urls: ['http://a b']", `urls[0]: cannot parse the URL; `+form)
	f("urls: ['http://me:secret@a']", `urls[0]: the URL holds an account; want username and password in keys of their own`)
	f("urls: ['http://a:9200/es']", `urls[0]: path "/es"; want no path: guard checks paths as the cluster reads them`)
	f("urls: ['http://a?x=y']", `urls[0]: "http://a?x=y" goes on after the host; `+form)
	f("urls: ['http://a', 'https://b:', 'http://[::1]:0', 'https://c:65536', 'https://d:65535']",
		`urls[0]: port "" in "http://a"; want a port from 1 to 65535, as in http://a:9200`,
		`urls[1]: port "" in "https://b:"; want a port from 1 to 65535, as in https://b:9200`,
		`urls[2]: port "0" in "http://[::1]:0"; want a port from 1 to 65535, as in http://[::1]:9200`,
		`urls[3]: port "65536" in "https://c:65536"; want a port from 1 to 65535, as in https://c:9200`)
	f("urls: ['http://a:9200', 'http://a:9200']", `urls[1]: "http://a:9200" again; want each URL once`)
	f("urls: ['http://a:9200'], ca_file: x", `ca_file: "x", and no URL is https; want an https URL, or no TLS settings`)
	f("urls: ['http://a:9200'], min_version: 1.3", `min_version: "1.3", and no URL is https; want an https URL, or no TLS settings`)
	f("urls: ['http://a:9200'], cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]", `cipher_suites: 1 suites, and no URL is https; want an https URL, or no TLS settings`)
	f("urls: ['https://a:9200'], min_version: 1.4", `min_version: "1.4"; want one of "1.2", "1.3"`)
	f("urls: ['https://a:9200'], client_key: x", `client_certificate: not set, and client_key is; want both or none`)
	f("urls: ['https://a:9200'], username: u", `password: not set, and username is; want password or password_file`)
	f("urls: ['https://a:9200'], password: p", `username: not set, and its password is; want the name of the account`)
	f("urls: ['https://a:9200'], username: u, password: p, password_file: f", `password_file: set, and password is set too; want one of both`)
	f("urls: ['https://a:9200'], username: 'u:v', password: p", `username: "u:v"; want a name without ':', where HTTP Basic ends it`)
	f("urls: ['https://a:9200'], max_connections: 0", `max_connections: 0; want more than 0`)
	f("urls: ['https://a:9200'], max_user_connections: -1", `max_user_connections: -1; want 0 for no more than are free for others, or more`)
	f("urls: ['https://a:9200'], max_queue: -1, queue_timeout: 0s, slow_start: -1s",
		`max_queue: -1; want 0 or more`, `queue_timeout: 0s; want more than 0`, `slow_start: -1s; want 0 or more`)
	f("urls: ['https://a:9200', 'http://b:9200'], discovery: {enabled: true, interval: 0s}",
		`urls: http and https; want one scheme: it is that of the nodes that discovery finds`, `discovery.interval: 0s; want more than 0`)
}

func TestGuardWarnings(t *testing.T) {
	f := func(url string, want ...string) {
		t.Helper()
		_, warnings, err := parseGuard("upstream: {urls: ['"+url+"'], username: u, password: p}\n", Overrides{})
		if err != nil {
			t.Error(err)
		}
		var got []string
		for _, w := range warnings {
			got = append(got, w.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", url, diff)
		}
	}
	f("http://127.0.0.1:9201")
	f("http://[::1]:9201")
	f("http://localhost:9201")
	f("https://cluster:9200")
	f("http://cluster:9200", `guard.yml:1: upstream.urls[0]: the account of the cluster is sent in clear to "cluster:9200"; want https`)
}

// TestDiscoveryInClear: by http the account is no help to discovery.
func TestDiscoveryInClear(t *testing.T) {
	f := func(upstream string, want int) {
		t.Helper()
		_, warnings, err := parseGuard("upstream: {"+upstream+"}\n", Overrides{})
		if err != nil || len(warnings) != want {
			t.Errorf("%s: %v, %v; want %d warnings", upstream, warnings, err, want)
		}
		if want > 0 && warnings[0].String() != "guard.yml:1: upstream.discovery.enabled: by http only nodes are taken up that answer without the account; want https" {
			t.Errorf("%s: %v", upstream, warnings)
		}
	}
	f("urls: ['http://127.0.0.1:9201'], discovery: {enabled: true}", 0)
	f("urls: ['http://127.0.0.1:9201'], username: u, password: p", 0)
	f("urls: ['https://cluster:9200'], username: u, password: p, discovery: {enabled: true}", 0)
	f("urls: ['http://127.0.0.1:9201'], username: u, password: p, discovery: {enabled: true}", 1)
}

// TestLimitThatBindsNobody: less for all than one user may have.
func TestLimitThatBindsNobody(t *testing.T) {
	_, warnings, err := parseGuard(minimalGuard+"limits: {max_concurrent: 100, max_user_concurrent: 101}\n", Overrides{})
	if err != nil || len(warnings) != 1 || warnings[0].String() != `guard.yml:2: limits.max_user_concurrent: 101 binds nobody: all together may have 100; want less than max_concurrent` {
		t.Errorf("got %v, %v", warnings, err)
	}
}

// TestBoundOfNoUser: one user may take all connections to a node.
func TestBoundOfNoUser(t *testing.T) {
	f := func(upstream string, want ...string) {
		t.Helper()
		_, warnings, err := parseGuard("upstream: {urls: ['https://a:9200'], "+upstream+"}\n", Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range warnings {
			got = append(got, w.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q; want %q", upstream, got, want)
		}
	}
	f("max_connections: 8, max_user_connections: 8", "guard.yml:1: upstream.max_user_connections: 8 lets one user take all of them; want less than max_connections")
	f("max_connections: 8, max_user_connections: 7")
	f("max_connections: 1")
}

// TestTrustEverybody: it can be wanted, where the network keeps others away.
func TestTrustEverybody(t *testing.T) {
	_, warnings, err := parseGuard(minimalGuard+"trusted_proxies: [10.0.0.0/8, '::1', 0.0.0.0/0]\n", Overrides{})
	if err != nil || len(warnings) != 1 || warnings[0].String() != `guard.yml:2: trusted_proxies[2]: "0.0.0.0/0" is everybody: each client may name its address itself; want the addresses of the proxies alone` {
		t.Errorf("got %v, %v", warnings, err)
	}
}

// TestGuardEnvironment holds that a secret may come from the environment.
func TestGuardEnvironment(t *testing.T) {
	c, _, err := parseGuard("upstream: {urls: ['https://a:9200'], username: '${env.ROLE}', password: '${env.PASS}'}\n", Overrides{})
	if err != nil || c.Upstream.Username != "readall" || c.Upstream.Password.Reveal() != "correct horse" {
		t.Errorf("%v", err)
	}
}

// FuzzParseGuard holds that no guard.yml makes the loader panic, and that faults
// name file and line.
func FuzzParseGuard(f *testing.F) {
	f.Add(minimalGuard)
	f.Add("upstream: {urls: ['http://me:hunter2@a'], password: hunter2}\npolicy: {compliance_salt: hunter2}\n")
	f.Add("tls: {certificate: a, key: b, client_auth: required}\ntimeouts: {read: 1h}\nlimits: {max_body: 1}\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, _, err := parseGuard(text, Overrides{})
		if (c == nil) != (err != nil) {
			t.Fatalf("config %v with error %v", c, err)
		}
		if err == nil {
			return
		}
		faults, ok := err.(Faults) //nolint:errorlint // Load promises this type
		if !ok || len(faults) == 0 {
			t.Fatalf("error %v; want faults", err)
		}
		for _, fault := range faults {
			if fault.File == "" || fault.Line < 1 || fault.Msg == "" {
				t.Fatalf("fault %+v", fault)
			}
		}
	})
}
