package source

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/indexresolver"
)

// TestAliasesOfDataStreams reads them as Elasticsearch tells them since 7.14, which is not
// among the real nodes: each is an alias of all indices of its streams.
func TestAliasesOfDataStreams(t *testing.T) {
	const (
		stamp = `"cluster_uuid":"c","state_uuid":"s","version":1`
		index = `:{"state":"open","settings":{"index":{"uuid":"u","hidden":"true"}}}`
	)
	f := func(listed, inState string, want ...indexresolver.Membership) {
		t.Helper()
		c := newCluster(t)
		c.answer = func(asked string) (int, string, bool) {
			switch asked {
			case versionTarget:
				return 200, "{" + stamp + "}", true
			case aliasTarget:
				return 200, `{".ds-d-2":{"aliases":{"own":{}}},"d":{"aliases":` + listed + `}}`, true
			case stateTarget:
				return 200, `{` + stamp + `,"metadata":{"indices":{".ds-d-1"` + index + `,".ds-d-2":{"aliases":["own"],` + index[2:] + `,"x"` + index +
					`},"data_stream":{"data_stream":{"d":{"indices":[{"index_name":".ds-d-1"},{"index_name":".ds-d-2"}]}},"data_stream_aliases":` + inState + `}}}`, true
			}
			return 0, "", false
		}
		r := reader{fetch: c}
		got, _, err := r.contents(t.Context(), nil, nil)
		if err != nil {
			t.Errorf("%s and %s: %v", listed, inState, err)
			return
		}
		state, err := indexresolver.New(*got, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".ds-d-1", ".ds-d-2"} {
			x, _ := state.Index(name)
			members := want
			if name == ".ds-d-2" {
				members = append([]indexresolver.Membership{}, want...)
				members = append(members, indexresolver.Membership{Alias: "own"})
			}
			if diff := cmp.Diff(members, x.Aliases); diff != "" {
				t.Errorf("%s and %s: aliases of %s (-want +got):\n%s", listed, inState, name, diff)
			}
		}
		if x, _ := state.Index("x"); len(x.Aliases) > 0 {
			t.Errorf("an index of no stream has the aliases %v", x.Aliases)
		}
	}
	al := func(filter string) indexresolver.Membership {
		m := indexresolver.Membership{Alias: "al"}
		if filter != "" {
			m.Filter = []byte(filter)
		}
		return m
	}
	const plain = `{"al":{"name":"al","data_streams":["d"],"write_data_stream":"d"}}`
	f(`{"al":{}}`, plain, al(""))
	f(`{"al":{"filter":{"term":{"a":"b"}}}}`, `{"al":{"data_streams":["d"],"filter":{"d":{"term":{"a":"b"}}}}}`, al(`{"term":{"a":"b"}}`))
	// Of a filter that the list does not tell nothing is known but that there is one.
	f(`{"al":{}}`, `{"al":{"data_streams":["d"],"filter":{"d":"REZMAA=="}}}`, al(`"unreadable"`))
	f(`{"al":{}}`, `{"al":{"data_streams":["d"],"filter":{"term":{"a":"b"}}}}`, al(`"unreadable"`))
	f(`{"al":{}}`, `{"al":{"data_streams":["d"],"filter":"REZMAA=="}}`, al(`"unreadable"`))
}

// TestDoubtedAliasesOfDataStreams holds that one which keeps changing can't be read, and that
// the rest can.
func TestDoubtedAliasesOfDataStreams(t *testing.T) {
	const index = `{"state":"open","settings":{"index":{"uuid":"u"}}}`
	for _, kept := range []bool{true, false} { // the last of them was just removed
		c, n := newCluster(t), 0
		c.answer = func(asked string) (int, string, bool) {
			if asked == stateTarget {
				n++
			}
			stamp := fmt.Sprintf(`"cluster_uuid":"c","state_uuid":"s%d","version":%d`, n, n)
			switch asked {
			case versionTarget:
				return 200, "{" + stamp + "}", true
			case aliasTarget:
				return 200, fmt.Sprintf(`{"d":{"aliases":{"al-%d":{}}}}`, n), true
			case stateTarget:
				aliases := ""
				if kept || n < maxTries {
					aliases = fmt.Sprintf(`"al-%d":{"data_streams":["d"]}`, n)
				}
				return 200, fmt.Sprintf(`{%s,"metadata":{"indices":{".ds-d-1":%s,"x-%d":%[2]s},"data_stream":{"data_stream":{"d":{"indices":[{"index_name":".ds-d-1"}]}},"data_stream_aliases":{%[4]s}}}}`, stamp, index, n, aliases), true
			}
			return 0, "", false
		}
		r := reader{fetch: c}
		got, _, err := r.contents(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []indexresolver.Membership
		if kept {
			want = []indexresolver.Membership{{Alias: "al-4", Filter: unreadable}}
		}
		if diff := cmp.Diff(want, got.Indices[0].Aliases); diff != "" {
			t.Errorf("aliases (-want +got):\n%s", diff)
		}
	}
}
