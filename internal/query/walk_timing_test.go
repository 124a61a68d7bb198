package query

import (
	"fmt"
	"strings"
	"testing"

	"guard/internal/esjson"
)

// dashboard is a search as a dashboard sends it, about 2 KiB.
var dashboard = `{"size":0,"track_total_hits":true,"sort":[{"hire_date":{"order":"desc","unmapped_type":"boolean"}}],` +
	`"query":{"bool":{"must":[],"filter":[{"range":{"hire_date":{"gte":"2020-01-01T00:00:00.000Z","lte":"now","format":"strict_date_optional_time"}}},` +
	strings.Repeat(`{"match_phrase":{"dept":{"query":"engineering"}}},{"terms":{"city":["Paris","Oslo","Rome","Wien"]}},`, 8) +
	`{"exists":{"field":"rating"}}],"should":[],"must_not":[{"term":{"tags":{"value":"none"}}}]}},` +
	`"aggs":{"per_day":{"date_histogram":{"field":"hire_date","fixed_interval":"1d","time_zone":"UTC","min_doc_count":1},` +
	`"aggs":{"by_city":{"terms":{"field":"city","size":10,"order":{"_count":"desc"}},"aggs":{"r":{"avg":{"field":"rating"}}}}}}},` +
	`"docvalue_fields":[{"field":"hire_date","format":"date_time"}],"stored_fields":["name"],"script_fields":{},"_source":{"excludes":[]}}`

func BenchmarkAppendSearch(b *testing.B) {
	for _, name := range []string{"free", "dls", "fls", "both"} {
		b.Run(name+"/dashboard-2KiB", func(b *testing.B) {
			r := ruleSets[name]
			var tape esjson.Tape
			var dst []byte
			b.SetBytes(int64(len(dashboard)))
			b.ReportAllocs()
			for b.Loop() {
				v, err := esjson.Parse(&tape, []byte(dashboard), esjson.RequestLimits())
				if err != nil {
					b.Fatal(err)
				}
				if dst, err = AppendSearch(dst[:0], v, nil, &r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSource is a _source of many names beside rules that include: what a name costs
// does not depend on how many there are.
func BenchmarkSource(b *testing.B) {
	for _, kind := range [][2]string{{"covered", "name.x%d"}, {"other", "other%d"}} {
		for _, n := range []int{1_000, 64_000} {
			b.Run(fmt.Sprintf("%s/%d", kind[0], n), func(b *testing.B) {
				v, err := esjson.Parse(new(esjson.Tape), []byte(longList(n, kind[1])), esjson.RequestLimits())
				if err != nil {
					b.Fatal(err)
				}
				r := ruleSets["incl"]
				r.Fields = fakeFields{}
				for b.Loop() {
					if _, err := AppendSearch(nil, v, nil, &r); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/name")
			})
		}
	}
}
