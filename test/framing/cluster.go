package framing

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Cluster stands for the nodes: it reads what comes with the strict parser and records
// it. What a proxy asks on its own account to know the indices is answered and not
// recorded; no shape asks the same.
type Cluster struct {
	ln   net.Listener
	stop chan struct{}
	done sync.WaitGroup

	mu    sync.Mutex // guards what follows
	seen  Seen
	conns map[*quietConn]bool
}

// Seen is what came to a cluster.
type Seen struct {
	Requests []Request
	Begun    []string // requests that ended before their last byte: nobody executes them
	Faults   []Fault  // bytes that are no request
}

// StartCluster opens a cluster on a free port of the loopback.
func StartCluster() (*Cluster, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot start a cluster: %w", err)
	}
	c := &Cluster{ln: ln, stop: make(chan struct{}), conns: map[*quietConn]bool{}}
	c.done.Add(1)
	go c.accept()
	return c, nil
}

// Addr is where the cluster listens.
func (c *Cluster) Addr() string { return c.ln.Addr().String() }

// Close ends the cluster and waits for what serves it.
func (c *Cluster) Close() {
	close(c.stop)
	_ = c.ln.Close() // ends accept
	c.mu.Lock()
	for k := range c.conns {
		_ = k.Close()
	}
	c.mu.Unlock()
	c.done.Wait()
}

// Take returns what has come since the last call. It waits until all that a proxy has
// sent so far is read and answered.
func (c *Cluster) Take() Seen {
	c.fence()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		quiet := true
		for k := range c.conns {
			quiet = quiet && k.quiet()
		}
		if quiet || time.Now().After(end) {
			seen := c.seen
			c.seen = Seen{}
			c.mu.Unlock()
			return seen
		}
		c.mu.Unlock()
	}
}

// fence returns when all connections that were opened so far are accepted: one of its
// own, which comes behind them, is.
func (c *Cluster) fence() {
	own, err := net.Dial("tcp", c.Addr())
	if err != nil {
		c.note(func(s *Seen) { s.Faults = append(s.Faults, Fault{What: err.Error()}) })
		return
	}
	defer own.Close()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		c.mu.Lock()
		for k := range c.conns {
			if k.RemoteAddr().String() == own.LocalAddr().String() {
				c.mu.Unlock()
				return
			}
		}
		c.mu.Unlock()
	}
}

func (c *Cluster) accept() {
	defer c.done.Done()
	for {
		conn, err := c.ln.Accept()
		if err != nil {
			return
		}
		k, err := newQuietConn(conn)
		if err != nil {
			_ = conn.Close()
			c.note(func(s *Seen) { s.Faults = append(s.Faults, Fault{What: err.Error()}) })
			continue
		}
		c.mu.Lock()
		c.conns[k] = true
		c.mu.Unlock()
		c.done.Go(func() { c.serve(k) })
	}
}

func (c *Cluster) note(f func(*Seen)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.seen)
}

// serve answers the requests of one connection. After bytes that are no request it
// closes it, as no reader could say where the next one begins.
func (c *Cluster) serve(k *quietConn) {
	defer func() {
		_ = k.Close()
		c.mu.Lock()
		delete(c.conns, k)
		c.mu.Unlock()
	}()
	for r := bufio.NewReader(k); ; {
		if r.Buffered() == 0 {
			k.rest()
		}
		q, err := ReadHead(r)
		if err == nil {
			if strings.EqualFold(q.Value("Expect"), "100-continue") && r.Buffered() == 0 {
				_, _ = io.WriteString(k, "HTTP/1.1 100 Continue\r\n\r\n") // a failure shows in what follows
			}
			err = q.readBody(r)
		}
		var bad *Fault
		switch {
		case errors.As(err, &bad):
			c.note(func(s *Seen) { s.Faults = append(s.Faults, *bad) })
			_, _ = io.WriteString(k, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") // whoever sent this may be gone
			return
		case err != nil && q.Method == "":
			return // between two requests
		case err != nil:
			c.note(func(s *Seen) { s.Begun = append(s.Begun, q.Method+" "+q.Target) })
			return
		}
		answer, own := ownAnswer(&q)
		if own {
			k.rest() // one of them waits for long
			c.await(&q)
		} else {
			c.note(func(s *Seen) { s.Requests = append(s.Requests, q) })
			answer = answerTo(&q)
		}
		if _, err := io.WriteString(k, answer); err != nil {
			return
		}
	}
}

// await holds back the answer of one who waits for a newer state, as nodes do.
func (c *Cluster) await(q *Request) {
	_, query, _ := strings.Cut(q.Target, "?")
	values, err := url.ParseQuery(query)
	wait, perr := time.ParseDuration(values.Get("wait_for_timeout"))
	if err != nil || perr != nil {
		return
	}
	select {
	case <-time.After(wait):
	case <-c.stop:
	}
}

// What guard asks to know the indices, and the answers of a cluster with the index
// "open". See indexresolver/source.
const (
	versionTarget = "/_cluster/state/version"
	lookTarget    = "/_cluster/state/blocks"
	stateTarget   = "/_cluster/state/version,metadata" // with a filter
	aliasTarget   = "/_alias?expand_wildcards=all"

	stamp   = `"cluster_name":"stub","cluster_uuid":"c1","version":9,"state_uuid":"s1"`
	root    = `{"version":{"distribution":"opensearch","number":"2.19.4"}}`
	aliases = `{"open":{"aliases":{}}}`
	state   = `{` + stamp + `,"metadata":{"cluster_uuid":"c1","cluster_coordination":{"term":1},"templates":{},"indices":{"open":{"version":3,"aliases_version":1,` +
		`"state":"open","settings":{"index":{"number_of_shards":"1","uuid":"u1"}},"mappings":{"_doc":{"properties":{"a":{"type":"long"}}}},"aliases":[],"system":false}}}}`
)

// ownAnswer answers guard's own questions.
func ownAnswer(q *Request) (string, bool) {
	switch {
	case q.Method != "GET", q.has("X-Forwarded-For"): // a client's request has passed on
		return "", false
	case q.Target == "/":
		return jsonAnswer(q, root), true
	case q.Target == aliasTarget:
		return jsonAnswer(q, aliases), true
	case strings.HasPrefix(q.Target, stateTarget+"?"):
		return jsonAnswer(q, state), true
	case q.Target == versionTarget, strings.HasPrefix(q.Target, versionTarget+"?"), strings.HasPrefix(q.Target, lookTarget+"?"):
		return jsonAnswer(q, "{"+stamp+"}"), true
	}
	return "", false
}

// answerTo answers as a node would where guard looks at the answer: a document is named
// as it was asked for.
func answerTo(q *Request) string {
	path, _, _ := strings.Cut(q.Target, "?")
	parts := strings.Split(path, "/")
	if len(parts) < 4 || parts[2] != "_doc" {
		return jsonAnswer(q, `{"took":1,"timed_out":false,"errors":false,"items":[],"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},`+
			`"hits":{"total":{"value":0,"relation":"eq"},"max_score":null,"hits":[]}}`)
	}
	id, err := url.PathUnescape(parts[3])
	if err != nil {
		id = parts[3]
	}
	outcome := map[string]string{"GET": `"found":true,"_source":{}`, "DELETE": `"result":"deleted"`}[q.Method]
	if outcome == "" {
		outcome = `"result":"created"`
	}
	return jsonAnswer(q, fmt.Sprintf(`{"_index":"open","_id":%q,"_version":1,"_seq_no":0,"_primary_term":1,%s}`, id, outcome))
}

// jsonAnswer gives back X-Opaque-Id, as nodes do; by it a player knows its answers.
func jsonAnswer(q *Request, body string) string {
	opaque := ""
	if id := q.Value("X-Opaque-Id"); id != "" {
		opaque = "X-Opaque-Id: " + id + "\r\n"
	}
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\n%scontent-type: application/json; charset=UTF-8\r\ncontent-length: %d\r\n\r\n", opaque, len(body))
	if q.Method == "HEAD" {
		return head
	}
	return head + body
}
