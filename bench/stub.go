package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// recorded holds what a real node (OpenSearch 2.19.4) answered; TestRecorded
// records it anew.
//
//go:embed testdata/state testdata/answers
var recorded embed.FS

// metadataVersion is the number that the stub gives its state, which never changes.
const metadataVersion = 7

// stub plays a cluster: it answers what guard asks to know the indices, and searches
// with a fixed answer. Whatever else arrives is a fault and gets 404.
type stub struct {
	root, version, metadata, aliases, overdue []byte
	answers                                   map[string][]byte // by target
}

func newStub() (*stub, error) {
	s := &stub{answers: map[string][]byte{}}
	for _, f := range []struct {
		file string
		to   *[]byte
	}{
		{"state/root.json", &s.root}, {"state/version.json", &s.version}, {"state/metadata.json", &s.metadata},
		{"state/aliases.json", &s.aliases}, {"state/overdue.json", &s.overdue},
	} {
		text, err := recorded.ReadFile("testdata/" + f.file)
		if err != nil {
			return nil, fmt.Errorf("cannot read a recorded answer: %w", err)
		}
		*f.to = text
	}
	for _, size := range sizes {
		text, err := recorded.ReadFile("testdata/answers/" + size.index + ".json")
		if err != nil {
			return nil, fmt.Errorf("cannot read a recorded answer: %w", err)
		}
		if s.answers[size.target()], err = enlarge(text, size.times); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func searchPath(index string) string { return "/" + index + "/_search" }

// enlarge returns an answer with its documents so many times: a megabyte need not be
// recorded.
func enlarge(answer []byte, times int) ([]byte, error) {
	const open, shut = `"hits":[`, `]}}`
	head, rest, opened := bytes.Cut(answer, []byte(open))
	hits, ended := bytes.CutSuffix(rest, []byte(shut))
	if !opened || !ended {
		return nil, fmt.Errorf("no list of hits in a recorded answer: %.100q", answer)
	}
	all := bytes.Join(slices.Repeat([][]byte{hits}, times), []byte(","))
	return slices.Concat(head, []byte(open), all, []byte(shut)), nil
}

// serve answers one request.
func (s *stub) serve(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("application/json; charset=UTF-8")
	target := string(ctx.Path())
	if n := ctx.QueryArgs().Peek("size"); n != nil {
		target += "?size=" + string(n)
	}
	if answer := s.answers[target]; answer != nil {
		ctx.Response.SetBodyRaw(answer)
		return
	}
	if n, ok := paddedSize(target); ok {
		ctx.SetBodyStream(padded(n), int(n))
		return
	}
	switch target {
	case bulkPath:
		ctx.SetBody(acknowledged(bytes.Count(ctx.PostBody(), []byte("\n")) / 2))
	case searchPath(echoIndex):
		ctx.SetBody(echoed(ctx.PostBody()))
	case "/":
		ctx.Response.SetBodyRaw(s.root)
	case "/_alias":
		ctx.Response.SetBodyRaw(s.aliases)
	case "/_cluster/state/version,metadata":
		ctx.Response.SetBodyRaw(s.metadata)
	case "/_cluster/state/blocks": // has the cluster_uuid, and guard finds no block in it
		ctx.Response.SetBodyRaw(s.version)
	case "/_cluster/state/version":
		s.serveVersion(ctx)
	default:
		ctx.SetStatusCode(fasthttp.StatusNotFound)
		ctx.SetBodyString(fmt.Sprintf(`{"error":"the stub has no answer to %s %s","status":404}`, ctx.Method(), ctx.Path()))
	}
}

// serveVersion waits for a newer state, which never comes, as a node waits.
func (s *stub) serveVersion(ctx *fasthttp.RequestCtx) {
	args := ctx.QueryArgs()
	wanted, err := strconv.Atoi(string(args.Peek("wait_for_metadata_version")))
	if err != nil || wanted <= metadataVersion {
		ctx.Response.SetBodyRaw(s.version)
		return
	}
	wait, err := time.ParseDuration(string(args.Peek("wait_for_timeout")))
	if err != nil {
		ctx.SetStatusCode(fasthttp.StatusBadRequest)
		return
	}
	time.Sleep(wait)
	ctx.SetStatusCode(fasthttp.StatusInternalServerError)
	ctx.Response.SetBodyRaw(s.overdue)
}

// echoIndex answers a search with a document that tells what the stub received.
const echoIndex = "echo"

// echoed is the answer of echoIndex to a request with this body.
func echoed(body []byte) []byte {
	source := map[string]string{"name": string(body), "region": "eu", "iban": "hidden"}
	hit := map[string]any{"_index": echoIndex, "_id": "1", "_score": 1.0, "_source": source}
	text, err := json.Marshal(map[string]any{
		"took": 1, "timed_out": false, "_shards": map[string]int{"total": 1, "successful": 1, "skipped": 0, "failed": 0},
		"hits": map[string]any{"total": map[string]any{"value": 1, "relation": "eq"}, "max_score": 1.0, "hits": []any{hit}},
	})
	if err != nil {
		panic("BUG: cannot write an answer: " + err.Error()) // maps of strings and numbers
	}
	return text
}

// bulkPath takes bulks of any size.
const bulkPath = "/_bulk"

// acknowledged is the answer to a bulk of n items.
func acknowledged(n int) []byte {
	b := []byte(`{"took":30,"errors":false,"items":[`)
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"index":{"_index":"people","_id":"%d","_version":1,"result":"created",`+
			`"_shards":{"total":1,"successful":1,"failed":0},"_seq_no":%d,"_primary_term":1,"status":201}}`, i, i)
	}
	return append(b, "]}"...)
}

// paddedIndex, with a number of bytes behind it, is an index whose answer has that size.
const paddedIndex = "padded-"

func paddedSize(target string) (int64, bool) {
	text, _ := strings.CutSuffix(target, "/_search")
	text, ok := strings.CutPrefix(text, "/"+paddedIndex)
	n, err := strconv.ParseInt(text, 10, 64)
	return n, ok && err == nil && n > 0
}

// padded reads n bytes of JSON that are made while they are read.
func padded(n int64) io.Reader {
	const head, tail = `{"padding":"`, `"}`
	return io.MultiReader(strings.NewReader(head), io.LimitReader(&repeated{text: []byte("0123456789abcdef")}, n-int64(len(head+tail))), strings.NewReader(tail))
}

// repeated reads text again and again.
type repeated struct {
	text []byte
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], r.text[r.at:])
		r.at = (r.at + k) % len(r.text)
		n += k
	}
	return n, nil
}

// runStub serves until the process is ended.
func runStub([]string) error {
	s, err := newStub()
	if err != nil {
		return err
	}
	return listenAndServe(&fasthttp.Server{Handler: s.serve, MaxRequestBodySize: 256 << 20})
}

// listenAndServe tells the parent on which port it serves.
func listenAndServe(s *fasthttp.Server) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	if _, err := fmt.Fprintln(os.Stdout, ln.Addr()); err != nil {
		return fmt.Errorf("cannot tell the address: %w", err)
	}
	return s.Serve(ln)
}
