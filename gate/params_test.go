package gate

import (
	"errors"
	"testing"

	"guard/internal/ask"
)

// TestParams holds which parameters pass, move or are refused, by what they do.
func TestParams(t *testing.T) {
	s := worldWith(t, readerRole, readable())
	f := expects(t, s, "GET")
	// What no row of the endpoint lists, or stands twice, is refused for everybody bound.
	f("/logs-a-1/_search?nonsense=1", "", "refused unrecognized parameter: [nonsense]")
	f("/logs-a-1/_search?size=1&size=2", "", "refused holds parameter [size] twice")
	f("/logs-a-1/_search?request_cache=maybe", "", "refused [request_cache]")
	f("/logs-a-1/_search?scroll=1m", "", "refused [scroll]")
	f("/logs-a-1/_doc/1?q=a", "", "refused unrecognized parameter: [q]")
	f("/logs-a-1/_search?index=secret", "", "refused names its index twice")

	// Formats that guard cannot read are refused, but for tables of text.
	f("/logs-a-1/_search?format=json", "", "GET /logs-a-1/_search?format=json")
	f("/logs-a-1/_search?format=yaml", "", "refused [format]")
	f("/logs-a-1/_mapping?format=cbor", "", "refused [format]")
	f("/?format=smile", "", "refused [format]")
	f("/_cat/indices/logs-a-1?format=yaml", "", "GET /_cat/indices/logs-a-1?format=yaml")

	// What can change request or answer behind the check.
	f("/logs-a-1/_search?search_pipeline=p", "", "refused search_pipeline")
	f("/logs-a-1/_search?search_pipeline=_none", "", "GET /logs-a-1/_search?search_pipeline=_none")
	f("/logs-a-1/_search?explain=true", "", "GET /logs-a-1/_search?explain=true")
	f("/hr/_search?explain=true", "", "refused [explain]")
	f("/hr/_search?explain=false", "", `GET /hr/_search?explain=false&pre_filter_shard_size=1000000 | {"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"term":{"dept":"eng"}}]}}}`)
	f("/logs-a-1/_doc/1?force_synthetic_source=true", "", "refused [force_synthetic_source]")
	f("/logs-a-1/_doc/1?force_synthetic_source=false", "", "GET /logs-a-1/_doc/1?force_synthetic_source=false")

	// Traces and shard statistics tell of what a rule hides.
	f("/logs-a-1/_search?error_trace=true", "", "GET /logs-a-1/_search?error_trace=true")
	f("/hr/_search?error_trace=true", "", "refused [error_trace]")
	f("/hr/_search?pre_filter_shard_size=1", "", "refused [pre_filter_shard_size]")

	// A query in the URL is filtered where it stands, and fields are checked.
	f("/hr/_search?q=name:ada&default_operator=AND", "", `GET /hr/_search?pre_filter_shard_size=1000000 | {"query":{"bool":{"must":[{"query_string":{"query":"name:ada","default_operator":"AND"}}],"filter":[{"term":{"dept":"eng"}}]}}}`)
	f("/hr/_count?q=ada", `{"query":{"match_all":{}}}`, `GET /hr/_count | {"query":{"bool":{"must":[{"query_string":{"query":"ada"}}],"filter":[{"term":{"dept":"eng"}}]}}}`)
	f("/fielded/_search?sort=age:desc", "", `GET /fielded/_search | {"sort":[{"age":"desc"}],"_source":{"includes":["age","name"]}}`)

	// A body in the URL is a body.
	f("/hr/_search?source=%7B%22size%22%3A0%7D&source_content_type=application%2Fjson", "", `GET /hr/_search?pre_filter_shard_size=1000000 | {"size":0,"query":{"bool":{"must":[{"match_all":{}}],"filter":[{"term":{"dept":"eng"}}]}}}`)
	f("/hr/_search?source=%7B%7D&source_content_type=application%2Fyaml", "", "refused application/yaml")

	// Columns of the table that count documents.
	f("/_cat/indices/hr", "", "GET /_cat/indices/hr?h=health,status,index,uuid,pri,rep")
	f("/_cat/indices/hr?h=index,docs.count", "", "refused column [docs.count]")
	f("/_cat/indices/hr?h=*", "", "refused column [*]")
	f("/_cat/indices/hr?s=store.size:desc", "", "refused column [store.size]")
	f("/_cat/indices/hr?h=i,h&s=i:desc&v", "", "GET /_cat/indices/hr?h=i,h&s=i%3Adesc&v")
	f("/_cat/indices/logs-a-1?h=docs.count", "", "GET /_cat/indices/logs-a-1?h=docs.count")
	f("/hr/_field_caps?fields=*&include_empty_fields=false", "", "refused [include_empty_fields]")
	f("/logs-a-1/_field_caps?fields=*&include_empty_fields=false", "", "GET /logs-a-1/_field_caps?fields=*&include_empty_fields=false")
}

// TestIntake holds what is known before a byte of a body is read.
func TestIntake(t *testing.T) {
	s := worldWith(t, readerRole, readable())
	who := s.Principal(ask.Identity{Name: "u"})
	f := func(method, target string, want Intake) {
		t.Helper()
		if got, err := s.Intake(who, newRequest(t, method, target, "", nil)); err != nil || got != want {
			t.Errorf("%s %s: intake %d, %v; want %d", method, target, got, err, want)
		}
	}
	f("GET", "/", IntakeNone)
	f("HEAD", "/hr/_doc/1", IntakeNone)
	f("POST", "/hr/_search", IntakeWhole)
	f("GET", "/hr/_search", IntakeWhole)
	f("PUT", "/hr/_doc/1", IntakeWhole)
	f("POST", "/_bulk", IntakeLines)
	f("POST", "/hr/_bulk", IntakeLines)
	for _, r := range [][2]string{{"GET", "/_nodes/stats"}, {"GET", "/_unheard_of"}, {"POST", "/_bulk/stream"}, {"PATCH", "/hr"}, {"POST", "/hr/_search/scroll/x/y"}, {"POST", "/_reindex/1/_rethrottle"}} {
		var rej *ask.Rejection
		if in, err := s.Intake(who, newRequest(t, r[0], r[1], "", nil)); !errors.As(err, &rej) {
			t.Errorf("%s %s: intake %d, %v; want a refusal", r[0], r[1], in, err)
		}
	}
}
