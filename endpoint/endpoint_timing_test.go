package endpoint

import "testing"

// BenchmarkAsk is all that this package does for a request, bodies of searches aside.
func BenchmarkAsk(b *testing.B) {
	for _, c := range []struct{ name, verb, target, body string }{
		{"search", "POST", "/logs-*/_search?typed_keys=true&ignore_unavailable=true", `{"size":1}`},
		{"document", "GET", "/logs/_doc/1", ""},
		{"mget-10", "POST", "/logs/_mget", `{"ids":["1","2","3","4","5","6","7","8","9","10"]}`},
		{"msearch-2", "POST", "/_msearch", "{\"index\":\"a\",\"preference\":1}\n{\"size\":1}\n{\"index\":\"b\"}\n{}\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := request(b, c.verb, c.target, c.body)
			b.ReportAllocs()
			for b.Loop() {
				m, err := testRouter.MatchRequest(r)
				if err != nil {
					b.Fatal(err)
				}
				q, err := m.Query(r)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := m.Ask(q, Rules{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTarget(b *testing.B) {
	r := request(b, "POST", "/logs-*/_search?typed_keys=true&ignore_unavailable=true", "")
	m, err := testRouter.MatchRequest(r)
	if err != nil {
		b.Fatal(err)
	}
	indices := []string{"logs-2026.11", "logs-2026.12"}
	b.ReportAllocs()
	for b.Loop() {
		_ = m.Target(indices, r.Params)
	}
}
