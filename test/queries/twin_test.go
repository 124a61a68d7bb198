package queries_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/testbed"
)

// The twins: "whole" holds visible documents and hidden ones, "twin" the visible ones alone.
// What a user whom the document rule binds is answered about the one is what the cluster
// answers about the other.
const visibleRule = `{"term":{"show":true}}`

// nearWords are hidden words that begin as a visible one does, or are spelled nearly as it is:
// more of them than the clusters take by themselves.
func nearWords() string {
	var list []string
	for c := 'a'; c <= 'z'; c++ {
		list = append(list, fmt.Sprintf(`"re%c"`, c), fmt.Sprintf(`"r%cd"`, c), fmt.Sprintf(`"%ced"`, c), fmt.Sprintf(`"re%cd"`, c))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// twinMapping is the mapping of the twins on an engine.
func twinMapping(kind testbed.Kind) string {
	fields := []string{`"show":{"type":"boolean"}`, `"order":{"type":"long"}`, `"o":{"properties":{"t":{"type":"text"}}}`,
		`"kids":{"type":"nested","properties":{"t":{"type":"text"}}}`}
	for _, f := range fieldsOn(kind) {
		if f.def != "" {
			fields = append(fields, fmt.Sprintf("%q:%s", f.name, f.def))
		}
	}
	return `{"properties":{` + strings.Join(fields, ",") + `}}`
}

// fieldsOn are the fields that an engine has, those of the table first.
func fieldsOn(kind testbed.Kind) []twinField {
	return slices.DeleteFunc(slices.Concat(twinFields, otherNames), func(f twinField) bool {
		return f.engine != "" && !strings.HasPrefix(string(kind), f.engine)
	})
}

// twinDoc is a document of the twins: the n-th of those that are shown, or are not.
func twinDoc(kind testbed.Kind, n int, show bool) string {
	parts := []string{fmt.Sprintf(`"show":%v,"order":%d`, show, n)}
	for _, f := range fieldsOn(kind) {
		values := f.values
		if !show {
			values = f.hidden
		}
		if len(values) == 0 {
			continue
		}
		value := values[n%len(values)]
		switch f.name {
		case "o.t":
			parts = append(parts, fmt.Sprintf(`"o":{"t":%[1]s},"kids":[{"t":%[1]s}]`, value))
		case "f_object":
			parts = append(parts, fmt.Sprintf(`"f_object":{"k":%s}`, value))
		default:
			parts = append(parts, fmt.Sprintf("%q:%s", f.name, value))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// fillTwins makes the twins, with a hidden document before each visible one.
func fillTwins(t *testing.T, node *testbed.Node, kind testbed.Kind) {
	t.Helper()
	for _, index := range []string{"whole", "twin"} {
		node.Must(t, "PUT", "/"+index, `{"settings":{"number_of_shards":1,"number_of_replicas":0,`+twinSettings+`},"mappings":`+twinMapping(kind)+`}`)
		var b strings.Builder
		for n := range 5 {
			if index == "whole" {
				fmt.Fprintf(&b, "{\"index\":{\"_index\":%q,\"_id\":\"h%d\"}}\n%s\n", index, n, twinDoc(kind, n, false))
			}
			fmt.Fprintf(&b, "{\"index\":{\"_index\":%q,\"_id\":\"%d\"}}\n%s\n", index, n, twinDoc(kind, n, true))
		}
		if res := node.Must(t, "POST", "/_bulk?refresh=true", b.String()); !strings.Contains(string(res.Body), `"errors":false`) {
			t.Fatalf("cannot fill %s: %s", index, res.Body)
		}
	}
}

// behindRule starts guard in front of node, and returns it as a user whom the rule binds.
func behindRule(t *testing.T, node *testbed.Node) testbed.Client {
	t.Helper()
	p := guardproc.Start(t, guardproc.Options{Upstream: node.URL, Security: guardproc.WriteSecurity(t, map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", map[string]any{"ada": map[string]any{"hash": guardproc.Hash(t, "secret")}}),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", map[string]any{"ruled": map[string]any{"users": []string{"ada"}}}),
		"roles.yml": guardproc.Section(t, "roles", map[string]any{"ruled": map[string]any{
			"cluster_permissions": []string{"*"},
			"index_permissions":   []any{map[string]any{"index_patterns": []string{"whole*"}, "dls": visibleRule, "allowed_actions": []string{"*"}}},
		}}),
	})})
	return p.As("ada", "secret")
}

// twinAnswer is what of an answer has to be the same for both twins.
type twinAnswer struct {
	Status int
	Error  string // its type
	Total  int
	Hits   []string
	Aggs   string
	Shown  string // highlights

	refused string // by guard, with this reason
}

// errorBody is an error as the clusters print it.
type errorBody struct {
	Type, Reason string
	RootCause    []errorBody `json:"root_cause"`
	CausedBy     *errorBody  `json:"caused_by"`
}

// kind is the type of an error that both twins have: that of a text which can't be parsed
// stands in that of the clause around it, and guard puts one around.
func (e *errorBody) kind() string {
	switch {
	case e.Type == "x_content_parse_exception" && e.CausedBy != nil:
		return e.CausedBy.kind()
	case e.Type == "parsing_exception" && len(e.RootCause) > 0:
		return e.RootCause[0].Type
	}
	return e.Type
}

// askTwin sends one search for each body. One that no cluster can parse fails all that are
// sent with it, so it is found and sent alone.
func askTwin(t *testing.T, c testbed.Client, index string, bodies []string) []twinAnswer {
	t.Helper()
	var b strings.Builder
	for _, body := range bodies {
		fmt.Fprintf(&b, "{\"index\":%q}\n%s\n", index, body)
	}
	res, err := c.Do("POST", "/_msearch", b.String())
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != 200 && len(bodies) > 1 {
		half := len(bodies) / 2
		return append(askTwin(t, c, index, bodies[:half]), askTwin(t, c, index, bodies[half:])...)
	}
	if res.Status != 200 {
		res.Body = []byte(`{"responses":[` + string(res.Body) + `]}`)
	}
	var got struct {
		Responses []struct {
			Status int
			Error  *errorBody
			Hits   struct {
				Total struct{ Value int }
				Hits  []struct {
					ID        string `json:"_id"`
					Highlight json.RawMessage
				}
			}
			Aggregations json.RawMessage
		}
	}
	if err := json.Unmarshal(res.Body, &got); err != nil || len(got.Responses) != len(bodies) {
		t.Fatalf("%d answers to %d searches: %v: %.300s", len(got.Responses), len(bodies), err, res.Body)
	}
	out := make([]twinAnswer, len(bodies))
	for i, r := range got.Responses {
		a := twinAnswer{Status: r.Status, Total: r.Hits.Total.Value, Aggs: strings.ReplaceAll(string(r.Aggregations), `"meta":{},`, "")}
		if r.Error != nil {
			a.Error = r.Error.kind()
			if r.Error.Type == "security_exception" {
				a.refused = r.Error.Reason
			}
		}
		for _, h := range r.Hits.Hits {
			a.Hits = append(a.Hits, h.ID)
			a.Shown += string(h.Highlight)
		}
		if !strings.Contains(bodies[i], `"sort"`) {
			slices.Sort(a.Hits) // the scores of some count hidden documents
		}
		out[i] = a
	}
	return out
}

// twinSearches are the clauses on one field, each in the first place and one of the others.
func twinSearches(f twinField, turn int) []string {
	var list []string
	for i, clause := range twinClauses {
		c := f.fill(clause)
		list = append(list, strings.ReplaceAll(twinPlaces[0], "C", c), strings.ReplaceAll(twinPlaces[1+(i+turn)%(len(twinPlaces)-1)], "C", c))
	}
	if turn%8 == 0 { // each costs searches of its own
		for _, clause := range unreadClauses {
			list = append(list, strings.ReplaceAll(twinPlaces[0], "C", f.fill(clause)))
		}
	}
	return list
}

// fill is a clause on f.
func (f *twinField) fill(clause string) string {
	return strings.NewReplacer(`"F"`, `"`+f.name+`"`, `"F^`, `"`+f.name+`^`, "W", f.word, `"P`, `"`+f.part, " P", " "+f.part).Replace(clause)
}

// TestTwins holds the law of document rules for clauses: hidden documents change nothing in
// an answer but what scores say.
func TestTwins(t *testing.T) {
	for _, kind := range []testbed.Kind{testbed.OpenSearch, testbed.ES710} {
		t.Run(string(kind), func(t *testing.T) {
			node := testbed.Own(t, testbed.Options{Kind: kind})
			fillTwins(t, node, kind)
			checkTwins(t, node, kind)
		})
	}
}

func checkTwins(t *testing.T, node *testbed.Node, kind testbed.Kind) {
	seen := &seenTwins{refused: map[string]int{}}
	guard := behindRule(t, node)
	seen.check(t, guard, node, highlightSearches())
	for turn, f := range fieldsOn(kind) {
		seen.check(t, guard, node, twinSearches(f, turn))
	}
	seen.log(t)
}

// seenTwins counts what was compared.
type seenTwins struct {
	answered, failed int
	refused          map[string]int // by reason
}

// check asks guard for the searches in the one twin and the node for them in the other.
func (s *seenTwins) check(t *testing.T, guard testbed.Client, node *testbed.Node, bodies []string) {
	t.Helper()
	got, want := askTwin(t, guard, "whole", bodies), askTwin(t, node.Client, "twin", bodies)
	for i := range bodies {
		if why := got[i].refused; why != "" {
			_, why, _ = strings.Cut(why, " is refused: ")
			s.refused[why]++
			continue
		}
		if g, w := fmt.Sprint(got[i]), fmt.Sprint(want[i]); g != w {
			t.Errorf("%s: got %s; want %s", bodies[i], g, w)
		}
		if s.answered++; want[i].Status != 200 {
			s.failed++
		}
	}
}

// log tells what was compared, which is to be most of what was asked.
func (s *seenTwins) log(t *testing.T) {
	t.Helper()
	all := 0
	for why, n := range s.refused {
		all += n
		t.Logf("%d refused: %s", n, why)
	}
	t.Logf("%d searches were answered alike, %d of them with an error", s.answered, s.failed)
	if s.answered-s.failed < 2*all {
		t.Errorf("%d searches were answered and %d refused; want most of them answered", s.answered-s.failed, all)
	}
}
