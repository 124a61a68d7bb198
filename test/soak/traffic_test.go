package soak

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guard/test/guardproc"
)

// traffic is what clients do to guard, and what came of it.
type traffic struct {
	t     *testing.T
	guard *guardproc.Proc
	addr  string
	http  *http.Client
	calm  atomic.Bool // no node dies: every request has to succeed

	journal, stream journal
	whole, failed   atomic.Int64 // answers that were checked, requests that ended in a fault of the wire
	next            atomic.Int64
}

func newTraffic(t *testing.T, guard *guardproc.Proc) *traffic {
	transport := &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &traffic{
		t: t, guard: guard, addr: strings.TrimPrefix(guard.URL, "http://"),
		http: &http.Client{Transport: transport, Timeout: 30 * time.Second},
	}
}

// kinds are the clients; each runs in its own goroutine, over and over.
func (x *traffic) kinds() []func(*rand.Rand) {
	return []func(*rand.Rand){x.search, x.search, x.get, x.msearch, x.write, x.write, x.bulk, x.upload, x.forbidden, x.leave, x.drip}
}

// got is an answer; err tells that there was none, or not all of it.
type got struct {
	status int
	body   []byte
	err    error
}

func (x *traffic) send(user, method, path, body string) got {
	req, err := http.NewRequest(method, x.guard.URL+path, strings.NewReader(body))
	if err != nil {
		return got{err: err}
	}
	req.SetBasicAuth(user, password)
	req.Header.Set("Content-Type", "application/json")
	res, err := x.http.Do(req)
	if err != nil {
		return got{err: err}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return got{res.StatusCode, text, err}
}

// settle counts an answer. It reports whether it is one to look into: the fault of a
// dying node is none, while nodes die.
func (x *traffic) settle(what string, a got) bool {
	fault := a.err != nil || a.status == 429 || a.status/100 == 5
	if !fault {
		x.whole.Add(1)
		return true
	}
	x.failed.Add(1)
	var timeout net.Error
	switch {
	case errors.As(a.err, &timeout) && timeout.Timeout():
		x.t.Errorf("%s: it hangs: %v", what, a.err)
	case a.status == 500:
		x.t.Errorf("%s: status 500: %.300s", what, a.body)
	case a.err == nil && !json.Valid(a.body):
		x.t.Errorf("%s: status %d without JSON: %.300q", what, a.status, a.body)
	case x.calm.Load():
		x.t.Errorf("%s: status %d, %v though no node dies: %.300s", what, a.status, a.err, a.body)
	}
	return false
}

const allRows = `{"size":1000,"query":{"match_all":{}},"sort":["n"],"aggs":{"colours":{"terms":{"field":"colour"}}}}`

func (x *traffic) search(*rand.Rand) {
	a := x.send("reader", "POST", "/ledger/_search", allRows)
	if x.settle("search", a) {
		x.expect("search", a, 200, checkEither(a.body))
	}
}

// expect fails the test unless an answer has this status and err is nil.
func (x *traffic) expect(what string, a got, status int, err error) {
	if a.status != status || err != nil {
		x.t.Errorf("%s: status %d; want %d: %v\n%.500s", what, a.status, status, err, a.body)
	}
}

func (x *traffic) get(rnd *rand.Rand) {
	i := rnd.IntN(rows)
	a := x.send("reader", "GET", fmt.Sprintf("/ledger/_doc/%d", i), "")
	if !x.settle("get", a) {
		return
	}
	var h struct {
		Found  bool
		Source map[string]any `json:"_source"`
	}
	err := json.Unmarshal(a.body, &h)
	v := views[i%2] // only this one shows the row
	if h.Found && err == nil && fmt.Sprint(h.Source) != fmt.Sprint(v.seen(i)) {
		err = fmt.Errorf("row %d is %v; want %v", i, h.Source, v.seen(i))
	}
	want := 404
	if h.Found {
		want = 200
	}
	x.expect("get", a, want, err)
}

// msearch asks twice in one request: both answers are of one policy.
func (x *traffic) msearch(*rand.Rand) {
	a := x.send("reader", "POST", "/_msearch", strings.Repeat(`{"index":"ledger"}`+"\n"+allRows+"\n", 2))
	if !x.settle("msearch", a) {
		return
	}
	var all struct{ Responses []json.RawMessage }
	err := json.Unmarshal(a.body, &all)
	if err == nil && len(all.Responses) != 2 {
		err = fmt.Errorf("%d answers; want 2", len(all.Responses))
	}
	if err == nil && bytes.Contains(a.body, []byte(`"shard not available`)) {
		return
	}
	for _, one := range all.Responses {
		err = errors.Join(err, checkEither(one))
	}
	if err == nil && bytes.Contains(a.body, []byte("pin-")) && bytes.Contains(a.body, []byte("note-")) {
		err = errors.New("two policies met in one request")
	}
	x.expect("msearch", a, 200, err)
}

func (x *traffic) mark() string { return fmt.Sprint("n", x.next.Add(1)) }

// ended says how a write ended, by its answer.
func ended(a got) end {
	switch {
	case a.err != nil:
		return unknown
	case a.status/100 == 2:
		return acknowledged
	case a.status/100 == 4, bytes.Contains(a.body, []byte("nothing was sent")):
		return refused
	}
	return unknown
}

func (x *traffic) write(rnd *rand.Rand) {
	mark := x.mark()
	method, path := "POST", "/journal/_doc"
	if rnd.IntN(2) == 0 {
		method, path = "PUT", "/journal/_doc/"+mark
	}
	a := x.send("writer", method, path, fmt.Sprintf(`{"n":%q}`, mark))
	x.journal.note(ended(a), mark)
	if x.settle("write", a) {
		x.expect("write", a, 201, nil)
	}
}

// lines makes a bulk body of n documents and the marks that they carry.
func (x *traffic) lines(n int) (body string, marks []string) {
	var b strings.Builder
	for range n {
		mark := x.mark()
		marks = append(marks, mark)
		fmt.Fprintf(&b, `{"index":{}}`+"\n"+`{"n":%q,"pad":%q}`+"\n", mark, strings.Repeat("p", 200))
	}
	return b.String(), marks
}

// bulk is planned line by line; sometimes it is longer than what guard gathers first.
func (x *traffic) bulk(rnd *rand.Rand) {
	body, marks := x.lines(1 + rnd.IntN(600))
	x.bulkTo("writer", "/journal/_bulk", body, &x.journal, marks)
}

// upload passes as it comes.
func (x *traffic) upload(rnd *rand.Rand) {
	body, marks := x.lines(1 + rnd.IntN(600))
	x.bulkTo("admin", "/stream/_bulk", body, &x.stream, marks)
}

func (x *traffic) bulkTo(user, path, body string, j *journal, marks []string) {
	time.Sleep(200 * time.Millisecond) // a node is to search, too
	a := x.send(user, "POST", path, body)
	j.note(ended(a), marks...)
	if x.settle("bulk", a) {
		var err error
		if bytes.Contains(a.body, []byte(`"errors":true`)) {
			err = errors.New("items failed")
		}
		x.expect("bulk", a, 200, err)
	}
}

// forbidden asks for what is never answered.
func (x *traffic) forbidden(rnd *rand.Rand) {
	time.Sleep(5 * time.Millisecond)
	user, status := "stranger", 403
	if rnd.IntN(10) == 0 {
		user, status = "nobody", 401
	}
	a := x.send(user, "POST", "/ledger/_search", allRows)
	if user == "nobody" || x.settle("forbidden", a) {
		x.expect("forbidden", a, status, nil)
	}
}

// raw is a search of the reader as bytes.
func (x *traffic) raw() []byte {
	return fmt.Appendf(nil, "POST /ledger/_search HTTP/1.1\r\nHost: guard\r\nAuthorization: Basic %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		base64.StdEncoding.EncodeToString([]byte("reader:"+password)), len(allRows), allRows)
}

// leave sends a part of a request, or all of it, and is gone.
func (x *traffic) leave(rnd *rand.Rand) {
	c, err := net.Dial("tcp", x.addr)
	if err != nil {
		x.t.Error(err)
		return
	}
	defer c.Close()
	raw := x.raw()
	if rnd.IntN(2) == 0 {
		raw = raw[:rnd.IntN(len(raw))]
	}
	_, _ = c.Write(raw)
	time.Sleep(time.Duration(rnd.IntN(20)) * time.Millisecond)
	if tcp, ok := c.(*net.TCPConn); ok && rnd.IntN(2) == 0 {
		_ = tcp.SetLinger(0)
	}
}

// drip sends a request in pieces and reads its answer in pieces.
func (x *traffic) drip(rnd *rand.Rand) {
	c, err := net.Dial("tcp", x.addr)
	if err != nil {
		x.t.Error(err)
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	for raw := x.raw(); len(raw) > 0; time.Sleep(time.Millisecond) {
		n := min(1+rnd.IntN(40), len(raw))
		if _, err := c.Write(raw[:n]); err != nil {
			x.t.Errorf("drip: %v", err)
			return
		}
		raw = raw[n:]
	}
	text, err := io.ReadAll(io.MultiReader(io.LimitReader(c, 1), c))
	head, body, whole := bytes.Cut(text, []byte("\r\n\r\n"))
	a := got{body: body, err: err}
	if !whole {
		a.err = errors.Join(err, errors.New("no answer"))
	} else if _, err := fmt.Sscanf(string(head), "HTTP/1.1 %d", &a.status); err != nil {
		a.err = err
	}
	if x.settle("drip", a) {
		x.expect("drip", a, 200, checkEither(a.body))
	}
}
