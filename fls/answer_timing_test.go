package fls

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"guard/internal/esjson"
)

// answers are search answers of 200 hits, from long texts to many small fields.
func answers() map[string][]byte {
	hits := func(source string) []byte {
		var s strings.Builder
		s.WriteString(`{"took":3,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"total":{"value":200,"relation":"eq"},"max_score":1.0,"hits":[`)
		for i := range 200 {
			if i > 0 {
				s.WriteByte(',')
			}
			fmt.Fprintf(&s, `{"_index":"hr","_id":"%d","_score":1.0,"_source":%s}`, i, source)
		}
		return []byte(s.String() + `]}}`)
	}
	return map[string][]byte{
		"long-text": hits(`{"message":"` + strings.Repeat("The quick brown fox jumps over the lazy dog. ", 40) + `","level":"info","ssn":"123"}`),
		"log-line":  hits(`{"@timestamp":"2026-01-02T03:04:05.678Z","message":"GET /index.html HTTP/1.1 200 1234 Mozilla/5.0 (X11; Linux x86_64)","host":{"name":"web-1","ip":"10.0.0.1"},"ssn":"123","level":"info"}`),
		"small":     hits(`{"a":1,"b":20451,"ok":true,"ip":"10.0.0.1","tags":["x","y"],"geo":{"lat":52.5,"lon":13.4},"ssn":"1","person":{"passport":"x","n":2}}`),
	}
}

var answerNames = []string{"long-text", "log-line", "small"}

func benchAnswers(b *testing.B, run func(src []byte) bool) {
	docs := answers()
	for _, name := range answerNames {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(docs[name])))
			b.ReportAllocs()
			for b.Loop() {
				if !run(docs[name]) {
					b.Fatal("refused")
				}
			}
		})
	}
}

func benchFilter(b *testing.B, p *Projection) {
	a := &Answer{KeepEmpty: true, Visible: func([]byte) *Projection { return p }}
	var dst []byte
	benchAnswers(b, func(src []byte) bool {
		out, err := a.AppendSearch(dst[:0], src)
		dst = out
		return err == nil
	})
}

func BenchmarkAnswerNothingHidden(b *testing.B) { benchFilter(b, projection(b, "~nope ~person.nope")) }
func BenchmarkAnswerTwoHidden(b *testing.B)     { benchFilter(b, projection(b, "~ssn ~person.passport")) }
func BenchmarkAnswerIncluded(b *testing.B)      { benchFilter(b, projection(b, "message level a geo.lat")) }
func BenchmarkAnswerEverything(b *testing.B)    { benchFilter(b, ShowEverything()) }
func BenchmarkAnswerGjsonValid(b *testing.B)    { benchAnswers(b, gjson.ValidBytes) }
func BenchmarkAnswerSkip(b *testing.B) {
	benchAnswers(b, func(src []byte) bool { _, err := esjson.Skip(src, 0); return err == nil })
}

// BenchmarkAnswerShared is the usual answer to a search: the cluster left out what is
// hidden, so that it is only looked at.
func BenchmarkAnswerShared(b *testing.B) {
	p := ShowEverything()
	a := &Answer{KeepEmpty: true, Visible: func([]byte) *Projection { return p }}
	benchAnswers(b, func(src []byte) bool {
		_, _, err := a.Search(src)
		return err == nil
	})
}
