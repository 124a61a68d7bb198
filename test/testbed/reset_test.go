package testbed

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRemains(t *testing.T) {
	f := func(state string, want ...string) {
		t.Helper()
		var m metadata
		if err := json.Unmarshal([]byte(state), &m); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, m.remains()); diff != "" {
			t.Errorf("remains of %s (-want +got):\n%s", state, diff)
		}
	}
	f(`{}`)
	f(`{"indices":{"b":{},"a":{},".opendistro_security":{}}}`, "/a,b")
	f(`{"indices":{"a%b":{}}}`, "/a%25b") // a name is data, not a path
	f(`{"indices":{".ds-s-000001":{},"x":{}},"data_stream":{"data_stream":{"s":{"indices":[{"index_name":".ds-s-000001"}]}}}}`,
		"/_data_stream/s", "/x")
	f(`{"templates":{"t":{}},"index_template":{"index_template":{"i":{}}},"component_template":{"component_template":{"c":{}}}}`,
		"/_index_template/i", "/_component_template/c", "/_template/t")
	f(`{"ingest":{"pipeline":[{"id":"p"}]},"search_pipeline":{"pipeline":[{"id":"q"}]},"stored_scripts":{"s":{}},"repositories":{"r":{}}}`,
		"/_ingest/pipeline/p", "/_search/pipeline/q", "/_scripts/s", "/_snapshot/r")
}

func TestJoinNames(t *testing.T) {
	if got := joinNames(nil); got != nil {
		t.Errorf("no names: %q; want no list, for an empty one means all", got)
	}
	names := make([]string, 100)
	for i := range names {
		names[i] = strings.Repeat("n", 100)
	}
	lists := joinNames(names)
	if joined := strings.Join(lists, ","); joined != strings.Join(names, ",") {
		t.Error("names got lost or doubled")
	}
	for _, list := range lists {
		if len(list) > maxNames+101 {
			t.Errorf("a list of %d bytes; want at most %d", len(list), maxNames)
		}
	}
}
