package source

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guard/indexresolver"
)

// large is a cluster of so many indices, each with an alias of its own; half of these
// have a filter. There are 200 different mappings, as there are so many templates.
type large struct{ indices int }

func (l large) mapping(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"dynamic":"strict","properties":{"@timestamp":{"type":"date"},"template_%d":{"type":"long"}`, i%200)
	for f := range 20 {
		fmt.Fprintf(&b, `,"field_%d":{"type":"text","fields":{"keyword":{"type":"keyword","ignore_above":256}}}`, f)
	}
	return b.String() + "}}"
}

func (l large) state(w io.Writer, version int) {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `{"cluster_name":"x","cluster_uuid":"large","version":%d,"state_uuid":"s%d","metadata":{"cluster_coordination":{"term":1},"indices":{`, version, version)
	for i := range l.indices {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, `"logs-app-%d-2026.01.%02d":{"aliases_version":2,"state":"open","settings":{"index":{"uuid":"uuid-of-index-%08d"}},"mappings":{"_doc":%s},"aliases":["alias-%d"]}`,
			i, i%30, i, l.mapping(i), i)
	}
	b.WriteString("}}}")
	_ = b.Flush() // who does not read on sees it
}

func (l large) aliases(w io.Writer) {
	b := bufio.NewWriter(w)
	b.WriteByte('{')
	for i := range l.indices {
		if i > 0 {
			b.WriteByte(',')
		}
		details := "{}"
		if i%2 == 0 {
			details = fmt.Sprintf(`{"filter":{"term":{"tenant":"t%d"}},"index_routing":"1","search_routing":"1"}`, i%50)
		}
		fmt.Fprintf(b, `"logs-app-%d-2026.01.%02d":{"aliases":{"alias-%d":%s}}`, i, i%30, i, details)
	}
	b.WriteByte('}')
	_ = b.Flush() // as above
}

// watchHeap returns a function that tells by how much the live heap has grown at most.
func watchHeap() func() uint64 {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(50 * time.Millisecond):
				runtime.GC() // so that garbage does not count
				runtime.ReadMemStats(&now)
				if now.HeapAlloc > before.HeapAlloc {
					most.Store(max(most.Load(), now.HeapAlloc-before.HeapAlloc))
				}
			}
		}
	}()
	return func() uint64 { close(stop); <-done; return most.Load() }
}

// BenchmarkReadLarge reads the state of 100,000 indices and 100,000 aliases: anew, and where
// most of it is known already. The answers come over
// a socket, as in life; their sending counts too.
func BenchmarkReadLarge(b *testing.B) {
	l := large{100_000}
	server := httptest.NewServer(recorded(l))
	defer server.Close()
	f := func(name string, old *indexresolver.State) *indexresolver.State {
		var state *indexresolver.State
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := reader{fetch: httpFetcher(server.URL)}
				c, _, err := r.contents(b.Context(), nil, old)
				if err != nil {
					b.Fatal(err)
				}
				if state, err = indexresolver.New(*c, old); err != nil {
					b.Fatal(err)
				}
			}
		})
		return state
	}
	f("known", f("anew", nil))
}

// BenchmarkReadLargeHeap reports the peak of the live heap: at the largest, and what stays.
func BenchmarkReadLargeHeap(b *testing.B) {
	server := httptest.NewServer(recorded(large{100_000}))
	defer server.Close()
	for b.Loop() {
		peak := watchHeap()
		r := reader{fetch: httpFetcher(server.URL)}
		c, _, err := r.contents(b.Context(), nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
		rest := watchHeap()
		state, err := indexresolver.New(*c, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(rest())/(1<<20), "state-MiB")
		runtime.KeepAlive(state)
	}
}

// recorded makes the answers once, so that their making does not count.
func recorded(l large) http.Handler {
	var state, aliases strings.Builder
	l.state(&state, 1)
	l.aliases(&aliases)
	answers := map[string]string{
		"/": `{"version":{"distribution":"opensearch","number":"2.19.4"}}`, versionTarget: `{"cluster_uuid":"large","version":1,"state_uuid":"s1"}`,
		"/_alias": aliases.String(), "/_cluster/state/version,metadata": state.String(),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, answers[r.URL.Path]) // who does not read on sees it
	})
}

type httpFetcher string

func (f httpFetcher) Stream(ctx context.Context, method, target string, read func(int, io.Reader) error) error {
	req, err := http.NewRequestWithContext(ctx, method, string(f)+target, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return read(res.StatusCode, res.Body)
}
