package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"guard/test/testbed"
)

// System is the pattern of system indices that both sides are told.
const System = ".sys-*"

// A World is what is on the cluster. The names are the same in all worlds, so that
// policies fit each; what they are differs.
type World struct {
	Indices map[string]Index
	Streams []string
	Aliases map[string]Alias
}

// An Index has documents with the ids <name>-0, <name>-1 and so on.
type Index struct {
	Docs           int
	Hidden, Closed bool
}

// An Alias stands for indices, perhaps through a filter.
type Alias struct {
	Members []string
	Filter  string
	Hidden  bool
}

// Names that worlds are made of. Today's index is named as daily ones are.
var (
	indexNames  = []string{"a1", "a2", "a3", "b1", "b2", "c1", "log-1", "log-2", "u1-own", "u2-own", "red-1", "blue-1", ".dot-1", ".sys-1", Today()}
	aliasNames  = []string{"al-ab", "al-a", "al-log", "al-one", "a-alias", "al-filter", "al-sys"}
	streamNames = []string{"st-a", "st-b"}
	missing     = []string{"a9", "nosuch", "zz-1", "log-9", "al-none"}
)

// Today is the name of the index of this day.
func Today() string { return "day-" + time.Now().UTC().Format("2006.01.02") }

// NewWorld makes a world by chance.
func NewWorld(r *rand.Rand) World {
	w := World{Indices: map[string]Index{}, Aliases: map[string]Alias{}}
	for i, name := range indexNames {
		if i > 0 && r.IntN(8) == 0 {
			continue
		}
		x := Index{Docs: 1 + r.IntN(3), Hidden: r.IntN(8) == 0, Closed: i > 0 && r.IntN(10) == 0}
		x.Hidden = x.Hidden && !x.Closed
		w.Indices[name] = x
	}
	for _, s := range streamNames {
		if r.IntN(4) > 0 {
			w.Streams = append(w.Streams, s)
		}
	}
	open := w.openIndices()
	for _, name := range aliasNames {
		a := Alias{Hidden: r.IntN(10) == 0}
		for _, x := range open {
			if strings.HasPrefix(x, strings.TrimPrefix(name, "al-")[:1]) && r.IntN(4) > 0 || r.IntN(12) == 0 {
				a.Members = append(a.Members, x)
			}
		}
		if name == "al-one" || len(a.Members) == 0 {
			a.Members = []string{open[r.IntN(len(open))]}
		}
		if name == "al-filter" {
			a.Filter = `{"term":{"team":"red"}}`
		}
		if r.IntN(6) > 0 {
			w.Aliases[name] = a
		}
	}
	return w
}

// openIndices returns the indices that can have aliases here, in a fixed order.
func (w World) openIndices() []string {
	return slices.DeleteFunc(slices.Clone(indexNames), func(n string) bool {
		x, ok := w.Indices[n]
		return !ok || x.Closed
	})
}

const mapping = `"mappings":{"properties":{"team":{"type":"keyword"},"n":{"type":"integer"},"secret":{"type":"keyword"},"k":{"type":"keyword"}}}`

// document is the n-th of an index.
func document(index string, n int) string {
	return fmt.Sprintf(`{"team":%q,"n":%d,"secret":"s%d","k":%q}`, []string{"red", "blue"}[n%2], n, n, index)
}

// Steps returns the requests that make the world, as "METHOD PATH BODY".
func (w World) Steps() []string {
	const shard = `"settings":{"number_of_shards":1,"number_of_replicas":0`
	steps := []string{`PUT /_index_template/st {"index_patterns":["st-*"],"data_stream":{},"template":{` + shard + `},` + mapping + `}}`}
	for _, name := range indexNames {
		x, ok := w.Indices[name]
		if !ok {
			continue
		}
		steps = append(steps, fmt.Sprintf(`PUT /%s {%s,"index.hidden":%v},%s}`, name, shard, x.Hidden, mapping))
		for n := range x.Docs {
			steps = append(steps, fmt.Sprintf("PUT /%s/_doc/%s-%d?refresh=true %s", name, name, n, document(name, n)))
		}
		if x.Closed {
			steps = append(steps, "POST /"+name+"/_close")
		}
	}
	for _, s := range w.Streams {
		steps = append(steps, "PUT /_data_stream/"+s)
		for n := range 2 {
			if n > 0 {
				steps = append(steps, "POST /"+s+"/_rollover")
			}
			doc := strings.Replace(document(s, n), "{", `{"@timestamp":"2026-01-01T00:00:00Z",`, 1)
			steps = append(steps, fmt.Sprintf("PUT /%s/_create/%s-%d?refresh=true %s", s, s, n, doc))
		}
	}
	return append(steps, w.aliasSteps()...)
}

// newAliases are made by requests alone.
var newAliases = []string{"al-new", "a-new", "zz-new"}

// aliasSteps returns the request that makes the aliases what they are in the world,
// whatever they were.
func (w World) aliasSteps() []string {
	indices := slices.Sorted(maps.Keys(w.Indices))
	actions := []any{map[string]any{"remove": map[string]any{"indices": indices, "aliases": newAliases, "must_exist": false}}}
	for _, name := range aliasNames {
		a := w.Aliases[name]
		for _, x := range indices {
			if !slices.Contains(a.Members, x) {
				actions = append(actions, map[string]any{"remove": map[string]any{"index": x, "alias": name, "must_exist": false}})
				continue
			}
			add := map[string]any{"index": x, "alias": name}
			if a.Filter != "" {
				add["filter"] = json.RawMessage(a.Filter)
			}
			if a.Hidden {
				add["is_hidden"] = true
			}
			actions = append(actions, map[string]any{"add": add})
		}
	}
	text, err := json.Marshal(map[string]any{"actions": actions})
	if err != nil {
		panic(fmt.Sprintf("BUG: actions are no JSON: %v", err))
	}
	return []string{"POST /_aliases " + string(text)}
}

// Send sends "METHOD PATH BODY".
func Send(c testbed.Client, line string) (testbed.Response, error) {
	method, rest, _ := strings.Cut(line, " ")
	path, body, _ := strings.Cut(rest, " ")
	return c.Do(method, path, body)
}

// Apply sends lines that have to succeed. What is to be deleted may be gone.
func Apply(c testbed.Client, lines []string) error {
	for _, line := range lines {
		res, err := Send(c, line)
		if err != nil {
			return err
		}
		if res.Status >= 300 && (res.Status != 404 || !strings.HasPrefix(line, "DELETE ")) {
			return fmt.Errorf("%.300s: status %d: %.500s", line, res.Status, res.Body)
		}
	}
	return nil
}
