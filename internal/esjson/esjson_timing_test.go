package esjson

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// docs are the two ends between which real bodies and answers lie.
var docs = map[string][]byte{
	"long-strings": []byte(`{"hits":[` + strings.Repeat(`{"message":"`+strings.Repeat("The quick brown fox jumps over the lazy dog. ", 40)+`","n":1},`, 50) + `{}]}`),
	"small-fields": []byte(`{"hits":[` + strings.Repeat(`{"_index":"logs-1","_id":"42","_score":1.25,"_source":{"a":1,"bytes":20451,"ok":true,"ip":"10.0.0.1","tags":["x","y"],"geo":{"lat":52.5,"lon":13.4}}},`, 500) + `{}]}`),
	"accents":      []byte(`{"hits":[` + strings.Repeat(`{"message":"`+strings.Repeat("Überall wächst grünes Gras, und die Straße führt nach Köln. ", 30)+`"},`, 50) + `{}]}`),
	"query":        []byte(`{"size":20,"query":{"bool":{"must":[{"match":{"message":{"query":"connection reset","operator":"and"}}}],"filter":[{"term":{"tenant":"eu"}},{"range":{"@timestamp":{"gte":"now-1h","lt":"now"}}}]}},"sort":[{"@timestamp":"desc"}],"aggs":{"per_host":{"terms":{"field":"host.name","size":10}}}}`),
}

var docNames = []string{"long-strings", "small-fields", "accents", "query"}

func bench(b *testing.B, run func(src []byte) bool) {
	for _, name := range docNames {
		b.Run(name, func(b *testing.B) {
			src := docs[name]
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if !run(src) {
					b.Fatal("refused")
				}
			}
		})
	}
}

func BenchmarkSkip(b *testing.B)       { bench(b, skipsWhole) }
func BenchmarkGjsonValid(b *testing.B) { bench(b, gjson.ValidBytes) }
func BenchmarkStdValid(b *testing.B)   { bench(b, json.Valid) }

func BenchmarkParse(b *testing.B) {
	var tape Tape
	bench(b, func(src []byte) bool {
		_, err := Parse(&tape, src, RequestLimits())
		return err == nil
	})
}

func BenchmarkParseAndPrint(b *testing.B) {
	var tape Tape
	var out []byte
	bench(b, func(src []byte) bool {
		v, err := Parse(&tape, src, RequestLimits())
		out = AppendValue(out[:0], v)
		return err == nil
	})
}

func BenchmarkManyKeys(b *testing.B) {
	var s strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&s, `,"key_%d":%d`, i, i)
	}
	src := []byte("{" + s.String()[1:] + "}")
	var tape Tape
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := Parse(&tape, src, RequestLimits()); err != nil {
			b.Fatal(err)
		}
	}
}
