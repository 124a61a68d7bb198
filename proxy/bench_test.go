package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"guard/gate"
	"guard/internal/ask"
)

// BenchmarkWire sends one search through guard, through a bare fasthttp proxy, and to
// the stub itself, in one run. cpu-us/op is what this process used for an operation:
// client and stub are in it, so "direct" is to be taken off the others.
func BenchmarkWire(b *testing.B) {
	for _, size := range []int{1200, 1 << 20} {
		stub := benchStub(b, size)
		targets := []struct{ name, addr string }{
			{"direct", stub},
			{"fasthttp", bareProxy(b, stub)},
			{"guard", startGuard(b, &fakeGate{intake: gate.IntakeStream}, testConfig("http://"+stub)).addr},
			{"guard-planned", startGuard(b, readPlan(nil, true), testConfig("http://"+stub)).addr},
			{"guard-treated", startGuard(b, readPlan(asIs{}, true), testConfig("http://"+stub)).addr},
		}
		for _, target := range targets {
			b.Run(fmt.Sprintf("answer=%d/%s", size, target.name), func(b *testing.B) {
				benchSearches(b, target.addr, size)
			})
		}
	}
}

type asIs struct{}

func (asIs) Treat(a gate.Answer) (gate.Answer, error) { return a, nil }

var _ gate.Treatment = asIs{}

// benchStub answers everything with size bytes of JSON.
func benchStub(b *testing.B, size int) string {
	body := []byte(`{"a":"` + strings.Repeat("x", size-8) + `"}`)
	return benchServe(b, func(ctx *fasthttp.RequestCtx) {
		ctx.SetContentType("application/json; charset=UTF-8")
		ctx.SetBody(body)
	})
}

// bareProxy forwards with fasthttp's own client and its defaults.
func bareProxy(b *testing.B, to string) string {
	c := &fasthttp.HostClient{Addr: to, MaxConns: 512}
	return benchServe(b, func(ctx *fasthttp.RequestCtx) {
		if err := c.Do(&ctx.Request, &ctx.Response); err != nil {
			ctx.Error(err.Error(), 502)
		}
	})
}

func benchServe(b *testing.B, h fasthttp.RequestHandler) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	s := &fasthttp.Server{Handler: h}
	go func() { _ = s.Serve(ln) }()
	b.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it has no way to fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchSearches(b *testing.B, addr string, size int) {
	const body = `{"query":{"match":{"name":"anna"}},"size":10}`
	benchRequests(b, addr, []byte(request("POST", "/people/_search", jsonLine+"User-Agent: bench\r\nAccept: application/json\r\n", body)), size)
}

// benchRequests sends raw again and again; its answers have bodies of size bytes.
func benchRequests(b *testing.B, addr string, raw []byte, size int) {
	b.SetParallelism(8)
	b.ReportAllocs()
	start := cpuTime()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		br := bufio.NewReaderSize(c, 64<<10)
		for pb.Next() {
			if _, err := c.Write(raw); err != nil {
				b.Error(err)
				return
			}
			if err := skipAnswer(br, size); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-start).Microseconds())/float64(b.N), "cpu-us/op")
}

// BenchmarkClientSide answers requests of so many bytes without a node: what is left is the
// connection of the client.
func BenchmarkClientSide(b *testing.B) {
	g := startGuard(b, &fakeGate{plan: func(*ask.Principal, *ask.Request, gate.Known) gate.Outcome {
		return gate.Outcome{Kind: gate.Local, Local: gate.Answer{Status: 200, Body: []byte("{}")}}
	}}, testConfig("http://127.0.0.1:1"))
	for _, size := range []int{250, 1000} {
		b.Run(fmt.Sprintf("request=%d", size), func(b *testing.B) {
			pad := size - len(request("GET", "/", "P: \r\n", ""))
			benchRequests(b, g.addr, []byte(request("GET", "/", "P: "+strings.Repeat("x", pad)+"\r\n", "")), 2)
		})
	}
}

// skipAnswer reads one answer of a known size.
func skipAnswer(br *bufio.Reader, size int) error {
	for first := true; ; first = false {
		line, err := br.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !strings.HasPrefix(string(line), "HTTP/1.1 200") {
			return fmt.Errorf("answer %q; want 200", line)
		}
		if len(line) == 2 {
			_, err := io.CopyN(io.Discard, br, int64(size))
			return err
		}
	}
}

func BenchmarkParseHead(b *testing.B) {
	block := request("POST", "/people/_search?pretty", jsonLine+"User-Agent: bench\r\nAccept: application/json\r\nContent-Length: 45\r\n", "")
	b.ReportAllocs()
	for b.Loop() {
		if _, rej := parseHead(block); rej != nil {
			b.Fatal(rej)
		}
	}
}

func BenchmarkRejection(b *testing.B) {
	r := &ask.Rejection{Public: "no permissions for [indices:data/read/search] and User [name=anna]", Reason: ask.ReasonNoPrivilege}
	b.ReportAllocs()
	for b.Loop() {
		rejectionAnswer(r)
	}
}

// BenchmarkNodes takes a connection of the best of so many nodes and gives it back.
func BenchmarkNodes(b *testing.B) {
	for _, count := range []int{1, 3, 100} {
		b.Run(fmt.Sprintf("nodes=%d", count), func(b *testing.B) {
			var names []string
			for i := range count {
				names = append(names, itoa(i))
			}
			p := newPaperNodes(nodeLimits{maxConns: 512, idleTime: time.Minute}, names...)
			for _, h := range p.by {
				h.put(&wire{host: h})
				h.conns++
			}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s, err := p.reserve(b.Context(), &pick{claim: claim{user: "anna"}})
					switch {
					case err != nil:
						b.Error(err)
					case s.wire == nil: // the other goroutine has the connection
						s.host.drop(s.claim)
					default:
						s.host.put(s.wire)
					}
				}
			})
		})
	}
}
