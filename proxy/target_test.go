package proxy

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"guard/internal/ask"
	shapes "guard/test/framing"
)

func TestSplitPath(t *testing.T) {
	f := func(raw string, want ...string) {
		t.Helper()
		got, err := splitPath(raw)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%q (-want +got), %v:\n%s", raw, err, d)
		}
	}
	f("/")
	f("/_search", "_search")
	f("/a/_doc/1", "a", "_doc", "1")
	f("/a/_search/", "a", "_search") // the clusters ignore one slash at the end
	f("/a/_doc/x%2Fy", "a", "_doc", "x/y")
	f("/a/_doc/..%2f..%2fb", "a", "_doc", "../../b") // an id: one token, also when it is encoded again
	f("/%3Clogs-%7Bnow%2Fd%7D%3E/_search", "<logs-{now/d}>", "_search")
	f("/a%2Cb,c/_search", "a,b,c", "_search")
	f("/a+b/_doc/%2B%25", "a+b", "_doc", "+%") // decoded once; '+' is itself in a path
	f("/%5Fsearch", "_search")
	f("/%c3%a4", "ä")

	fail := func(raw, want string) {
		t.Helper()
		if _, err := splitPath(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v; want %q", raw, err, want)
		}
	}
	fail("//_search", `path segment "": it is empty`)
	fail("/a//_search", "it is empty")
	fail("/a/_search//", "it is empty")
	fail("/a/../b", "dot segments are not resolved")
	fail("/a/%2e%2e/b", "dot segments")
	fail("/./a", "dot segments")
	fail("/a/%2e", "dot segments")
	fail("/logs-a-1%2f..%2flogs-b-1/_search", "an encoded slash or backslash in the place of an index")
	fail("/a%5cb/_search", "an encoded slash or backslash")
	fail("/a/%zz", `bad escape in "%zz"`)
	fail("/a/%4", `bad escape in "%4"`)
	fail("/a/%", "bad escape")
	fail("/%c0%ae%c0%ae/b", "is not UTF-8 when decoded")
	fail("/a/%ff", "is not UTF-8")
	fail("/a%00/_search", "holds a NUL")
}

func TestSplitQuery(t *testing.T) {
	f := func(raw string, want ...ask.Param) {
		t.Helper()
		got, err := splitQuery(raw)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%q (-want +got), %v:\n%s", raw, err, d)
		}
	}
	p := func(name, value string) ask.Param { return ask.Param{Name: name, Value: value, HasValue: true} }
	f("")
	f("pretty", ask.Param{Name: "pretty"})
	f("pretty=", p("pretty", ""))
	f("q=a+b%2Bc%26d", p("q", "a b+c&d"))
	f("q=a;q=b&q=c", p("q", "a"), p("q", "b"), p("q", "c")) // a ';' parts parameters as '&' does
	f("a=b=c", p("a", "b=c"))
	f("&&a=1&", p("a", "1"))
	f("%71=x%2525", p("q", "x%25")) // names are decoded too, and nothing twice

	fail := func(raw, want string) {
		t.Helper()
		if _, err := splitQuery(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v; want %q", raw, err, want)
		}
	}
	fail("q=%", "bad escape")
	fail("%zz=1", "bad escape")
	fail("q=%ff", "not UTF-8")
	fail("q=%00", "holds a NUL")
	fail(strings.Repeat("a&", maxParams+1), "more than 256 URL parameters")
}

var slashes = regexp.MustCompile("/+")

// otherReadings are what a path can become on the way to who serves it, or there.
var otherReadings = map[string]func(raw string) string{
	"slashes merged":   func(raw string) string { return slashes.ReplaceAllString(raw, "/") },
	"dots resolved":    path.Clean,
	"backslash turned": func(raw string) string { return strings.ReplaceAll(raw, `\`, "/") },
	"cut at NUL":       func(raw string) string { raw, _, _ = strings.Cut(raw, "\x00"); return raw },
}

// checkReadings wants the same first segment, the place of an index, by each reading of a
// path, by two of them in any order, and by one that decodes before it splits (clusters
// split first, so that an id may hold "../"). Date math holds slashes and is no path.
func checkReadings(t *testing.T, raw, index string) {
	t.Helper()
	if strings.Contains(index, "<") {
		return
	}
	first := func(path string) string {
		segment, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return segment
	}
	for one, f := range otherReadings {
		for two, g := range otherReadings {
			if got, err := url.PathUnescape(first(g(f(raw)))); err != nil || got != index {
				t.Fatalf("%q names %q, and %q with %s, then %s (%v)", raw, index, got, one, two, err)
			}
		}
	}
	if plain, err := url.PathUnescape(raw); err != nil || first(plain) != index {
		t.Fatalf("%q names %q, and %q if it is decoded first (%v)", raw, index, first(plain), err)
	}
}

// FuzzSplitTarget holds that what is split fairly means the same to net/url, decoded
// once, can be written again without loss, and names no other index to who reads it in
// another way.
func FuzzSplitTarget(f *testing.F) {
	for _, s := range []string{"/a/%2e%2e/b?q=1;q=2", "/%3Clogs-%7Bnow%2Fd%7D%3E/_search?a=%2B+", "//", "/a/%c3%a4/?", "/a%2Fb/_doc/%252F"} {
		f.Add(s)
	}
	for _, s := range shapes.Shapes("") {
		if first, _, _ := strings.Cut(s.Raw, "\r\n"); strings.Count(first, " ") == 2 {
			f.Add(strings.Fields(first + " ")[1])
		}
	}
	f.Fuzz(func(t *testing.T, target string) {
		if target == "" || target[0] != '/' {
			return
		}
		path, params, err := splitTarget(target)
		if err != nil {
			return
		}
		rawPath, _, _ := strings.Cut(target, "?")
		if len(path) > 0 {
			checkReadings(t, rawPath, path[0])
		}
		var again []string
		for _, seg := range path {
			if seg == "" || seg == "." || seg == ".." {
				t.Fatalf("%q: segment %q", target, seg)
			}
			again = append(again, url.PathEscape(seg))
		}
		back, err := splitPath("/" + strings.Join(again, "/"))
		if err != nil || !cmp.Equal(path, back) {
			t.Fatalf("%q: %q written again is read as %q (%v)", target, path, back, err)
		}
		if want, err := url.PathUnescape(strings.Trim(rawPath, "/")); err == nil && strings.Join(path, "/") != want {
			t.Fatalf("%q: %q; net/url says %q", target, path, want)
		}
		for _, p := range params {
			if !utf8.ValidString(p.Name + p.Value) {
				t.Fatalf("%q: parameter %q=%q is not UTF-8", target, p.Name, p.Value)
			}
		}
	})
}
