package soak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/testbed"
)

const (
	password = "pw"
	rows     = 120 // documents of the ledger, a half of each colour
)

// view is one of the two policies that take turns: the reader sees the rows of one
// colour without one field. No answer may be of both.
type view struct{ colour, hidden string }

var views = [2]view{{"red", "pin"}, {"blue", "note"}}

// policy makes the security folder in which the reader has this view.
func (v view) policy(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{"roles.yml": v.roles(t)}
	users, mapping := map[string]any{}, map[string]any{}
	hash := guardproc.Hash(t, password)
	for _, name := range []string{"reader", "writer", "stranger"} {
		users[name] = map[string]any{"hash": hash, "backend_roles": []string{name}}
		mapping[name] = map[string]any{"backend_roles": []string{name}}
	}
	users["admin"] = map[string]any{"hash": hash, "backend_roles": []string{"admin"}}
	mapping["all_access"] = map[string]any{"backend_roles": []string{"admin"}}
	files["internal_users.yml"] = guardproc.Section(t, "internalusers", users)
	files["roles_mapping.yml"] = guardproc.Section(t, "rolesmapping", mapping)
	return files
}

func (v view) roles(t testing.TB) string {
	t.Helper()
	return guardproc.Section(t, "roles", map[string]any{
		"reader": role(entry{"ledger", fmt.Sprintf(`{"term":{"colour":%q}}`, v.colour), []string{"~" + v.hidden}, []string{"read", "indices:admin/mappings/get"}}),
		// The writer is bound to his journal, so that his bulks are planned line by line.
		"writer":   role(entry{"journal", "", nil, []string{"crud", "create_index"}}),
		"stranger": role(entry{"elsewhere", "", nil, []string{"read"}}),
	})
}

type entry struct {
	pattern, dls string
	fls, actions []string
}

func role(e entry) map[string]any {
	return map[string]any{
		"cluster_permissions": []string{"cluster_composite_ops", "cluster_monitor"},
		"index_permissions": []any{map[string]any{
			"index_patterns": []string{e.pattern}, "dls": e.dls, "fls": e.fls, "masked_fields": []string{}, "allowed_actions": e.actions,
		}},
	}
}

// load fills an empty node.
func load(t *testing.T, node *testbed.Node) {
	t.Helper()
	if err := node.Reset(); err != nil {
		t.Fatal(err)
	}
	const one = `"settings":{"number_of_shards":1,"number_of_replicas":0}`
	node.Must(t, "PUT", "/ledger", `{`+one+`,"mappings":{"properties":{"colour":{"type":"keyword"},"pin":{"type":"keyword"},"note":{"type":"keyword"},"n":{"type":"integer"}}}}`)
	for _, index := range []string{"journal", "stream"} {
		node.Must(t, "PUT", "/"+index, `{`+one+`,"mappings":{"properties":{"n":{"type":"keyword"}}}}`)
	}
	var bulk strings.Builder
	for i := range rows {
		fmt.Fprintf(&bulk, `{"index":{"_id":"%d"}}`+"\n%s\n", i, row(i))
	}
	node.Must(t, "POST", "/ledger/_bulk?refresh=true", bulk.String())
}

// row is document i of the ledger. Each value tells its row and its field.
func row(i int) string {
	return fmt.Sprintf(`{"colour":%q,"n":%d,"pin":"pin-%d","note":"note-%d"}`, views[i%2].colour, i, i, i)
}

// seen is what the reader gets of row i in this view, or nil.
func (v view) seen(i int) map[string]any {
	var all map[string]any
	if err := json.Unmarshal([]byte(row(i)), &all); err != nil {
		panic("BUG: " + err.Error())
	}
	if all["colour"] != v.colour {
		return nil
	}
	delete(all, v.hidden)
	return all
}

// hit is a document in an answer.
type hit struct {
	ID     string         `json:"_id"`
	Source map[string]any `json:"_source"`
}

// found is the part of a search's answer that the model knows.
type found struct {
	Hits struct {
		Total struct{ Value int }
		Hits  []hit
	}
	Aggregations struct {
		Colours struct {
			Buckets []struct {
				Key   string
				Count int `json:"doc_count"`
			}
		}
	}
}

// check says what is wrong with the answer to a search for all of the ledger.
func (v view) check(f *found) error {
	if f.Hits.Total.Value != rows/2 || len(f.Hits.Hits) != rows/2 {
		return fmt.Errorf("%d hits of %d; want %d", len(f.Hits.Hits), f.Hits.Total.Value, rows/2)
	}
	for _, h := range f.Hits.Hits {
		var i int
		if _, err := fmt.Sscan(h.ID, &i); err != nil {
			return fmt.Errorf("id %q: %w", h.ID, err)
		}
		if want := v.seen(i); want == nil || !maps.Equal(want, h.Source) {
			return fmt.Errorf("document %s is %v; want %v", h.ID, h.Source, want)
		}
	}
	b := f.Aggregations.Colours.Buckets
	if len(b) != 1 || b[0].Key != v.colour || b[0].Count != rows/2 {
		return fmt.Errorf("buckets %v; want those of %s", b, v.colour)
	}
	return nil
}

// checkEither holds an answer against both views: one of them must explain all of it.
func checkEither(body []byte) error {
	var f found
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&f); err != nil {
		return fmt.Errorf("the answer is no search result: %w", err)
	}
	first := views[0].check(&f)
	if first == nil {
		return nil
	}
	if second := views[1].check(&f); second != nil {
		return fmt.Errorf("neither view explains the answer: %w, and %w", first, second)
	}
	return nil
}
