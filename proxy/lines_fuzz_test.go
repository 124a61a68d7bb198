package proxy

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// naiveBulk is what a bulk is: pairs of lines, read with everything in memory. ok is
// false where an action lacks its document.
func naiveBulk(body string) (sent string, ok bool) {
	var out strings.Builder
	lines := strings.SplitAfter(body, "\n")
	line := func() (string, bool) {
		if len(lines) == 0 || lines[0] == "" {
			return "", false
		}
		s := strings.TrimSuffix(lines[0], "\n")
		if len(s) < len(lines[0]) {
			s = strings.TrimSuffix(s, "\r")
		}
		lines = lines[1:]
		return s, true
	}
	for {
		action, more := line()
		if !more {
			return out.String(), true
		}
		if action == "" {
			continue
		}
		if strings.Contains(action, "bad") || strings.Contains(action, "internal") {
			return "", false
		}
		document := ""
		if !strings.Contains(action, `"delete"`) {
			if document, more = line(); !more {
				return "", false
			}
			document += "\n"
		}
		if !strings.Contains(action, "deny") {
			out.WriteString(action + "\n" + document)
		}
	}
}

// FuzzLines holds that the pump sends what the naive reading sends, however the bytes
// come, and refuses what that refuses.
func FuzzLines(f *testing.F) {
	for _, s := range []string{
		"{\"index\":{}}\n{\"a\":1}\n", "{\"delete\":1}\n\n{\"index\":{}}\r\n\r\n", "deny\n{}\n{\"index\":{}}\n{}", "bad\n", "x", "\r\n\n\r", "x\n\n\ny\n\r\n",
	} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, body string, enough uint8) {
		var src io.Reader = strings.NewReader(body)
		if enough%2 == 1 {
			src = iotest.OneByteReader(src)
		}
		limits := testConfig().Limits
		b := budget{each: 1 << 30}
		b.left.Store(1 << 30)
		p := newLinePump(src, &fakeLines{}, limits, &share{from: &b})
		var got bytes.Buffer
		done, err := p.run(&got, int(enough))
		if err == nil && !done {
			done, err = p.run(&got, 0)
		}
		want, ok := naiveBulk(body)
		if ok != (err == nil) {
			t.Fatalf("%q: error %v; the naive reading says %v", body, err, ok)
		}
		if ok && (got.String() != want || !done) {
			t.Fatalf("%q: sent %q, done %v; want %q", body, got.String(), done, want)
		}
		if ok && (p.local != nil) != (want == "") {
			t.Fatalf("%q: a local answer %v though %q was sent", body, p.local, want)
		}
	})
}
