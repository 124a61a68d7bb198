package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// esfake stands for a node of the cluster on the wire. It reads requests with net/http,
// which is not the parser under test, and objects to what must never arrive.
type esfake struct {
	t  testing.TB
	ln net.Listener

	mu     sync.Mutex // guards all below
	answer func(c net.Conn, r *http.Request, body []byte)
	raw    func(c net.Conn, br *bufio.Reader)
	say    func(c net.Conn, r *http.Request) // to looks; nil: it is of fakeCluster
	looks  []http.Header                     // of looks
	seen   []seenRequest
	conns  map[net.Conn]bool
	total  int
}

// seenRequest is one request as it came to the node.
type seenRequest struct {
	method, target string
	header         http.Header
	body           string
}

// forbiddenAtNode must not come through guard, in any spelling.
var forbiddenAtNode = []string{
	"upgrade", "http2_settings", "te", "trailer", "keep_alive", "proxy_authorization", "x_forwarded_user", "x_forwarded_groups",
	"x_proxy_user", "x_proxy_roles", "securitytenant", "sgtenant", "security_tenant", "es_security_runas_user",
	"es_secondary_authorization", "x_remote_user", "remote_user", "x_auth_request_user", "x_webauth_user", "x_ssl_client_dn",
	"x_elastic_product_origin", "x_ror_current_group", "cookie", "expect",
}

func newFake(t testing.TB) *esfake {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return newFakeOn(t, ln)
}

func newFakeOn(t testing.TB, ln net.Listener) *esfake {
	f := &esfake{t: t, ln: ln, conns: make(map[net.Conn]bool)}
	f.answer = func(c net.Conn, r *http.Request, body []byte) {
		writeAnswer(c, 200, `{"took":1}`, "X-Elastic-Product: Elasticsearch")
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns[c] = true
			f.total++
			f.mu.Unlock()
			wg.Add(1)
			go func() {
				defer wg.Done()
				f.serve(c)
			}()
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		f.closeConns()
		wg.Wait()
	})
	return f
}

// answers sets what the node answers, as raw bytes.
func (f *esfake) answers(answer func(c net.Conn, r *http.Request, body []byte)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// takes gives each connection to raw; nothing is checked or recorded.
func (f *esfake) takes(raw func(c net.Conn, br *bufio.Reader)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raw = raw
}

func (f *esfake) closeConns() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close()
	}
}

func (f *esfake) url() string { return "http://" + f.ln.Addr().String() }

func (f *esfake) serve(c net.Conn) {
	defer func() {
		_ = c.Close()
		f.mu.Lock()
		delete(f.conns, c)
		f.mu.Unlock()
	}()
	br := bufio.NewReader(c)
	f.mu.Lock()
	raw := f.raw
	f.mu.Unlock()
	if raw != nil {
		raw(c, br)
		return
	}
	for {
		r, err := http.ReadRequest(br)
		if err != nil {
			if !errors.Is(err, io.EOF) && !isClosed(err) {
				f.t.Errorf("the node got what is no request: %v", err)
			}
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // a cut body: nothing is executed
		}
		if f.looked(c, r) {
			continue
		}
		f.check(r)
		f.mu.Lock()
		f.seen = append(f.seen, seenRequest{r.Method, r.RequestURI, r.Header.Clone(), string(body)})
		answer := f.answer
		f.mu.Unlock()
		answer(c, r, body)
	}
}

// fakeCluster is the cluster of which fakes are, if a test does not say another.
const fakeCluster = "cluster-of-fakes"

// looked answers a look of guard, which is not recorded.
func (f *esfake) looked(c net.Conn, r *http.Request) bool {
	if r.RequestURI != lookTarget {
		return false
	}
	f.mu.Lock()
	f.looks = append(f.looks, r.Header.Clone())
	say := f.say
	f.mu.Unlock()
	if say == nil {
		say = ofCluster(fakeCluster)
	}
	say(c, r)
	return true
}

// says sets what the node answers to looks, as raw bytes.
func (f *esfake) says(say func(c net.Conn, r *http.Request)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.say = say
}

// lookHeaders returns the headers of looks that came so far.
func (f *esfake) lookHeaders() []http.Header {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]http.Header(nil), f.looks...)
}

// ofCluster is the answer to a look of a good node.
func ofCluster(uuid string) func(net.Conn, *http.Request) {
	return func(c net.Conn, _ *http.Request) { writeAnswer(c, 200, `{"cluster_uuid":"`+uuid+`"}`) }
}

func (f *esfake) check(r *http.Request) {
	for name := range r.Header {
		plain := strings.ReplaceAll(strings.ToLower(name), "-", "_")
		for _, bad := range forbiddenAtNode {
			if plain == bad || strings.Contains(plain, "opendistro") {
				f.t.Errorf("header %q came to the node", name)
			}
		}
	}
	if len(r.Trailer) > 0 {
		f.t.Errorf("trailers came to the node: %v", r.Trailer)
	}
}

// requests returns what came so far.
func (f *esfake) requests() []seenRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seenRequest(nil), f.seen...)
}

func (f *esfake) open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// accepted returns how many connections there were.
func (f *esfake) accepted() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total
}

func isClosed(err error) bool {
	return errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "reset by peer") || strings.Contains(err.Error(), "remote error: tls")
}

// writeAnswer writes a JSON answer with a length.
func writeAnswer(w io.Writer, status int, body string, headers ...string) {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + itoa(status) + " " + http.StatusText(status) + "\r\n")
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("content-type: application/json; charset=UTF-8\r\ncontent-length: " + itoa(len(body)) + "\r\n\r\n" + body)
	_, _ = w.Write(b.Bytes()) // guard may have left
}

// eventually waits until ok, which must come true by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("it did not happen within 5 s: %s", what)
}
