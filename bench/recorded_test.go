package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"guard/indexresolver/source"
	"guard/test/testbed"
)

var update = flag.Bool("update", false, "record the stub's answers from a real node")

const peopleMapping = `{"settings":{"number_of_replicas":0},"mappings":{"properties":{"name":{"type":"text"},"region":{"type":"keyword"},` +
	`"email":{"type":"keyword"},"iban":{"type":"keyword"},"birthday":{"type":"date"},"city":{"type":"keyword"},"note":{"type":"text"}}}}`

// record asks a real node for all that the stub answers.
func record(t *testing.T) {
	t.Helper()
	node := testbed.Cluster(t, testbed.OpenSearch)
	if err := node.Reset(); err != nil {
		t.Fatal(err)
	}
	node.Must(t, "PUT", "/"+echoIndex, peopleMapping)
	for _, size := range recordedSizes() {
		node.Must(t, "PUT", "/"+size.index, peopleMapping)
		node.Must(t, "POST", "/"+size.index+"/_bulk?refresh=true", people(size.documents))
	}
	node.Must(t, "POST", "/_aliases", `{"actions":[{"add":{"index":"people","alias":"staff","filter":{"term":{"region":"eu"}}}}]}`)
	keep := func(file, method, target, body string, status int) {
		res, err := node.Do(method, target, body)
		if err != nil || res.Status != status {
			t.Fatalf("%s %s: status %d, %v; want %d", method, target, res.Status, err, status)
		}
		if err := os.WriteFile(filepath.Join("testdata", file), res.Body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range recordedSizes() {
		keep("answers/"+size.index+".json", "POST", size.target(), searchBody, 200)
	}
	keep("state/root.json", "GET", "/", "", 200)
	keep("state/version.json", "GET", "/_cluster/state/version", "", 200)
	keep("state/metadata.json", "GET", "/_cluster/state/version,metadata", "", 200)
	keep("state/aliases.json", "GET", "/_alias?expand_wildcards=all", "", 200)
	keep("state/overdue.json", "GET", "/_cluster/state/version?wait_for_metadata_version=999999&wait_for_timeout=1ms", "", 500)
}

// people is a bulk body with n persons, all of them found by searchBody.
func people(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"index":{"_id":"%d"}}`+"\n", 1000+i)
		fmt.Fprintf(&b, `{"name":"Anna %c. Berg","region":"eu","email":"anna.berg.%d@example.com","iban":"DE%020d","birthday":"19%02d-0%d-1%d","city":"Lübeck","note":"called about order %d, wants the invoice by \"letter\" and not by mail; the address is the one of the contract, rear building"}`+"\n",
			'A'+i%26, i, 500105170648489890+i, 50+i%50, 1+i%9, i%10, 7000+i)
	}
	return b.String()
}

// TestRecorded holds that the answers are of the sizes that the tables name, and
// with -update records them.
func TestRecorded(t *testing.T) {
	if *update {
		record(t)
	}
	stub, err := newStub()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range sizes {
		text := stub.answers[size.target()]
		if got := float64(len(text)); got < 0.9*float64(size.bytes) || got > 1.1*float64(size.bytes) || !json.Valid(text) {
			t.Errorf("the answer of %s has %v bytes; want about %d, of JSON", size.name, got, size.bytes)
		}
		if n := bytes.Count(text, []byte(`"iban"`)); n != size.documents {
			t.Errorf("the answer of %s shows %d documents; want %d", size.name, n, size.documents)
		}
	}
}

// recordedSizes are those that are not made of another.
func recordedSizes() []size {
	return slices.DeleteFunc(slices.Clone(sizes), func(z size) bool { return z.times > 1 })
}

// client asks the stub as guard's transport does.
type client struct{ url string }

func (c client) Fetch(ctx context.Context, method, target string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+target, nil)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot make a request: %w", err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot ask the stub: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

// Stream makes a client a source.Fetcher.
func (c client) Stream(ctx context.Context, method, target string, read func(int, io.Reader) error) error {
	status, body, err := c.Fetch(ctx, method, target)
	if err != nil {
		return err
	}
	return read(status, bytes.NewReader(body))
}

func serveStub(t *testing.T) client {
	t.Helper()
	s, err := newStub()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = (&fasthttp.Server{Handler: s.serve}).Serve(ln) // ends with its listener
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return client{"http://" + ln.Addr().String()}
}

// TestStubIsACluster holds that guard learns the indices of the stub.
func TestStubIsACluster(t *testing.T) {
	s := source.New(serveStub(t), source.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Run(ctx) }() // it ends with ctx
	defer func() { cancel(); <-done }()
	state, err := s.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"people", "archive", echoIndex} {
		if x, ok := state.Index(name); !ok || !bytes.Contains(x.Mapping, []byte(`"iban"`)) {
			t.Errorf("index %q is %+v, %v; want it with its mapping", name, x, ok)
		}
	}
	if target, ok := state.Lookup("staff"); !ok || !target.Filtered {
		t.Errorf("alias staff is %+v, %v; want one with a filter", target, ok)
	}
}

// TestStubObjects holds that the stub answers nothing that it was not made for.
func TestStubObjects(t *testing.T) {
	c := serveStub(t)
	f := func(target string, want int) {
		t.Helper()
		status, body, err := c.Fetch(t.Context(), "GET", target)
		if err != nil || status != want || !json.Valid(body) {
			t.Errorf("%s: status %d, %v, %s; want %d in JSON", target, status, err, body, want)
		}
	}
	f("/people/_search", 200)
	f("/archive/_search?size=2992", 200)
	f("/padded-100/_search", 200)
	f("/echo/_search", 200)
	f("/people/_count", 404)
	f("/staff/_search", 404)
	f("/people/_search?size=7", 404)
	f("/_cluster/state/version?wait_for_metadata_version=7&wait_for_timeout=1ms", 200)
	f("/_cluster/state/version?wait_for_metadata_version=8&wait_for_timeout=1ms", 500)
}
