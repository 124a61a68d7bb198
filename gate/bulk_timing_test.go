package gate

import (
	"bytes"
	"testing"

	"guard/endpoint"
	"guard/internal/ask"
)

// BenchmarkBulk is what a bulk of 1,000 items over twenty indices costs, and apart from
// each other what it takes to read its action lines, and to decide what they ask.
func BenchmarkBulk(b *testing.B) {
	snap, sec := timed(b)
	lines := bytes.Split(bytes.TrimSuffix([]byte(timedBulk(1000)), []byte("\n")), []byte("\n"))
	who := snap.Principal(identityOf("writer", sec.Users["writer"]))
	planned := func() *bulkLines {
		r := &ask.Request{Method: "POST", RawTarget: "/_bulk", Path: []string{"_bulk"}, Now: recordedAt}
		r.Header.ContentType = "application/x-ndjson"
		out := snap.Plan(who, r, Known{Fresh: true})
		l, ok := out.Forward.Lines.(*bulkLines)
		if !ok {
			b.Fatalf("kind %d, %s; want the lines of a bulk", out.Kind, out.Rejection.Public)
		}
		return l
	}
	b.Run("read", func(b *testing.B) {
		var p endpoint.BulkParser
		b.ReportAllocs()
		for b.Loop() {
			for i := 0; i < len(lines); i += 2 {
				if _, err := p.Parse(lines[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("decide", func(b *testing.B) {
		actions := make([]endpoint.BulkAction, 0, len(lines)/2)
		for i := 0; i < len(lines); i += 2 {
			a, err := new(endpoint.BulkParser).Parse(lines[i])
			if err != nil {
				b.Fatal(err)
			}
			actions = append(actions, a)
		}
		b.ReportAllocs()
		for b.Loop() {
			l := planned()
			for i := range actions {
				l.action = actions[i]
				l.item = l.judge(actions[i])
				if rej := l.refusal(nil); rej != nil {
					b.Fatalf("item %d is refused: %s", i, rej.Public)
				}
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		var sent []byte
		b.ReportAllocs()
		for b.Loop() {
			sent = timedLines(b, sent[:0], planned(), lines)
		}
	})
}
