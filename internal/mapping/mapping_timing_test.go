package mapping

import (
	"fmt"
	"strings"
	"testing"

	"guard/internal/esjson"
)

// thousand is a mapping at the clusters' default limit of fields.
var thousand = func() string {
	var s strings.Builder
	s.WriteString(`{"properties":{"id":{"type":"keyword"}`)
	for i := range 1000 {
		fmt.Fprintf(&s, `,"field_%d":{"type":"text","copy_to":"all","fields":{"keyword":{"type":"keyword"}}}`, i)
	}
	return s.String() + `}}`
}()

func BenchmarkParse(b *testing.B) {
	v := value(b, thousand)
	for b.Loop() {
		if _, err := Parse(v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	v, err := esjson.Parse(new(esjson.Tape), []byte(thousand), esjson.RequestLimits())
	if err != nil {
		b.Fatal(err)
	}
	m, err := Parse(v)
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{"field_77", "field_77.nope.deeper"} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Lookup(path)
			}
		})
	}
}
