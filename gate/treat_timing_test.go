package gate

import (
	"fmt"
	"strings"
	"testing"

	"guard/internal/query"
)

// BenchmarkTreatSearch is the treatment of an answer in which nothing is to hide.
func BenchmarkTreatSearch(b *testing.B) {
	hits := func(n int) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, `,{"_index":"hr","_id":"%d","_score":1.0,"_source":{"name":"ada","age":36,"about":"%s"}}`, i, strings.Repeat("words about her ", 12))
		}
		return `{"took":3,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"total":{"value":1},"hits":[` + s.String()[1:] + `]}}`
	}
	for _, c := range []struct {
		name string
		b    *binding
		hits int
	}{
		{"dls-4", &binding{bound: true, rules: query.Rules{Filter: hiding}, indices: []string{"hr"}}, 4},
		{"dls-240", &binding{bound: true, rules: query.Rules{Filter: hiding}, indices: []string{"hr"}}, 240},
		{"fls-240", viewsOf(b, staffMapping, "~ssn"), 240},
	} {
		b.Run(c.name, func(b *testing.B) {
			a := Answer{Status: 200, Body: []byte(hits(c.hits))}
			treat := c.b.treatSearch(asSearch)
			b.SetBytes(int64(len(a.Body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := treat.Treat(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
