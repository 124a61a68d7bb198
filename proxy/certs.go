package proxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"guard/config"
)

// lookEvery is how often files are looked at. A change is put to work at the second look
// that sees it, since what the first sees may be half written.
const lookEvery = 2 * time.Second

// generation is what was made of the files of one side, as they were at one look. It is
// immutable; its tls.Config has ticket keys of its own, so no session goes on under
// other certificates or CAs than it began with.
type generation struct {
	tls     *tls.Config // nil: plain
	account string      // header line with guard's own credentials, or empty
	ends    time.Time   // when the first of the certificates shown does; zero if there is none
}

// material is what guard shows to one side. It follows its files while guard serves: a
// change that is good is put to work as a whole, one with a fault changes nothing.
type material struct {
	side  string // "client" or "upstream"
	paths []string
	build func(contents) (*generation, error)
	// told hears of each change once: whether it was put to work or had a fault, or took
	// one back. Who sets it does so before the first reload.
	told func(m *material, swapped bool, err error)
	// swapped is called after another generation was put to work.
	swapped func()

	current atomic.Pointer[generation]
	fault   atomic.Pointer[FaultyPart] // why the files can't be used; nil if they can

	reader *config.Reader[contents]
	reads  uint64 // begun by reader, which does one at a time

	mu      sync.Mutex  // guards what follows; it is not held while a file is read
	working fingerprint // of the files that the current generation was made of
	judged  fingerprint // of those that were tried last
	seen    fingerprint // of those at the last look
	newest  uint64      // the latest read that was taken
	err     error       // what came of the last try
}

// newMaterial makes the first generation.
func newMaterial(side string, paths []string, build func(contents) (*generation, error)) (*material, error) {
	m := &material{side: side, paths: paths, build: build}
	m.reader = config.NewReader(m.readNext)
	read, err := m.read(context.Background())
	if err != nil {
		return nil, err
	}
	g, err := build(read)
	if err != nil {
		return nil, err
	}
	m.current.Store(g)
	m.working, m.judged, m.seen = read.print, read.print, read.print
	return m, nil
}

// load returns the generation of now. It is nil for no material: plain.
func (m *material) load() *generation {
	if m == nil {
		return nil
	}
	return m.current.Load()
}

// readNext is one read, for reader.
func (m *material) readNext() contents {
	m.reads++
	c := readContents(m.paths)
	c.number = m.reads
	return c
}

// read returns what the files hold. A file system that does not answer in time is a fault
// of all of them; an error is that of ctx.
func (m *material) read(ctx context.Context) (contents, error) {
	c, err := m.reader.Read(ctx)
	if errors.Is(err, config.ErrStalled) {
		return unread(m.paths, err), nil
	}
	return c, err
}

// reload puts to work what the files hold now, and reports whether that is something else
// than before. An error says that they can't be used and that the generation at work stays.
func (m *material) reload(ctx context.Context) (changed bool, err error) {
	if m == nil {
		return false, nil
	}
	read, err := m.read(ctx)
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.load()
	err = m.judge(read)
	return m.load() != before, err
}

// look is reload for files that nobody said are whole: it waits until two looks have
// seen the same.
func (m *material) look(ctx context.Context) {
	if m == nil {
		return
	}
	read, err := m.read(ctx)
	if err != nil {
		return // it is over
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.seen
	if m.seen = read.print; m.seen == before {
		_ = m.judge(read) // told and kept
	}
}

// judge builds what was read, if it is not what was tried last. Who read before the one
// that was judged last comes too late, and hears what became of that.
func (m *material) judge(read contents) error {
	stale := read.number != 0 && read.number < m.newest
	m.newest = max(m.newest, read.number)
	if stale || read.print == m.judged {
		return m.err
	}
	m.judged, m.err = read.print, nil
	other := read.print != m.working // if not, the files hold again what is at work
	if other {
		m.err = m.swap(read)
	}
	m.fault.Store(m.faultOf(m.err))
	if m.told != nil {
		m.told(m, other && m.err == nil, m.err)
	}
	return m.err
}

// faultOf is what an error is to those who ask for faults: since when there is one, and
// what it is now.
func (m *material) faultOf(err error) *FaultyPart {
	if err == nil {
		return nil
	}
	f := &FaultyPart{Part: m.side + "_files", Faulty: true, Since: time.Now().UTC().Truncate(time.Second), Reason: clipLog(err.Error())}
	if before := m.fault.Load(); before != nil {
		f.Since = before.Since
	}
	return f
}

func (m *material) swap(read contents) error {
	g, err := m.build(read)
	if err != nil {
		return err
	}
	m.working = read.print
	m.current.Store(g)
	if m.swapped != nil {
		m.swapped()
	}
	return nil
}

// fingerprint tells contents of files apart.
type fingerprint [sha256.Size]byte

// contents are the bytes of files at one look. What is built of them is what was judged,
// though the files change meanwhile.
type contents struct {
	files map[string][]byte
	errs  map[string]error
	print fingerprint

	number uint64 // of the read, in their order; 0 if there was none
}

func readContents(paths []string) contents {
	return contentsOf(paths, config.ReadFile)
}

// unread are the contents of files that could not be read, all for one reason.
func unread(paths []string, err error) contents {
	return contentsOf(paths, func(string) ([]byte, error) { return nil, err })
}

func contentsOf(paths []string, read func(path string) ([]byte, error)) contents {
	c := contents{files: map[string][]byte{}, errs: map[string]error{}}
	sum := sha256.New()
	for _, path := range paths {
		text, err := read(path)
		if err != nil {
			c.errs[path] = err
			text = []byte(err.Error())
		} else {
			c.files[path] = text
		}
		var frame [9]byte // whether it could be read, and its length: no two contents look alike
		if err != nil {
			frame[0] = 1
		}
		binary.BigEndian.PutUint64(frame[1:], uint64(len(text)))
		sum.Write(frame[:])
		sum.Write(text)
	}
	sum.Sum(c.print[:0])
	return c
}

func (c contents) file(path string) ([]byte, error) {
	text, ok := c.files[path]
	if !ok {
		return nil, firstError(c.errs[path], errors.New("no file is named"))
	}
	return text, nil
}

// pair returns a certificate with its key.
func (c contents) pair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := c.file(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := c.file(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	if _, err := parseCertificates(cert); err != nil {
		return tls.Certificate{}, fmt.Errorf("file %q: %w", certFile, err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate %q with key %q: %w", certFile, keyFile, err)
	}
	return pair, nil
}

// authorities returns the CAs of a file, of which there is at least one.
func (c contents) authorities(file string) ([]*x509.Certificate, error) {
	text, err := c.file(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read CA file: %w", err)
	}
	certs, err := parseCertificates(text)
	if err != nil {
		return nil, fmt.Errorf("CA file %q: %w", file, err)
	}
	if len(certs) == 0 {
		return nil, fmt.Errorf("no certificate in CA file %q; want PEM", file)
	}
	return certs, nil
}

// pool returns the CAs of a file, to verify by.
func (c contents) pool(file string) (*x509.CertPool, error) {
	certs, err := c.authorities(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for _, cert := range certs {
		pool.AddCert(cert)
	}
	return pool, nil
}

// parseCertificates reads all certificates of a file. A block that was begun and has no
// end is a file that is still being written: the certificates before it are not all.
func parseCertificates(text []byte) (certs []*x509.Certificate, err error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		if bytes.Count(text[:len(text)-len(rest)], pemBegin) > 1 {
			return nil, errors.New("a block of PEM is malformed")
		}
		text = rest
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", len(certs)+1, err)
		}
		certs = append(certs, cert)
	}
	if bytes.Contains(text, pemBegin) {
		return nil, errors.New("a block of PEM has no end")
	}
	return certs, nil
}

var pemBegin = []byte("-----BEGIN ")

// firstEnd returns when the first of the certificates ends.
func firstEnd(pairs []tls.Certificate) (end time.Time) {
	for _, pair := range pairs {
		for _, cert := range chainOf(pair) {
			if end.IsZero() || cert.NotAfter.Before(end) {
				end = cert.NotAfter
			}
		}
	}
	return end
}

// chainOf returns the certificates that are shown with a key.
func chainOf(pair tls.Certificate) (chain []*x509.Certificate) {
	for _, der := range pair.Certificate {
		if cert, err := x509.ParseCertificate(der); err == nil { // it was read before
			chain = append(chain, cert)
		}
	}
	return chain
}

// materials are those of both sides, with what is counted of them.
type materials struct {
	sides           []*material
	log             *zap.Logger
	reloads, faults prometheus.Counter
}

// newMaterials listens to what becomes of each side's files. A side without any is nil.
func newMaterials(reg prometheus.Registerer, log *zap.Logger, sides ...*material) (*materials, error) {
	ms := &materials{
		log: log,
		reloads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "guard_tls_reloads_total", Help: "Changes of certificates, keys, CAs or the cluster's password that were put to work after the start.",
		}),
		faults: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "guard_tls_reload_errors_total", Help: "Changes of certificates, keys, CAs or the cluster's password that had a fault and changed nothing.",
		}),
	}
	collectors := []prometheus.Collector{ms.reloads, ms.faults, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "guard_tls_faulty", Help: "1 while files of certificates, keys, CAs or the cluster's password can't be used, so that older ones are at work; else 0.",
	}, ms.faulty)}
	for _, m := range sides {
		if m == nil {
			continue
		}
		ms.sides = append(ms.sides, m)
		m.told = ms.told
		if !m.load().ends.IsZero() {
			collectors = append(collectors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "guard_certificate_expiry_seconds", Help: "When the first of guard's own certificates ends, in Unix time, by the side that it is shown to (client, upstream).",
				ConstLabels: prometheus.Labels{"side": m.side},
			}, func() float64 { return float64(m.load().ends.Unix()) }))
		}
	}
	for _, c := range collectors {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return ms, nil
}

func (ms *materials) faulty() float64 {
	for _, m := range ms.sides {
		if m.fault.Load() != nil {
			return 1
		}
	}
	return 0
}

func (ms *materials) told(m *material, swapped bool, err error) {
	switch {
	case err != nil:
		ms.faults.Inc()
		ms.log.Error("cannot use the changed certificates or credentials; those at work stay", zap.String("side", m.side), zap.Error(err))
	case swapped:
		ms.reloads.Inc()
		ms.log.Info("certificates and credentials reloaded", zap.String("side", m.side))
	default:
		ms.log.Info("the files hold the certificates and credentials at work again", zap.String("side", m.side))
	}
}

// atFault returns the sides whose files can't be used.
func (ms *materials) atFault() (parts []FaultyPart) {
	for _, m := range ms.sides {
		if f := m.fault.Load(); f != nil {
			parts = append(parts, *f)
		}
	}
	return parts
}

// watch looks at all files until ctx ends. No side waits for the files of another.
func (ms *materials) watch(ctx context.Context, every time.Duration) {
	var all sync.WaitGroup
	for _, m := range ms.sides {
		all.Go(func() { m.watch(ctx, every) })
	}
	all.Wait()
}

func (m *material) watch(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.look(ctx)
		}
	}
}
