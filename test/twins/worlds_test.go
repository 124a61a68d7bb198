package twins_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/testbed"
)

// A scenario is a way to keep documents: settings, and how they come into segments.
type scenario struct {
	name     string
	settings string // further ones, each with a comma before it
	hidden   string // further ones where fields are hidden
	without  string // a field that does not go with the settings
	stamped  bool   // documents have an @timestamp, of which hidden ones have the newest
	every    int    // documents between two refreshes; 0: one at the end
	deletes  bool   // some hidden documents are deleted again
	rule     string // which documents are seen
	// apart says that what a field rule hides decides the settings, or guard's way to ask, so
	// that an index without hidden fields is answered otherwise.
	apart bool
}

var scenarios = []scenario{
	{name: "plain", settings: `,"number_of_shards":1`, rule: `{"term":{"group":"in"}}`},
	{name: "stamp", settings: `,"number_of_shards":1`, stamped: true, every: 5, deletes: true, rule: `{"bool":{"must_not":[{"term":{"group":"out"}}]}}`, apart: true},
	{name: "order", settings: `,"number_of_shards":1,"sort.field":["a_integer"],"sort.order":["desc"]`, hidden: `,"number_of_shards":1,"sort.field":["secret_integer","secret_date"]`,
		without: "nested", every: 7, rule: `{"range":{"level":{"gte":5}}}`, apart: true},
	{name: "three", settings: `,"number_of_shards":3`, every: 6, deletes: true, rule: `{"terms":{"group":["in","inside"]}}`},
}

// A user asks under rules. The first of its worlds hides nothing, the others different things.
type user struct {
	name      string
	documents bool // under a document rule
	fields    bool // under a field rule
	worlds    [3]*world
	prefixes  []string // of the fields that it asks for
}

var users = []user{
	{"rows", true, false, [3]*world{&worlds[0], &worlds[1], &worlds[2]}, []string{"a_"}},
	{"fields", false, true, [3]*world{&worlds[0], &worlds[3], &worlds[4]}, []string{"secret_", "a_"}},
	{"both", true, true, [3]*world{&worlds[0], &worlds[5], &worlds[6]}, []string{"a_", "secret_"}},
}

const password = "pw"

// A world says what an index holds beside what is seen. Its index is called by the scenario
// and the world. All names have the same length and the same hash code in Java (an is c0),
// since the clusters draw random numbers by it.
type world struct {
	name      string
	documents bool // hidden documents
	fields    bool // hidden fields
	values    int  // which of the two kinds of values
}

var worlds = []world{
	{"ananan", false, false, 0}, {"ananc0", true, false, 0}, {"anc0an", true, false, 1}, {"anc0c0", false, true, 0},
	{"c0anan", false, true, 1}, {"c0anc0", true, true, 0}, {"c0c0an", true, true, 1},
}

// what tells what the world hides.
func (w *world) what() string {
	switch {
	case !w.documents && !w.fields:
		return "nothing hidden"
	case !w.fields:
		return fmt.Sprintf("hidden documents %d", w.values+1)
	case !w.documents:
		return fmt.Sprintf("hidden fields %d", w.values+1)
	}
	return fmt.Sprintf("hidden documents and fields %d", w.values+1)
}

// sequence is the order in which visible and hidden documents are written.
const sequence = "hvvhvhhvvhvhhvvhvvhvhhvvh"

// gone are hidden documents that are deleted again.
var gone = []string{"h4", "h7"}

const analysis = `,"analysis":{"filter":{"words":{"type":"synonym_graph","synonyms":["fox, vixen","red fox, reynard"]},"shingle":{"type":"shingle"},
	"edge":{"type":"edge_ngram","min_gram":1,"max_gram":4}},"analyzer":{"synonyms":{"tokenizer":"standard","filter":["lowercase","words"]},
	"shingles":{"tokenizer":"standard","filter":["lowercase","shingle"]},"edges":{"tokenizer":"standard","filter":["lowercase","edge"]}},
	"normalizer":{"lower":{"type":"custom","filter":["lowercase"]}}}`

var secretPart = regexp.MustCompile(`<([^<>]*)>`)

// either keeps what stands in <>, or leaves it out.
func either(text string, keep bool) string {
	if keep {
		return secretPart.ReplaceAllString(text, "$1")
	}
	return secretPart.ReplaceAllString(text, "")
}

// mapping returns the body that creates an index.
func (s *scenario) mapping(kind testbed.Kind, w *world) string {
	settings, props := s.settings, []string{`"group":{"type":"keyword"}`, `"level":{"type":"integer"}`}
	prefixes := []string{"a_"}
	if w.fields {
		prefixes = append(prefixes, "secret_")
		props = append(props, `"secret_of_text":{"type":"text"}`)
		if s.hidden != "" {
			settings = s.hidden
		}
	}
	if s.stamped {
		props = append(props, `"@timestamp":{"type":"date"}`)
	}
	for _, f := range fields {
		if !f.on(kind) || f.name == s.without {
			continue
		}
		for _, prefix := range prefixes {
			def := strings.ReplaceAll(either(f.def, w.fields), "@", prefix)
			if prefix == "secret_" {
				def = strings.ReplaceAll(def, `,"secret_of_text"`, "")
			}
			props = append(props, fmt.Sprintf("%q:%s", prefix+f.name, def))
		}
	}
	return `{"settings":{"index":{"number_of_replicas":0,"refresh_interval":-1,"mapping.total_fields.limit":2000` + settings + analysis + `}},"mappings":{"dynamic":false,"properties":{` + strings.Join(props, ",") + `}}}`
}

// document returns the source of the i-th document that is seen, or that is hidden.
func (s *scenario) document(kind testbed.Kind, w *world, hidden bool, i int) string {
	group, level := `"in"`, 5+i%3
	if hidden {
		group, level = `"out"`, i%5
	}
	members := []string{`"group":` + group, fmt.Sprintf(`"level":%d`, level)}
	if s.stamped {
		members = append(members, fmt.Sprintf(`"@timestamp":%q`, stamp(w, hidden, i)))
	}
	add := func(prefix string, f *field, list []string) {
		if text := list[i%len(list)]; text != "" {
			text = strings.ReplaceAll(either(text, w.fields), `"secret":"`, fmt.Sprintf(`"secret":"%d`, w.values))
			members = append(members, fmt.Sprintf("%q:%s", prefix+f.name, text))
		}
	}
	for j := range fields {
		f := &fields[j]
		if !f.on(kind) || f.values == nil || f.name == s.without {
			continue
		}
		if hidden {
			add("a_", f, f.values.hidden[w.values])
		} else {
			add("a_", f, f.values.shown)
		}
		if w.fields {
			add("secret_", f, f.values.hidden[w.values])
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// stamp is the time of a document. The newest of all is a hidden one, of an early segment in
// the one world and of a late one in the other; where the field is hidden, any can be it.
func stamp(w *world, hidden bool, i int) string {
	switch {
	case hidden && i == 1+7*w.values:
		return "2029-01-01T00:00:00Z"
	case w.fields && w.values == 1:
		return fmt.Sprintf("2022-01-%02dT00:00:00Z", 28-i)
	}
	return fmt.Sprintf("2022-01-%02dT00:00:00Z", 1+i)
}

// load makes the indices of a scenario.
func (s *scenario) load(t *testing.T, node *testbed.Node) {
	t.Helper()
	for i := range worlds {
		w := &worlds[i]
		name := s.name + "-" + w.name
		node.Must(t, "PUT", "/"+name, s.mapping(node.Kind, w))
		var bulk strings.Builder
		send := func(text string) {
			if text == "" {
				return
			}
			res := node.Must(t, "POST", "/"+name+"/_bulk?refresh=true", text)
			if strings.Contains(string(res.Body), `"errors":true`) {
				t.Fatalf("%s: cannot write the documents: %.3000s", name, res.Body)
			}
		}
		count := map[rune]int{}
		for n, c := range sequence {
			if hidden := c == 'h'; !hidden || w.documents {
				fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"%c%d\"}}\n%s\n", c, count[c], s.document(node.Kind, w, hidden, count[c]))
			}
			count[c]++
			if s.every > 0 && n%s.every == s.every-1 {
				send(bulk.String())
				bulk.Reset()
			}
		}
		send(bulk.String())
		for _, id := range gone {
			if w.documents && s.deletes {
				node.Must(t, "DELETE", "/"+name+"/_doc/"+id, "")
			}
		}
		node.Must(t, "POST", "/"+name+"/_refresh", "")
	}
}

// names are the indices of the test, which answers repeat.
func names() *regexp.Regexp {
	var list []string
	for _, s := range scenarios {
		list = append(list, s.name)
	}
	return regexp.MustCompile(`(` + strings.Join(list, "|") + `)-(?:an|c0){3}`)
}

var hiddenFields = []string{"~secret*", "~*.secret*", "~@timestamp"}

// policy is the security folder: each user has one role, on all indices.
func policy(t *testing.T) map[string]string {
	t.Helper()
	accounts, roles, mappings := map[string]any{}, map[string]any{}, map[string]any{}
	hash := guardproc.Hash(t, password)
	reading := []string{"read", "indices:monitor/*", "indices:admin/get", "indices:admin/mappings/get", "indices:admin/mappings/fields/get", "indices:admin/aliases/get", "indices:admin/resolve/index"}
	for _, u := range users {
		var list []any
		for _, s := range scenarios {
			p := map[string]any{"index_patterns": []string{s.name + "-*"}, "allowed_actions": reading}
			if u.documents {
				p["dls"] = s.rule
			}
			if u.fields {
				p["fls"] = hiddenFields
			}
			list = append(list, p)
		}
		accounts[u.name] = map[string]any{"hash": hash, "backend_roles": []string{u.name}}
		roles[u.name] = map[string]any{"cluster_permissions": []string{"cluster_composite_ops_ro", "cluster_monitor"}, "index_permissions": list}
		mappings[u.name] = map[string]any{"backend_roles": []string{u.name}}
	}
	return map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", accounts),
		"roles.yml":          guardproc.Section(t, "roles", roles),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", mappings),
	}
}
