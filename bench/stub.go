package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
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
	answers                                   map[string][]byte // by path
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
		s.answers[searchPath(size.index)] = text
	}
	return s, nil
}

func searchPath(index string) string { return "/" + index + "/_search" }

// serve answers one request.
func (s *stub) serve(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("application/json; charset=UTF-8")
	if answer := s.answers[string(ctx.Path())]; answer != nil {
		ctx.Response.SetBodyRaw(answer)
		return
	}
	switch string(ctx.Path()) {
	case searchPath(echoIndex):
		ctx.SetBody(echoed(ctx.PostBody()))
	case "/":
		ctx.Response.SetBodyRaw(s.root)
	case "/_alias":
		ctx.Response.SetBodyRaw(s.aliases)
	case "/_cluster/state/version,metadata":
		ctx.Response.SetBodyRaw(s.metadata)
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

// runStub serves until the process is ended.
func runStub([]string) error {
	s, err := newStub()
	if err != nil {
		return err
	}
	return listenAndServe(&fasthttp.Server{Handler: s.serve})
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
