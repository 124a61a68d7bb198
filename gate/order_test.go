package gate

import (
	"slices"
	"strings"
	"testing"

	"guard/indexresolver"
)

// TestOrderTold holds which searches are sorted in the order of writing: those over an
// index that keeps its documents, or segments, in an order that tells of what is hidden.
func TestOrderTold(t *testing.T) {
	const timed = `{"properties":{"@timestamp":{"type":"date"},"pay":{"type":"long"},"boss":{"type":"long","copy_to":"all"},"all":{"type":"long"},"dept":{"type":"keyword","fields":{"raw":{"type":"keyword"}}},"same":{"type":"alias","path":"pay"}}}`
	index := func(name, mapping string, sort ...string) indexresolver.Index {
		return indexresolver.Index{Name: name, Mapping: []byte(mapping), Sort: sort, Aliases: []indexresolver.Membership{{Alias: "of-" + name, Filter: []byte(`{"term":{"dept":"eng"}}`)}}}
	}
	indices := []indexresolver.Index{
		index("plain", strings.Replace(timed, "@timestamp", "when", 1)), index("timed", timed), index("by-pay", timed, "dept", "pay"),
		index("by-raw", timed, "dept.raw"), index("by-same", timed, "same"), index("by-all", timed, "all"), index("by-write", timed, "_seq_no"),
	}
	f := func(rules, target, body string, want string) {
		t.Helper()
		s := worldWith(t, "  cluster_permissions: [\"*\"]\n  index_permissions:\n    - {index_patterns: [\"*\"], allowed_actions: [\"indices:data/read/*\"]"+rules+"}\n", indices)
		out := planFor(t, s, "POST", target, body)
		got := "as it is"
		switch sent := string(out.Forward.Call.Body); {
		case out.Kind == Reject:
			got = "refused"
		case strings.Contains(sent, `"sort":["_seq_no"]`):
			got = "sorted"
		case strings.Contains(sent, "_seq_no"):
			got = sent
		}
		if got != want {
			t.Errorf("%s %s under %s: %s; want %s: %s", target, body, rules, got, want, gist(t, out))
		}
	}
	const (
		none = ""
		eng  = `, dls: '{"term":{"dept":"eng"}}'`
		pay  = `, fls: ["~pay"]`
		only = `, fls: ["dept"]`
		boss = `, fls: ["~boss"]`
	)
	sum := `{"size":0,"aggs":{"s":{"sum":{"field":"dept"}}}}`
	first := `{"size":0,"aggs":{"s":{"sampler":{}}}}`
	for rules, told := range map[string][]string{
		none: nil, eng: {"timed"}, pay: {"by-pay", "by-same"},
		only: {"timed", "by-pay", "by-same", "by-all"}, boss: {"by-all"},
	} {
		for _, target := range []string{"plain", "timed", "of-timed", "by-pay", "by-raw", "by-same", "by-all", "by-write"} {
			want := "as it is"
			if slices.Contains(told, target) || target == "of-timed" && rules != none { // its filter hides documents
				want = "sorted"
			}
			f(rules, "/"+target+"/_search", `{}`, want)
			refused := strings.NewReplacer("sorted", "refused").Replace(want)
			f(rules, "/"+target+"/_search", first, refused)
			if strings.HasPrefix(target, "by-") {
				f(rules, "/"+target+"/_search", sum, refused) // its last digits
			} else {
				f(rules, "/"+target+"/_search", sum, "as it is")
			}
			f(rules, "/"+target+"/_count", `{}`, "as it is")
		}
	}
	auto := `{"auto_date_histogram":{"field":"when","buckets":4}}`
	f(eng, "/timed/_search", `{"size":0,"aggs":{"a":`+auto+`}}`, "as it is")
	f(eng, "/timed/_search", `{"size":0,"aggs":{"t":{"terms":{"field":"dept"},"aggs":{"a":`+auto+`}}}}`, "refused") // wide by the first documents of each bucket
	f(eng, "/plain/_search", `{"size":0,"aggs":{"t":{"terms":{"field":"dept"},"aggs":{"a":`+auto+`}}}}`, "as it is")
	f(eng, "/plain,timed/_search", `{}`, "sorted")
	f(pay, "/plain,by-pay/_search", `{}`, "sorted")
}
