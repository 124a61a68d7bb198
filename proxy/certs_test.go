package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"guard/config"
	"guard/gate"
)

// copyFile puts the content of one file in the place of another's.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// metric returns the value of a gauge or counter; label is the value of its label.
func (g *guarded) metric(name, label string) float64 {
	g.t.Helper()
	families, err := g.reg.Gather()
	if err != nil {
		g.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	g.t.Fatalf("no metric %s %s", name, label)
	return 0
}

// followed is a material of one file, whose text is what works. Texts that begin with
// "bad" are faults.
type followed struct {
	t     *testing.T
	m     *material
	file  string
	told  []string
	swaps int
}

var errBad = errors.New("bad")

func newFollowed(t *testing.T, text string) *followed {
	t.Helper()
	w := &followed{t: t, file: filepath.Join(t.TempDir(), "file")}
	w.write(text)
	m, err := newMaterial("client", []string{w.file}, func(c contents) (*generation, error) {
		text, err := c.file(w.file)
		if strings.HasPrefix(string(text), "bad") {
			err = errBad
		}
		return &generation{account: string(text)}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	m.swapped = func() { w.swaps++ }
	m.told = func(_ *material, swapped bool, err error) {
		switch {
		case err != nil:
			w.told = append(w.told, "fault")
		case swapped:
			w.told = append(w.told, "swapped")
		default:
			w.told = append(w.told, "taken back")
		}
	}
	w.m = m
	return w
}

func (w *followed) write(text string) {
	w.t.Helper()
	if err := os.WriteFile(w.file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// failure is what came of a reload, whether it changed anything or not.
func failure(_ bool, err error) error { return err }

// look looks once and compares what is at work, and what was told since the last time.
func (w *followed) look(works string, faulty bool, told ...string) {
	w.t.Helper()
	w.m.look(w.t.Context())
	w.check(works, faulty, told)
}

// reload is look for who asks for it.
func (w *followed) reload(want error, works string, faulty bool, told ...string) {
	w.t.Helper()
	if err := failure(w.m.reload(w.t.Context())); !errors.Is(err, want) {
		w.t.Errorf("reload: %v; want %v", err, want)
	}
	w.check(works, faulty, told)
}

func (w *followed) check(works string, faulty bool, told []string) {
	w.t.Helper()
	if got := w.m.load().account; got != works || (w.m.fault.Load() != nil) != faulty || !slices.Equal(w.told, told) {
		w.t.Errorf("at work is %q, faulty %v, told %q; want %q, %v, %q", got, w.m.fault.Load() != nil, w.told, works, faulty, told)
	}
	w.told = nil
}

// TestMaterialIsLookedAt: files are put to work by two looks that see the same, also where
// a link leads to another one, as a mounted Secret does. A fault keeps what is at work
// and is told once.
func TestMaterialIsLookedAt(t *testing.T) {
	w := newFollowed(t, "one")
	w.look("one", false)
	w.write("two")
	w.look("one", false) // it may be half written
	w.look("two", false, "swapped")
	w.look("two", false)
	w.write("bad")
	w.look("two", false)
	w.look("two", true, "fault")
	w.look("two", true)
	w.reload(errBad, "two", true)
	if err := errors.Join(os.WriteFile(w.file+".4", []byte("four"), 0o600), os.Symlink(w.file+".4", w.file+".link"), os.Rename(w.file+".link", w.file)); err != nil {
		t.Fatal(err)
	}
	w.look("two", true)
	w.look("four", false, "swapped")
	if w.swaps != 2 {
		t.Errorf("swapped %d times; want 2", w.swaps)
	}
}

// TestMaterialIsReloaded: asked to, files are put to work at once. Files that hold again
// what is at work make no new generation; what can't be read is a fault.
func TestMaterialIsReloaded(t *testing.T) {
	w := newFollowed(t, "one")
	before := w.m.load()
	w.reload(nil, "one", false)
	w.write("bad")
	w.reload(errBad, "one", true, "fault")
	w.reload(errBad, "one", true)
	w.write("bad as well")
	w.reload(errBad, "one", true, "fault")
	w.write("one")
	w.reload(nil, "one", false, "taken back")
	if w.m.load() != before {
		t.Error("the same bytes are another generation")
	}
	if err := os.Remove(w.file); err != nil {
		t.Fatal(err)
	}
	w.reload(os.ErrNotExist, "one", true, "fault")
	w.write("two")
	w.reload(nil, "two", false, "swapped")
	if w.swaps != 1 {
		t.Errorf("swapped %d times; want 1", w.swaps)
	}
}

// TestParseCertificates: a file that is still being written is not taken for whole.
func TestParseCertificates(t *testing.T) {
	a := newAuthority(t)
	text, err := os.ReadFile(a.file)
	a.must(err)
	one := string(text)
	f := func(text string, want int, fault string) {
		t.Helper()
		certs, err := parseCertificates([]byte(text))
		if len(certs) != want || (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%.40q: got %d certificates, %v; want %d, %q", text, len(certs), err, want, fault)
		}
	}
	f("", 0, "")
	f("# a comment\n"+one+"and another\n"+one, 2, "")
	f(one+one[:len(one)/2], 0, "a block of PEM has no end")
	f(one[:len(one)/2]+one, 0, "a block of PEM")
	f(one+"-----BEGIN", 1, "") // not even begun
	f(one+"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 0, "certificate 2")
	f("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"+one, 1, "")
}

// shownToClients makes the files that guard shows to clients and asks them by, and returns
// what puts a certificate of somebody's in their place.
func shownToClients(t *testing.T, a *authority, conf *config.Config) (show func(from *authority, name string)) {
	t.Helper()
	dir := t.TempDir()
	conf.TLS.Certificate, conf.TLS.Key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	conf.TLS.ClientCA, conf.TLS.ClientAuth = filepath.Join(dir, "ca"), config.ClientAuthOptional
	show = func(from *authority, name string) {
		t.Helper()
		cert, key := from.issue(name, []string{"127.0.0.1"})
		copyFile(t, cert, conf.TLS.Certificate)
		copyFile(t, key, conf.TLS.Key)
	}
	show(a, "first")
	copyFile(t, a.file, conf.TLS.ClientCA)
	return show
}

// configOf is how somebody with a certificate of a's speaks TLS, and resumes a session.
func configOf(t *testing.T, a *authority, user string, roots *x509.CertPool) *tls.Config {
	t.Helper()
	certFile, keyFile := a.issue(user, nil)
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	a.must(err)
	return &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", ClientSessionCache: tls.NewLRUClientSessionCache(1), Certificates: []tls.Certificate{cert}}
}

// TestReloadForClients: a new certificate is shown and new CAs hold, for new connections
// as for those that are open; whoever is not touched by it keeps his connection.
func TestReloadForClients(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	conf := testConfig(newFake(t).url())
	show := shownToClients(t, a, conf)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	if got, want := g.metric("guard_certificate_expiry_seconds", "client"), float64(g.srv.front.shown.load().ends.Unix()); got != want || want < float64(time.Now().Unix()) {
		t.Errorf("guard_certificate_expiry_seconds is %v; want %v", got, want)
	}
	roots := a.pool()
	roots.AddCert(other.cert)
	annasConfig := configOf(t, a, "anna", roots)
	annas, shown, _ := g.tlsClient(annasConfig)
	plain, _, _ := g.tlsClient(&tls.Config{RootCAs: roots, ServerName: "127.0.0.1"})
	if annas() != 200 || plain() != 401 || shown != "first" {
		t.Fatalf("before: the certificate is %q", shown)
	}
	if again, _, resumed := g.tlsClient(annasConfig); again() != 200 || !resumed {
		t.Fatal("the session is not resumed; the test shows little")
	}

	show(other, "second")
	a.must(failure(g.srv.Reload(t.Context())))
	again, shown, resumed := g.tlsClient(annasConfig)
	if annas() != 200 || plain() != 401 || again() != 200 || shown != "second" || resumed {
		t.Errorf("after a new certificate: it is %q, resumed %v", shown, resumed)
	}

	copyFile(t, other.file, conf.TLS.ClientCA)
	a.must(failure(g.srv.Reload(t.Context())))
	if got := annas(); got != 0 {
		t.Errorf("the open connection of a client whose CA is gone got %d; want it closed", got)
	}
	if again, _, _ := g.tlsClient(annasConfig); again() != 0 {
		t.Error("a session outlives the CA of its certificate")
	}
	if plain() != 401 {
		t.Error("a connection without a certificate was closed")
	}
	if ottos, _, _ := g.tlsClient(configOf(t, other, "otto", roots)); ottos() != 200 {
		t.Error("the new CA's client is refused")
	}
}

// tlsClient connects and returns what sends a request and gives its status, 0 if the
// connection ended; and whom guard said to be.
func (g *guarded) tlsClient(conf *tls.Config) (status func() int, name string, resumed bool) {
	g.t.Helper()
	c := tls.Client(g.dial(), conf)
	if err := c.Handshake(); err != nil {
		g.t.Fatal(err)
	}
	br := bufio.NewReader(c)
	status = func() int {
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		return readGot(g.t, c, br, "GET").status
	}
	state := c.ConnectionState()
	return status, state.PeerCertificates[0].Subject.CommonName, state.DidResume
}

// TestReloadKeepsTheOld: what is bad or half changes nothing, is told once, and shows.
func TestReloadKeepsTheOld(t *testing.T) {
	a := newAuthority(t)
	conf := testConfig(newFake(t).url())
	shownToClients(t, a, conf)
	cert, key := filepath.Join(a.dir, "first.pem"), filepath.Join(a.dir, "first.key")
	cert2, key2 := a.issue("second", []string{"127.0.0.1"})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	const refused = "cannot use the changed certificates or credentials; those at work stay"
	f := func(file, from string, cut int, want string) {
		t.Helper()
		text, err := os.ReadFile(from)
		a.must(err)
		a.must(os.WriteFile(file, text[:len(text)-cut], 0o600))
		err = failure(g.srv.Reload(t.Context()))
		again := failure(g.srv.Reload(t.Context()))
		records := g.logs.FilterMessage(refused).Len()
		_ = g.logs.TakeAll()
		faulty := g.srv.Faulty()
		if want == "" {
			if len(faulty) != 0 {
				t.Errorf("%s: %+v are at fault; want none", file, faulty)
			}
			if err != nil || records != 0 || g.metric("guard_tls_faulty", "") != 0 {
				t.Errorf("%s: got %v, %d records", file, err, records)
			}
			return
		}
		if err == nil || again == nil || !strings.Contains(err.Error(), want) || records != 1 || g.metric("guard_tls_faulty", "") != 1 {
			t.Errorf("%s: got %v, then %v, %d records; want one with %q", file, err, again, records, want)
		}
		if len(faulty) != 1 || faulty[0].Part != "client_files" || !strings.Contains(faulty[0].Reason, want) || faulty[0].Since.IsZero() {
			t.Errorf("%s: %+v are at fault; want the files for clients", file, faulty)
		}
		if _, name, _ := g.tlsClient(&tls.Config{RootCAs: a.pool(), ServerName: "127.0.0.1"}); name != "first" {
			t.Errorf("guard shows %q", name)
		}
	}
	f(conf.TLS.Certificate, cert2, 0, "private key does not match public key")
	f(conf.TLS.Certificate, cert2, 40, "a block of PEM has no end")
	f(conf.TLS.Certificate, cert, 0, "")
	f(conf.TLS.Key, key2, 40, "failed to find any PEM data in key input")
	f(conf.TLS.Key, key, 0, "")
	f(conf.TLS.ClientCA, key, 0, "no certificate in CA file")
	f(conf.TLS.ClientCA, a.file, 20, "a block of PEM has no end")
	f(conf.TLS.ClientCA, a.file, 0, "")
	if got := g.metric("guard_tls_reload_errors_total", ""); got != 5 {
		t.Errorf("%v faults are counted; want 5", got)
	}
}

// TestStalledFiles: while files can't be read, nobody waits for them without end, and who
// asks for faults does not wait at all; the other side's files are followed; what is at
// work stays, and what the files hold afterwards is put to work.
func TestStalledFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		side := func(name string, hang <-chan struct{}) (*material, func(text string)) {
			file := filepath.Join(dir, name)
			write := func(text string) {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("one")
			m, err := newMaterial(name, []string{file}, func(c contents) (*generation, error) {
				text, err := c.file(file)
				return &generation{account: string(text)}, err
			})
			if err != nil {
				t.Fatal(err)
			}
			m.reader = config.NewReader(func() contents {
				<-hang
				return m.readNext()
			})
			return m, write
		}
		hang, free := make(chan struct{}), make(chan struct{})
		close(free)
		client, writeClient := side("client", hang)
		upstream, writeUpstream := side("upstream", free)
		ms, err := newMaterials(prometheus.NewRegistry(), zap.NewNop(), client, upstream)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { ms.watch(ctx, time.Second) })
		writeClient("two")
		writeUpstream("two")
		time.Sleep(3500 * time.Millisecond)
		if !client.mu.TryLock() {
			t.Fatal("a lock is held while a file is read")
		}
		client.mu.Unlock()
		if faults := ms.atFault(); len(faults) != 0 || client.load().account != "one" || upstream.load().account != "two" {
			t.Errorf("faults %+v, at work %q and %q; want none, the first and the second", faults, client.load().account, upstream.load().account)
		}
		if err := failure(client.reload(ctx)); !errors.Is(err, config.ErrStalled) {
			t.Errorf("reload: %v; want %v", err, config.ErrStalled)
		}
		if faults := ms.atFault(); len(faults) != 1 || faults[0].Part != "client_files" || client.load().account != "one" {
			t.Errorf("faults %+v, at work %q; want one of the client's side, the first", faults, client.load().account)
		}
		close(hang)
		time.Sleep(5 * time.Second)
		if faults := ms.atFault(); len(faults) != 0 || client.load().account != "two" {
			t.Errorf("faults %+v, at work %q; want none, the second", faults, client.load().account)
		}
		cancel()
		all.Wait()
	})
}

// TestLateRead: who has read first and judges last does not bring back what was replaced.
func TestLateRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	m, err := newMaterial("client", []string{file}, func(c contents) (*generation, error) {
		return &generation{account: string(c.files[file])}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	write("two")
	early, err := m.read(t.Context())
	write("three")
	if err := errors.Join(err, failure(m.reload(t.Context())), m.judge(early)); err != nil || m.load().account != "three" {
		t.Errorf("at work is %q, %v; want what was read last", m.load().account, err)
	}
}

// TestWatchFiles: nobody has to ask for a reload, and the watch ends with its context.
func TestWatchFiles(t *testing.T) {
	a := newAuthority(t)
	conf := testConfig(newFake(t).url())
	conf.TLS.Certificate, conf.TLS.Key = a.issue("first", []string{"127.0.0.1"})
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream}, conf)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.srv.files.watch(ctx, time.Millisecond)
	}()
	cert, key := a.issue("second", []string{"127.0.0.1"})
	copyFile(t, cert, conf.TLS.Certificate)
	copyFile(t, key, conf.TLS.Key)
	eventually(t, "the new certificate is shown", func() bool {
		_, name, _ := g.tlsClient(&tls.Config{RootCAs: a.pool(), ServerName: "127.0.0.1"})
		return name == "second"
	})
	cancel()
	<-ended
}
