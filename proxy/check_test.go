package proxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"guard/config"
)

// checked is guard.yml of both sides, whose files a test changes.
type checked struct {
	a    *authority
	conf *config.Config
	dir  string
}

func newChecked(t *testing.T) *checked {
	t.Helper()
	k := &checked{a: newAuthority(t), dir: t.TempDir()}
	for _, name := range []string{"client", "second", "upstream"} {
		cert, key := k.a.issue(name, []string{"127.0.0.1"})
		copyFile(t, cert, k.path(name+".pem"))
		copyFile(t, key, k.path(name+".key"))
	}
	copyFile(t, k.a.file, k.path("users.pem"))
	copyFile(t, k.a.file, k.path("nodes.pem"))
	k.a.must(os.WriteFile(k.path("guard.yml"), []byte(`
tls:
  certificate: client.pem
  key: client.key
  certificates:
    - {certificate: second.pem, key: second.key}
  client_ca: users.pem
  client_auth: optional
upstream:
  urls: ["https://127.0.0.1:9201"]
  ca_file: nodes.pem
  client_certificate: upstream.pem
  client_key: upstream.key
`), 0o600))
	var err error
	k.conf, _, err = config.Load(k.path("guard.yml"), config.Overrides{})
	k.a.must(err)
	return k
}

func (k *checked) path(name string) string { return filepath.Join(k.dir, name) }

// TestCheckFiles: what serving would refuse is told with its place, and all of it.
func TestCheckFiles(t *testing.T) {
	f := func(file, from string, want string) {
		t.Helper()
		k := newChecked(t)
		copyFile(t, k.path(from), k.path(file))
		_, err := CheckFiles(k.conf, time.Now())
		if want == "" {
			if err != nil {
				t.Errorf("%s of %s: got %v; want no fault", file, from, err)
			}
			return
		}
		if err == nil || !strings.Contains(err.Error(), "config: 1 fault:\n  "+k.path("guard.yml:")+want) {
			t.Errorf("%s of %s: got %v; want %q", file, from, err, want)
		}
		_, served := serverMaterial(k.conf.TLS)
		if _, spoken := clientMaterial(k.conf.Upstream); served == nil && spoken == nil {
			t.Errorf("%s of %s: serving takes it", file, from)
		}
	}
	f("client.pem", "client.pem", "")
	f("client.key", "second.key", "3: tls.certificate: certificate ")
	f("client.pem", "client.key", "3: tls.certificate: certificate ")
	f("second.pem", "client.pem", "6: tls.certificates[0].certificate: certificate ")
	f("users.pem", "client.key", "7: tls.client_ca: no certificate in CA file ")
	f("nodes.pem", "upstream.key", "11: upstream.ca_file: no certificate in CA file ")
	f("upstream.pem", "guard.yml", "12: upstream.client_certificate: certificate ")

	k := newChecked(t)
	for _, name := range []string{"client.pem", "second.key", "users.pem", "nodes.pem", "upstream.pem"} {
		k.a.must(os.WriteFile(k.path(name), []byte("-----BEGIN"), 0o600))
	}
	if _, err := CheckFiles(k.conf, time.Now()); err == nil || !strings.HasPrefix(err.Error(), "config: 5 faults:") {
		t.Errorf("got %v; want all faults at once", err)
	}
}

// TestCheckValidity warns of certificates and CAs that are not valid, or not for long,
// each at its place.
func TestCheckValidity(t *testing.T) {
	k := newChecked(t)
	end := k.a.cert.NotAfter
	f := func(at time.Time, want string) {
		t.Helper()
		warnings, err := CheckFiles(k.conf, at)
		k.a.must(err)
		if want == "" {
			if len(warnings) > 0 {
				t.Errorf("at %v: got %v; want none", at, warnings)
			}
			return
		}
		places := map[string]bool{}
		for _, w := range warnings {
			places[w.Path] = strings.Contains(w.Msg, want)
		}
		for _, place := range []string{"tls.certificate", "tls.certificates[0].certificate", "tls.client_ca", "upstream.client_certificate", "upstream.ca_file"} {
			if !places[place] {
				t.Errorf("at %v: got %v; want a warning of %s with %q", at, warnings, place, want)
			}
		}
	}
	f(end.Add(-endsSoon-time.Minute), "")
	f(end.Add(-time.Hour), "ends at "+end.UTC().Format("2006-01-02"))
	f(end.Add(time.Hour), "has ended at ")
	f(time.Time{}.Add(-time.Hour), "begins at ")
}
