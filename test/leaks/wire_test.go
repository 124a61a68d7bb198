package leaks

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// serve answers one connection with text, and tells what was sent until then.
func serve(t *testing.T, text string) (host string, sent <-chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	got := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		chunk := make([]byte, 64<<10)
		n, _ := conn.Read(chunk)
		got <- string(chunk[:n])
		_, _ = io.WriteString(conn, text)
	}()
	return listener.Addr().String(), got
}

func TestSend(t *testing.T) {
	f := func(r Request, auth, want string) {
		t.Helper()
		host, sent := serve(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		a, err := Send(host, auth, &r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != 200 || !bytes.HasSuffix(a.Body, []byte("hi")) {
			t.Errorf("answer %d %q; want 200 hi", a.Status, a.Body)
		}
		if diff := cmp.Diff(want, string(bytes.ReplaceAll([]byte(<-sent), []byte(host), []byte("h")))); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	}
	f(Request{Method: "GET", Path: "/a%2f/../b?x=;&x= "}, "", "GET /a%2f/../b?x=;&x=  HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	f(Request{Method: "POST", Path: "/_search"}, "Basic eA==",
		"POST /_search HTTP/1.1\r\nHost: h\r\nAuthorization: Basic eA==\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	f(Request{Method: "GET", Path: "/", Body: []byte(`{"a": 1}`), Headers: map[string]string{"b": "2", "host": "x"}}, "",
		"GET / HTTP/1.1\r\nb: 2\r\nhost: x\r\nContent-Length: 8\r\nConnection: close\r\n\r\n{\"a\": 1}")
	f(Request{Method: "PUT", Path: "/", Body: []byte(`"a\nb"`), Headers: map[string]string{"Transfer-Encoding": "chunked"}}, "",
		"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\na\nb")
	f(Request{Method: "PUT", Path: "/", BodyB64: "aGk="}, "", "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
	f(Request{Method: "PUT", Path: "/", BodyGen: &BodyGen{Prefix: "<", Open: "(", Count: 3, Core: "x", Close: ")", Suffix: ">"}}, "",
		"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nConnection: close\r\n\r\n<(((x)))>")
	f(Request{Method: "GET", Path: "/", Raw: "get / HTTP/1.1\r\n\r\n"}, "ignored", "get / HTTP/1.1\r\n\r\n")
}

func TestReceive(t *testing.T) {
	f := func(text string, r Request, status int, body string) {
		t.Helper()
		host, _ := serve(t, text)
		a, err := Send(host, "", &r)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != status || string(a.Body) != body {
			t.Errorf("answer %d %q; want %d %q", a.Status, a.Body, status, body)
		}
	}
	get := Request{Method: "GET", Path: "/"}
	f("", get, 0, "")
	f("HTTP/1.1 204 No Content\r\n\r\n", get, 204, "")
	f("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", get, 200, "cut")
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", get, 200, "hi")
	f("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", Request{Method: "HEAD", Path: "/"}, 200, "")
	f("HTTP/1.1 101 Up\r\n\r\nmore", Request{Raw: "x"}, 101, "HTTP/1.1 101 Up\r\n\r\nmore")
	f("nothing known", Request{Raw: "x"}, 0, "nothing known")

	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(w, "plain")
	_ = w.Close()
	f("HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n"+zipped.String(), get, 200, "plain")
	f("HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\nraw", get, 200, "raw")
}
