package changes

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guard/test/guardproc"
)

// staleness is how old the state may be by which guard decides (law 10): its setting here,
// and so how long a name that was taken may go on to be granted.
const staleness = 5 * time.Second

// load is what people ask, and what came of it.
type load struct {
	t      *testing.T
	world  *world
	guards map[string]*guardproc.Proc // by mode
	http   *http.Client
	strict bool         // names mean what guard knows that they mean
	byAge  atomic.Int64 // answers of which the age of the state is the only bound

	mu     sync.Mutex // guards all below
	shown  map[string]int
	faults map[string]int
	tally  map[string]int
	worst  map[string]time.Duration // how old the state was, by person
	leaks  map[string]int
}

func newLoad(t *testing.T, w *world, guards map[string]*guardproc.Proc) *load {
	transport := &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &load{
		t: t, world: w, guards: guards, http: &http.Client{Transport: transport, Timeout: 75 * time.Second},
		shown: map[string]int{}, faults: map[string]int{}, tally: map[string]int{}, worst: map[string]time.Duration{}, leaks: map[string]int{},
	}
}

// got is an answer and when it was asked for.
type got struct {
	status     int
	body       []byte
	start, end time.Time
}

// send asks as a person. A request that hangs or an answer that is cut fails the test.
func (l *load) send(mode, who, method, path, body string) (got, bool) {
	req, err := http.NewRequest(method, l.guards[mode].URL+path, strings.NewReader(body))
	if err != nil {
		l.t.Error(err)
		return got{}, false
	}
	req.SetBasicAuth(who, password)
	switch {
	case strings.HasSuffix(path, "_bulk"), strings.HasSuffix(path, "_msearch"):
		req.Header.Set("Content-Type", "application/x-ndjson")
	case body != "":
		req.Header.Set("Content-Type", "application/json")
	}
	a := got{start: time.Now()}
	res, err := l.http.Do(req)
	if err == nil {
		defer res.Body.Close()
		a.status = res.StatusCode
		a.body, err = io.ReadAll(res.Body)
	}
	a.end = time.Now()
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		l.t.Errorf("%s as %s: %s %s %s hangs: %v", mode, who, method, path, body, err)
	case err != nil:
		l.t.Errorf("%s as %s: %s %s %s: no whole answer: %v", mode, who, method, path, body, err)
	}
	return a, err == nil
}

// secret asks for what only documents hold that nobody may see.
const secret = `"query":{"term":{"secret":true}}`

// question is a request about a place; @ is the place, or its name alone where it begins
// with no slash.
type question struct {
	method, path, body string
	none               *regexp.Regexp // what an answer with 200 must not hold: a number above zero
	missing            bool           // an answer with 200 says that there is what must not be there
	form               string         // it without its place
}

var (
	anyTotal   = regexp.MustCompile(`"(?:value|count|doc_count)":[1-9]`)
	vaultCount = regexp.MustCompile(`(?m)^vault\S* +\d`)
	lists      = []question{
		{method: "GET", path: "@/_search?size=200"},
		{method: "POST", path: "@/_search", body: `{"size":100,"query":{"match_all":{}},"aggs":{"m":{"terms":{"field":"mark","size":500}}}}`},
		{method: "POST", path: "@/_search", body: `{"size":100,"query":{"bool":{"must_not":{"term":{"mark":"none"}}}},"fields":["*"],"_source":["mark","pin"]}`},
		{method: "POST", path: "@/_search", body: `{"size":0,"track_total_hits":true,` + secret + `}`, none: anyTotal},
		{method: "POST", path: "@/_search?ignore_unavailable=true", body: `{"size":0,"track_total_hits":false,"aggs":{"s":{"filter":{"term":{"secret":true}}}}}`, none: anyTotal},
		{method: "POST", path: "@/_count", body: `{` + secret + `}`, none: anyTotal},
		{method: "GET", path: "@/_count?q=secret:true", none: anyTotal},
		{method: "POST", path: "/_msearch", body: `{"index":"@"}` + "\n" + `{"size":100}` + "\n" + `{"index":"@"}` + "\n" + `{"size":0,"aggs":{"m":{"terms":{"field":"mark","size":500}}}}` + "\n"},
		{method: "GET", path: "@/_field_caps?fields=*"},
		{method: "GET", path: "/_cat/indices@?h=index,docs.count,uuid", none: vaultCount},
		{method: "GET", path: "/_cat/indices@?format=json"},
		{method: "GET", path: "@/_alias"},
		{method: "GET", path: "@/_mapping"},
		{method: "GET", path: "/_resolve/index@"},
		{method: "GET", path: "@"},
	}
	singles = []question{
		{method: "GET", path: "@/_doc/0"},
		{method: "GET", path: "@/_source/0"},
		{method: "GET", path: "@/_doc/v0", missing: true},
		{method: "GET", path: "@/_source/v0", missing: true},
		{method: "HEAD", path: "@/_doc/v0", missing: true},
		{method: "HEAD", path: "@/_source/v0", missing: true},
		{method: "POST", path: "/_mget", body: `{"docs":[{"_index":"@","_id":"0"},{"_index":"@","_id":"v0"},{"_index":"@","_id":"1"}]}`},
		{method: "POST", path: "/_mget", body: `{"docs":[{"_index":"@","_id":"v0","_source":false}]}`, none: regexp.MustCompile(`"found":true`)},
	}
	writes = []question{
		{method: "PUT", path: "@/_doc/v1?refresh=false", body: `{"@timestamp":"2024-01-01","by":"%"}`},
		{method: "PUT", path: "@/_create/%?refresh=false", body: `{"@timestamp":"2024-01-01","by":"%"}`},
		{method: "POST", path: "/_bulk", body: `{"index":{"_index":"@","_id":"v2"}}` + "\n" + `{"@timestamp":"2024-01-01","by":"%"}` + "\n" + `{"create":{"_index":"@"}}` + "\n" + `{"@timestamp":"2024-01-01","by":"%"}` + "\n"},
	}
)

// on puts a place into a question.
func (q question) on(place, by string) question {
	put := func(s string) string {
		if strings.HasPrefix(s, "@") || strings.Contains(s, "indices@") || strings.Contains(s, "index@") {
			s = strings.Replace(s, "@", place, 1)
		}
		name := strings.TrimPrefix(place, "/")
		if name == "" {
			name = "*"
		}
		return strings.ReplaceAll(strings.ReplaceAll(s, `"@"`, `"`+name+`"`), "%", by)
	}
	q.form = fmt.Sprintf("%s %s %.60q", q.method, q.path, q.body)
	q.path, q.body = put(q.path), put(q.body)
	switch q.path {
	case "":
		q.path = "/*"
	case "/_resolve/index":
		q.path = "/_resolve/index/*"
	}
	return q
}

// ask has a person ask one thing and checks the answer.
func (l *load) ask(p *person, rnd *rand.Rand) {
	mode := modeNames[rnd.IntN(len(modeNames))]
	var q question
	switch kind := rnd.IntN(10); {
	case kind < 6:
		q = lists[rnd.IntN(len(lists))].on(p.places[rnd.IntN(len(p.places))], "")
	case kind < 9:
		q = singles[rnd.IntN(len(singles))].on(p.single[rnd.IntN(len(p.single))], "")
	default:
		place := p.single[rnd.IntN(len(p.single))]
		q = writes[rnd.IntN(len(writes))].on(place, fmt.Sprintf("%s@%d@%s", p.name, time.Now().UnixNano(), place[1:]))
	}
	l.put(mode, p, q)
}

// put asks one question and checks the answer.
func (l *load) put(mode string, p *person, q question) {
	a, ok := l.send(mode, p.name, q.method, q.path, q.body)
	if !ok {
		return
	}
	said := q.path + " " + q.body
	late, err := p.check(&l.world.journal, said, a.body, a.start, a.end)
	switch {
	case err != nil:
	case a.status == 200 && q.missing:
		err = errors.New("there is a document that he may not see")
	case a.status == 200 && q.none != nil && q.none.Match(a.body):
		err = errors.New("it counts what he may not see")
	case late > staleness:
		err = fmt.Errorf("it is right by a state that was over %v before the request", late)
	}
	if err != nil && !l.strict && bounded(p, q) {
		l.byAge.Add(1)
		err = nil
	}
	l.note(p, mode, q, a, late, err)
}

// Answers above 499 that guard promises: the state is too old, or an answer about one
// document that the name does not lead to any more is withheld.
var promised = regexp.MustCompile(`the state of the cluster is unknown or too old to decide|the state of the cluster can't be refreshed|so it is withheld|the cluster's answer is not understood|the document changes too fast to be read`)

// nodesOwn are those that a node gives of itself, when an index goes away under a request.
var nodesOwn = regexp.MustCompile(`^\{"error":\{"root_cause":\[.*"type":"(?:search_phase_execution_exception|no_shard_available_action_exception)"`)

// fault names the fault of an answer above 499, and reports whether it may be.
func fault(q question, a got) (text string, fine bool) {
	switch own, ours := nodesOwn.FindSubmatch(a.body), promised.Find(a.body); {
	case ours != nil:
		return fmt.Sprintf("%d by guard: %s", a.status, ours), true
	case own != nil && a.status == 503:
		return "503 as the node gives it", true
	case q.method == "HEAD":
		return fmt.Sprintf("%d without a body", a.status), a.status == 502 || a.status == 503
	}
	return fmt.Sprintf("%d %.200s", a.status, a.body), false
}

func (l *load) note(p *person, mode string, q question, a got, late time.Duration, leak error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally[fmt.Sprint(p.name, " ", a.status)]++
	l.shown[p.name] += len(markText.FindAll(a.body, -1))
	l.worst[p.name] = max(l.worst[p.name], late)
	if leak != nil {
		// One answer for each kind of leak is enough to read.
		key := p.name + ": " + q.form
		if l.leaks[key]++; l.leaks[key] == 1 {
			l.t.Errorf("LEAK: %s as %s: %s %s %q: %v\n%d %.300s", mode, p.name, q.method, q.path, q.body, leak, a.status, a.body)
		}
	}
	if a.status/100 == 5 {
		text, fine := fault(q, a)
		if l.faults[text]++; !fine && l.faults[text] == 1 {
			l.t.Errorf("%s as %s: %s %s %s: status %d: %.600s", mode, p.name, q.method, q.path, q.body, a.status, a.body)
		}
	}
}
