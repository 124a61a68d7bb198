package proxy

import (
	"strings"
	"testing"
)

func TestParseHead(t *testing.T) {
	ok := func(block string, method, target string, want framing) {
		t.Helper()
		h, rej := parseHead(block)
		if rej != nil {
			t.Errorf("%q is refused: %v", block, rej)
			return
		}
		if h.method != method || h.target != target || h.body != want {
			t.Errorf("%q: got %s %s %+v", block, h.method, h.target, h.body)
		}
	}
	ok("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET", "/", framing{})
	ok("POST /a?b HTTP/1.1\r\nhost:a\r\ncontent-length: 007\r\n\r\n", "POST", "/a?b", framing{length: 7})
	ok("PUT /a HTTP/1.1\r\nHOST:  [::1]:9200\t\r\nTransfer-Encoding: chunked\r\n\r\n", "PUT", "/a", framing{chunked: true})
	ok("GET / HTTP/1.0\r\n\r\n", "GET", "/", framing{})
	ok("DELETE /a HTTP/1.1\r\nHost: a\r\nX: \xff\r\n\r\n", "DELETE", "/a", framing{})
	ok("GET / HTTP/1.1\r\nHost: a\r\nAccept: a\r\nAccept: b\r\nExpect: 100-Continue\r\nEmpty:\r\n\r\n", "GET", "/", framing{})
	ok("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n\r\n", "GET", "/", framing{})
}

// refusedHeads are heads that guard refuses, with the status and a part of the reason.
// TestFrame sends the same over sockets.
var refusedHeads = []struct {
	head   string
	status int
	reason string
}{
	{"get / HTTP/1.1\r\nHost: a\r\n\r\n", 501, `method "get" is not known`},
	{"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 501, `method "TRACE"`},
	{"CONNECT es:9200 HTTP/1.1\r\nHost: a\r\n\r\n", 501, `method "CONNECT"`},
	{"PRI * HTTP/2.0\r\n\r\n", 501, `method "PRI"`},
	{"G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the method is not a token"},
	{" / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the method is not a token"},
	{"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "the request line is not made of"},
	{"GET /\r\nHost: a\r\n\r\n", 400, "the request line is not made of"},
	{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400, `version "/ HTTP/1.1"`},
	{"GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400, `version " HTTP/1.1"`},
	{"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400, `version "HTTP/1.1 "`},
	{"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400, `version "b HTTP/1.1"`},
	{"GET / HTTP/1.2\r\nHost: a\r\n\r\n", 400, `version "HTTP/1.2"`},
	{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400, `version "HTTP/2.0"`},
	{"GET / http/1.1\r\nHost: a\r\n\r\n", 400, `version "http/1.1"`},
	{"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 400, "want a path that starts with a slash"},
	{"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "want a path that starts with a slash"},
	{"GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400, "want a path that starts with a slash"},
	{"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "byte 0x23 at offset 2"},
	{"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "byte 0x00 at offset 1"},
	{"GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "byte 0xc3 at offset 1"},
	{"GET / HTTP/1.1\r\n\r\n", 400, "no Host header"},
	{"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, `header "host" comes twice`},
	{"GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, `host "" is not a host name`},
	{"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, `host "a b" is not a host name`},
	{"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, `host "a/b" is not`},
	{"GET / HTTP/1.1\r\nHost: a\r\nX Y: 1\r\n\r\n", 400, `header name "X Y" is not a token`},
	{"GET / HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n", 400, `header name "X " is not a token`},
	{"GET / HTTP/1.1\r\nHost: a\r\n: 1\r\n\r\n", 400, `header name "" is not a token`},
	{"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400, `header line "X" has no colon`},
	{"GET / HTTP/1.1\r\nHost: a\r\nX\x00: 1\r\n\r\n", 400, `header name "X\x00"`},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n", 400, `byte 0x00 in the value of header "X"`},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb: c\r\n\r\n", 400, "byte 0x0d in the value"},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\x7f\r\n\r\n", 400, "byte 0x7f in the value"},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", 400, `header line " b" has no colon`},
	{"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb: c\r\n\r\n", 400, "is not a token"},
	{"GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400, "is not a token"},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", 400, `header "content-length" comes twice`},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n", 400, `content length "3, 3"; want digits alone`},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\n", 400, `content length "+3"`},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, `content length "-1"`},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\n", 400, `content length "0x3"`},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400, `content length ""`},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999999999999999\r\n\r\n", 400, "want up to 18 digits"},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "Content-Length beside Transfer-Encoding"},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n", 400, "Content-Length beside Transfer-Encoding"},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", 501, `transfer encoding "identity"; want chunked`},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: CHUNKED\r\n\r\n", 501, `transfer encoding "CHUNKED"`},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, `transfer encoding "gzip, chunked"`},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n", 501, `transfer encoding "chunked, identity"`},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501, `transfer encoding "xchunked"`},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n", 501, "transfer encoding"},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400, `header "transfer-encoding" comes twice`},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n", 400, "comes twice"},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n", 400, `header name "Transfer-Encoding " is not a token`},
	{"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", 400, "has no colon"},
	{"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "Transfer-Encoding in a request of HTTP/1.0"},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Type: a\r\nContent-Type: b\r\n\r\n", 400, `header "content-type" comes twice`},
	{"POST / HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nauthorization: b\r\n\r\n", 400, `header "authorization" comes twice`},
	{"POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\n", 400, `header "content-encoding" comes twice`},
	{"POST / HTTP/1.1\r\nHost: a\r\nX-Opaque-Id: 1\r\nX-Opaque-Id: 2\r\n\r\n", 400, `header "x-opaque-id" comes twice`},
	{"POST / HTTP/1.1\r\nHost: a\r\nExpect: foo\r\n\r\n", 417, `expectation "foo"; want 100-continue`},
	{"GET / HTTP/1.1\r\nHost: a\r\nConnection: close, Content-Type\r\n\r\n", 400, `"content-type" is for all recipients`},
	{"GET / HTTP/1.1\r\nHost: a\r\nConnection: x\r\nconnection: HOST\r\n\r\n", 400, `"host" is for all recipients`},
	{"GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: 1\r\n", maxFields) + "\r\n", 431, "more than 128 header lines"},
}

func TestParseHeadRefuses(t *testing.T) {
	for _, c := range refusedHeads {
		_, rej := parseHead(c.head)
		switch {
		case rej == nil:
			t.Errorf("%q is accepted", c.head)
		case rej.Status.Code() != c.status || !strings.Contains(rej.Public, c.reason):
			t.Errorf("%q: got %d %q; want %d %q", c.head, rej.Status, rej.Public, c.status, c.reason)
		}
	}
}
