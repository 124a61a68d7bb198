package conformance

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"go.yaml.in/yaml/v3"

	"guard/test/testbed"
)

// An Answer is one answer as it came, with the request that it is for.
type Answer struct {
	Request string // method and target
	Sent    string // start of the body
	ID      string // the X-Opaque-Id sent
	Status  int
	Reason  string // the status line's text
	Header  http.Header
	Body    []byte
}

// A Run is what became of a case at one place.
type Run struct {
	Failed  bool
	Step    int    // that failed, counted from 0
	Why     string // it failed
	Answers []*Answer
}

// An execution is a case being run.
type execution struct {
	suite *Suite
	file  string
	at    testbed.Client
	kept  stash
	body  any // of the last answer, parsed where it is JSON or YAML
	run   *Run
}

// Run runs a case at a node or guard. The cluster has to be empty before.
func (s *Suite) Run(c *Case, at testbed.Client) *Run {
	x := &execution{suite: s, file: c.File, at: at, kept: stash{}, run: &Run{}}
	for i, step := range c.steps {
		if err := step.run(x); err != nil {
			x.run.Failed, x.run.Step, x.run.Why = true, i, err.Error()
			break
		}
	}
	for i, step := range c.teardown {
		if err := step.run(x); err != nil && !x.run.Failed {
			x.run.Failed, x.run.Step, x.run.Why = true, len(c.steps)+i, "teardown: "+err.Error()
		}
	}
	return x.run
}

// client keeps answers as they come: no redirect is followed, nothing is inflated.
var client = &http.Client{
	Timeout:       2 * time.Minute,
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// nextID counts requests. All ids have one length: an id in a body must not change the length of another run's.
var nextID atomic.Int64

// opaqueID makes an id that no other request of this process has. OpenSearch sends some
// warnings only once for each text and id, so that equal ids would make runs differ.
func opaqueID() string {
	return fmt.Sprintf("conformance-%09d", nextID.Add(1))
}

// send sends a request and records the answer.
func (x *execution) send(r request, body []byte, headers map[string]string) (*Answer, error) {
	req, err := http.NewRequest(r.method, x.at.URL+r.target, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		if r.lines {
			req.Header.Set("Content-Type", "application/x-ndjson")
		}
	}
	req.Header.Set("X-Opaque-Id", opaqueID())
	for name, value := range headers {
		req.Header.Set(name, text(x.kept.resolve(value)))
	}
	if x.at.User != "" {
		req.SetBasicAuth(x.at.User, x.at.Password)
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a := &Answer{
		Request: r.method + " " + r.target, Sent: fmt.Sprintf("%.300s", body), ID: req.Header.Get("X-Opaque-Id"),
		Status: res.StatusCode, Reason: res.Status, Header: res.Header,
	}
	if len(res.TransferEncoding) > 0 {
		a.Header["Transfer-Encoding"] = res.TransferEncoding // the library takes it out of the headers
	}
	if a.Body, err = io.ReadAll(res.Body); err != nil {
		return nil, fmt.Errorf("cannot read the answer: %w", err)
	}
	x.run.Answers = append(x.run.Answers, a)
	return a, nil
}

// remember makes an answer the one that the next steps look at.
func (x *execution) remember(a *Answer) {
	x.body = string(a.Body)
	switch {
	case isJSON(a):
		if v, err := parseJSON(a.Body); err == nil {
			x.body = v
		}
	case strings.Contains(a.Header.Get("Content-Type"), "yaml"):
		var doc yaml.Node
		if yaml.Unmarshal(a.Body, &doc) == nil && doc.Kind == yaml.DocumentNode {
			if v, err := plain(doc.Content[0], stash{}); err == nil {
				x.body = v
			}
		}
	}
	x.kept["body"] = x.body
}
