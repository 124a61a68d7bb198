package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestWrites holds what becomes of the write of one document.
func TestWrites(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	f := func(method, target, body, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, method, target, body)); got != want {
			t.Errorf("%s %s %s: %s; want %s", method, target, body, got, want)
		}
	}
	refused := func(method, target, body, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, method, target, body)); !strings.HasPrefix(got, "reject ") || !strings.Contains(got, want) {
			t.Errorf("%s %s %s: %s; want a refusal with %q", method, target, body, got, want)
		}
	}
	f("PUT", "/xa/_doc/1", `{"a": 1}`, `PUT /xa/_doc/1 | {"a": 1}`)
	f("PUT", "/xa/_doc/a%2Fb?routing=r&refresh=wait_for", `{}`, `PUT /xa/_doc/a%2Fb?routing=r&refresh=wait_for | {}`)
	f("POST", "/xs/_doc", `{}`, `POST /xs/_doc | {}`)
	f("PUT", "/%3Cx-%7Bnow%2Fd%7D%3E/_doc/1", `{}`, `PUT /x-2026.11.30/_doc/1 | {}`)
	f("DELETE", "/xa/_doc/1", ``, `DELETE /xa/_doc/1`)
	f("PUT", "/xa/_doc/1?pipeline=_none", `{}`, `PUT /xa/_doc/1?pipeline=_none | {}`)
	refused("PUT", "/xa/_doc/1?pipeline=false", `{}`, "parameter [pipeline] is not supported yet")
	refused("PUT", "/xa/_doc/1?pipeline=p", `{}`, "parameter [pipeline] is not supported yet")
	refused("PUT", "/secret/_doc/1", `{}`, "no permissions for [indices:data/write/index")
	refused("PUT", "/x*/_doc/1", `{}`, "")
	refused("PUT", "/xa,xb/_doc/1", `{}`, "must not contain ','")
	refused("PUT", "/stored/_doc/1", `{}`, "no permissions")
	refused("PUT", "/xa/_doc/1", `{"a":1,"a":2}`, "")
	refused("PUT", "/xa/_doc/1", `[1]`, "want an object")
	refused("PUT", "/xa/_doc/1", strings.Repeat(`{"a":`, 70)+`1`+strings.Repeat(`}`, 70), "")
	refused("PUT", "/xa/_doc/1", ``, "request body is required")

	// Under a rule only new documents may be made.
	f("PUT", "/hr/_create/1", `{}`, `PUT /hr/_create/1 | {}`)
	f("POST", "/hr/_doc", `{}`, `POST /hr/_doc | {}`)
	refused("PUT", "/hr/_doc/1", `{}`, "only new documents")
	refused("PUT", "/hr/_doc/1?op_type=index", `{}`, "only new documents")
	refused("DELETE", "/hr/_doc/1", ``, "only new documents")
	refused("POST", "/hr/_update/1", `{"doc":{}}`, "only new documents")
	f("PUT", "/fielded/_create/1", `{}`, `PUT /fielded/_create/1 | {}`)
	f("POST", "/fielded/_doc", `{}`, `POST /fielded/_doc | {}`)
	refused("PUT", "/fielded/_doc/1", `{}`, "only new documents")
	refused("DELETE", "/fielded/_doc/1", ``, "only new documents")
	refused("POST", "/fielded/_update/1", `{"doc":{}}`, "update is refused")

	// A new field, and a document that comes back, need rights of their own.
	f("PUT", "/narrow/_doc/1", `{"msg":"x"}`, `PUT /narrow/_doc/1 | {"msg":"x"}`)
	refused("PUT", "/narrow/_doc/1", `{"new":"x"}`, "indices:admin/mapping/put")
	refused("PUT", "/taken/_doc/1", `{"new":"x"}`, "indices:admin/create")
	refused("POST", "/narrow/_update/1?_source=msg", `{"doc":{"msg":"x"}}`, "indices:data/read/get")
	refused("POST", "/narrow/_update/1", `{"doc":{"msg":"x"},"_source":["msg"]}`, "indices:data/read/get")
	f("POST", "/narrow/_update/1", `{"doc":{"msg":"x"},"_source":false}`, `POST /narrow/_update/1 | {"doc":{"msg":"x"},"_source":false}`)
	refused("POST", "/narrow/_update/1?doc_as_upsert=true", `{"doc":{"new":"x"}}`, "indices:admin/mapping/put")
	refused("POST", "/narrow/_update/1", `{"scripted_upsert":true,"script":{"id":"s"},"upsert":{}}`, "indices:admin/mapping/put")
}

// TestWriteConflict holds that a refused creation tells nothing of a hidden document.
func TestWriteConflict(t *testing.T) {
	s := worldWith(t, writerRole, writable())
	out := planFor(t, s, "PUT", "/hr/_create/1", `{}`)
	reason := `"type":"version_conflict_engine_exception","reason":"[1]: version conflict, document already exists%s","index":"hr"`
	body := `{"error":{"root_cause":[{` + reason + `}],` + reason + `},"status":409}`
	told := " (current version [7])"
	got, err := out.Forward.Treat.Treat(Answer{Status: 409, Body: []byte(fmt.Sprintf(body, told, told))})
	if want := fmt.Sprintf(body, "", ""); err != nil || got.Status != 409 || string(got.Body) != want {
		t.Errorf("answer %d %s, %v; want %s", got.Status, got.Body, err, want)
	}
	made := `{"_index":"hr","_id":"1","_version":1,"result":"created"}`
	if got, err = out.Forward.Treat.Treat(Answer{Status: 201, Body: []byte(made)}); err != nil || string(got.Body) != made {
		t.Errorf("answer %s, %v; want it as it came", got.Body, err)
	}
	free := planFor(t, s, "PUT", "/xa/_create/1", `{}`)
	body = strings.ReplaceAll(fmt.Sprintf(body, told, told), `"hr"`, `"xa"`)
	if got, err = free.Forward.Treat.Treat(Answer{Status: 409, Body: []byte(body)}); err != nil || string(got.Body) != body {
		t.Errorf("answer to a writer without rules %s, %v; want it as it came", got.Body, err)
	}
}

// TestAddsField holds which documents bring a field that the mapping lacks.
func TestAddsField(t *testing.T) {
	f := func(mapping, doc string, want bool) {
		t.Helper()
		if got := newFields(mappingFrom(t, mapping), "", parsed(t, doc), anyField); got != want {
			t.Errorf("%s to %s adds a field: %v; want %v", doc, mapping, got, want)
		}
	}
	plain := `{"properties":{"a":{"type":"keyword","fields":{"raw":{"type":"text"}}},"o":{"properties":{"b":{"type":"long"}}}}}`
	f(plain, `{}`, false)
	f(plain, `{"a":"x","o":{"b":1}}`, false)
	f(plain, `{"a":["x","y"],"o":[{"b":1},{"b":[2]}]}`, false)
	f(plain, `{"o.b":1}`, false)
	f(plain, `{"c":1}`, true)
	f(plain, `{"c":{}}`, true)
	f(plain, `{"o":{"c":1}}`, true)
	f(plain, `{"o":[{"b":1},{"c":1}]}`, true)
	f(plain, `{"o":[[{"c":1}]]}`, true)
	f(plain, `{"o.c":1}`, true)
	f(plain, `{"c":null,"d":[],"o":{"c":null}}`, false) // nothing is made of it
	f(plain, `{"\u0061":1}`, false)
	f(plain, `{"A":1}`, true)

	// Values of leaves that are objects bring no field.
	for _, kind := range []string{"geo_point", "geo_shape", "point", "integer_range", "date_range", "completion", "histogram", "rank_features", "flattened", "flat_object", "join"} {
		f(`{"properties":{"v":{"type":"`+kind+`"}}}`, `{"v":{"lat":1,"gte":2,"any":[3]}}`, false)
	}
	// A mapping that ignores or refuses unknown fields takes none; objects in it may.
	closed := `{"dynamic":"false","properties":{"o":{"dynamic":"true","properties":{"b":{"type":"long"}}}}}`
	f(closed, `{"c":1,"d":{"e":1},"f.g":1}`, false)
	f(closed, `{"o":{"c":1}}`, true)
	f(closed, `{"o.c":1}`, true)
	f(strings.Replace(closed, "false", "strict", 1), `{"c":1}`, false)
	f(strings.Replace(closed, "false", "strict_allow_templates", 1), `{"c":1}`, true)
	f(strings.Replace(closed, "false", "runtime", 1), `{"c":1}`, true)
}

// object is a naive mapping: its fields, and what becomes of others.
type object struct {
	dynamic string // "" inherits
	fields  map[string]*object
	leaf    bool
}

func (o *object) json() map[string]any {
	if o.leaf {
		return map[string]any{"type": "keyword"}
	}
	m := map[string]any{}
	props := map[string]any{}
	for name, f := range o.fields {
		props[name] = f.json()
	}
	m["properties"] = props
	if o.dynamic != "" {
		m["dynamic"] = o.dynamic
	}
	return m
}

// adds reports whether a cluster would add a field for doc: it walks objects one name
// at a time, dots as well, and asks the nearest setting.
func (o *object) adds(doc map[string]any, dynamic string) bool {
	if o.dynamic != "" {
		dynamic = o.dynamic
	}
	for key, v := range doc {
		if o.addsAt(strings.Split(key, "."), v, dynamic) {
			return true
		}
	}
	return false
}

func (o *object) addsAt(path []string, v any, dynamic string) bool {
	if o.dynamic != "" {
		dynamic = o.dynamic
	}
	f := o.fields[path[0]]
	switch {
	case f == nil:
		return dynamic == "true" && makesField(v)
	case f.leaf:
		return false
	case len(path) > 1:
		return f.addsAt(path[1:], v, dynamic)
	}
	return f.addsValue(v, dynamic)
}

func (o *object) addsValue(v any, dynamic string) bool {
	switch v := v.(type) {
	case map[string]any:
		return o.adds(v, dynamic)
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return o.addsValue(e, dynamic) })
	default:
		return false
	}
}

// makesField reports whether a field is made for v.
func makesField(v any) bool {
	if list, ok := v.([]any); ok {
		return slices.ContainsFunc(list, makesField)
	}
	return v != nil
}

var fieldNames = []string{"a", "b", "c"}

func randomObject(r *rand.Rand, depth int) *object {
	o := &object{fields: map[string]*object{}}
	if depth == 0 || r.IntN(3) == 0 {
		o.dynamic = []string{"true", "false", "strict"}[r.IntN(3)]
	}
	for _, name := range fieldNames {
		switch r.IntN(3) {
		case 0:
			o.fields[name] = &object{leaf: true}
		case 1:
			if depth < 2 {
				o.fields[name] = randomObject(r, depth+1)
			}
		}
	}
	return o
}

func randomDocument(r *rand.Rand, depth int) map[string]any {
	doc := map[string]any{}
	for range 1 + r.IntN(3) {
		key := fieldNames[r.IntN(3)]
		for r.IntN(4) == 0 {
			key += "." + fieldNames[r.IntN(3)]
		}
		doc[key] = randomValue(r, depth)
	}
	return doc
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(6); {
	case n == 0:
		return nil
	case n == 1:
		return []any{}
	case n == 2 && depth < 3:
		return []any{randomValue(r, depth+1), randomValue(r, depth+1)}
	case n < 5 && depth < 3:
		return randomDocument(r, depth+1)
	default:
		return 1
	}
}

// FuzzAddsField states the law of new fields: a document for which a cluster would add
// a field to the mapping is always found out; one whose fields are all known never is.
func FuzzAddsField(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // G404: the fuzzer's own bytes
		for range 50 {
			o := randomObject(r, 0)
			doc := randomDocument(r, 0)
			mapping, text := marshal(t, o.json()), marshal(t, doc)
			got := newFields(mappingFrom(t, mapping), "", parsed(t, text), anyField)
			if want := o.adds(doc, "true"); want && !got {
				t.Fatalf("%s to %s adds a field that is not found out", text, mapping)
			}
			if known := o.sample(r); len(known) > 0 && newFields(mappingFrom(t, mapping), "", parsed(t, marshal(t, known)), anyField) {
				t.Fatalf("%s to %s adds nothing and is refused", marshal(t, known), mapping)
			}
		}
	})
}

// sample is a document of known fields.
func (o *object) sample(r *rand.Rand) map[string]any {
	doc := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		f := o.fields[name]
		switch {
		case r.IntN(3) == 0:
		case f.leaf:
			doc[name] = []any{1, "x", nil}[r.IntN(3)]
		case r.IntN(2) == 0:
			doc[name] = f.sample(r)
		default:
			doc[name] = []any{f.sample(r), f.sample(r)}
		}
	}
	return doc
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
