package gate

import (
	"testing"

	"guard/indexresolver"
)

// TestReadThroughStream holds that a stream is no index to read documents by id from, as
// measured on OpenSearch 2.19 and 3.4, whether it has one index behind it or more.
func TestReadThroughStream(t *testing.T) {
	s := worldWith(t, `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: [one, two], allowed_actions: ["*"]}
`, []indexresolver.Index{{Name: ".ds-one-000001"}, {Name: ".ds-two-000001"}, {Name: ".ds-two-000002"}},
		indexresolver.DataStream{Name: "one", Indices: []string{".ds-one-000001"}},
		indexresolver.DataStream{Name: "two", Indices: []string{".ds-two-000001", ".ds-two-000002"}})
	f := expects(t, s, "GET")
	f("/one/_doc/1", "", "refused no such index [one]")
	f("/two/_doc/1", "", "refused no such index [two]")
	f("/two/_source/1", "", "refused no such index [two]")
	f("/.ds-one-000001/_doc/1", "", "GET /.ds-one-000001/_doc/1")
}
