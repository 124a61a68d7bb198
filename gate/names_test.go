package gate

import (
	"testing"

	"guard/fls"
	"guard/indexresolver"
)

// viewsOf binds one index to field rules.
func viewsOf(t testing.TB, mapping string, entries ...string) *binding {
	t.Helper()
	rules, err := fls.Compile(entries)
	if err != nil {
		t.Fatal(err)
	}
	view := fls.NewView(rules, mappingFrom(t, mapping))
	return &binding{views: map[string]*fls.View{"hr": view}, indices: []string{"hr"}}
}

// TestMappingFilter holds which parts of a mapping are shown under a field rule.
func TestMappingFilter(t *testing.T) {
	f := func(entry, mapping, want string) {
		t.Helper()
		b := viewsOf(t, mapping, entry)
		got, err := b.treatIndices().Treat(Answer{Status: 200, Body: []byte(`{"hr":{"mappings":` + mapping + `}}`)})
		if full := `{"hr":{"mappings":` + want + `}}`; err != nil || string(got.Body) != full {
			t.Errorf("%s of %s:\ngot  %s, %v\nwant %s", entry, mapping, got.Body, err, full)
		}
	}
	f("~ssn", `{"properties":{"name":{"type":"text"},"ssn":{"type":"keyword"}}}`, `{"properties":{"name":{"type":"text"}}}`)
	f("name", `{"properties":{"name":{"type":"text"},"ssn":{"type":"keyword"}}}`, `{"properties":{"name":{"type":"text"}}}`)
	f("~ssn", `{"_doc":{"properties":{"name":{"type":"text"},"ssn":{"type":"keyword"}}}}`, `{"_doc":{"properties":{"name":{"type":"text"}}}}`)
	f("~none", `{}`, `{}`)

	// Objects stay if something in them is shown; nested ones as well.
	f("~p.ssn", `{"properties":{"p":{"properties":{"ssn":{"type":"keyword"},"nick":{"type":"keyword"}}}}}`, `{"properties":{"p":{"properties":{"nick":{"type":"keyword"}}}}}`)
	f("~p.ssn", `{"properties":{"p":{"type":"nested","properties":{"ssn":{"type":"keyword"},"nick":{"type":"keyword"}}}}}`, `{"properties":{"p":{"type":"nested","properties":{"nick":{"type":"keyword"}}}}}`)
	f("~p", `{"properties":{"p":{"properties":{"ssn":{"type":"keyword"}}},"q":{"type":"long"}}}`, `{"properties":{"q":{"type":"long"}}}`)
	f("~p.ssn", `{"properties":{"p":{"properties":{"ssn":{"type":"keyword"}}},"q":{"type":"long"}}}`, `{"properties":{"q":{"type":"long"}}}`)
	f("p.nick", `{"properties":{"p":{"properties":{"ssn":{"type":"keyword"},"nick":{"type":"keyword"}}}}}`, `{"properties":{"p":{"properties":{"nick":{"type":"keyword"}}}}}`)

	// A sub-field goes with its field, or by itself.
	f("~ssn", `{"properties":{"ssn":{"type":"text","fields":{"raw":{"type":"keyword"}}},"a":{"type":"long"}}}`, `{"properties":{"a":{"type":"long"}}}`)
	f("~a.raw", `{"properties":{"a":{"type":"text","fields":{"raw":{"type":"keyword"},"en":{"type":"text"}}}}}`, `{"properties":{"a":{"type":"text","fields":{"en":{"type":"text"}}}}}`)

	// What carries the value of a hidden field is hidden with it.
	f("~ssn", `{"properties":{"ssn":{"type":"keyword","copy_to":"all"},"all":{"type":"text"},"a":{"type":"long"}}}`, `{"properties":{"a":{"type":"long"}}}`)
	f("~all", `{"properties":{"ssn":{"type":"keyword","copy_to":["all","b"]},"all":{"type":"text"},"b":{"type":"text"}}}`, `{"properties":{"ssn":{"type":"keyword","copy_to":["b"]},"b":{"type":"text"}}}`)
	f("~all", `{"properties":{"ssn":{"type":"keyword","copy_to":"all"},"all":{"type":"text"}}}`, `{"properties":{"ssn":{"type":"keyword"}}}`)
	f("~ssn", `{"properties":{"ssn":{"type":"keyword"},"number":{"type":"alias","path":"ssn"},"a":{"type":"long"},"b":{"type":"alias","path":"a"}}}`, `{"properties":{"a":{"type":"long"},"b":{"type":"alias","path":"a"}}}`)

	// What can name a hidden field anywhere else is left out.
	f("~ssn", `{"properties":{"a":{"type":"long"},"sug":{"type":"completion","contexts":[{"name":"x","type":"category","path":"ssn"}]}}}`, `{"properties":{"a":{"type":"long"}}}`)
	f("~ssn", `{"dynamic":"strict","dynamic_templates":[{"ssn":{"match":"ssn","mapping":{}}}],"_meta":{"ssn":1},"runtime":{"r":{"type":"long","script":"ssn"}},"_source":{"excludes":["ssn"]},"_routing":{"required":true},"properties":{"a":{"type":"long","meta":{"ssn":"x"}}}}`,
		`{"dynamic":"strict","_routing":{"required":true},"properties":{"a":{"type":"long"}}}`)
	f("~ssn", `{"properties":{"a":{"type":"long","script":"emit(ssn)","index":false}}}`, `{"properties":{}}`)
}

// TestIndexFilter holds what else of an index is shown: no filter of an alias, no
// setting that names a field, and no index that was not decided.
func TestIndexFilter(t *testing.T) {
	b := viewsOf(t, staffMapping, "~ssn")
	f := func(status int, body, want string) {
		t.Helper()
		got, err := b.treatIndices().Treat(Answer{Status: status, Body: []byte(body)})
		if err != nil || got.Status != status || string(got.Body) != want {
			t.Errorf("%d %s\nbecame %d %s, %v\nwant   %s", status, body, got.Status, got.Body, err, want)
		}
	}
	f(200, `{"hr":{"aliases":{"eng":{"filter":{"term":{"ssn":"1"}},"index_routing":"1"},"staff":{}}}}`, `{"hr":{"aliases":{"eng":{"index_routing":"1"},"staff":{}}}}`)
	f(200, `{"hr":{"aliases":{}},"later":{"aliases":{}}}`, `{"hr":{"aliases":{}}}`)
	f(200, `{}`, `{}`)
	f(200, `{"hr":{"settings":{"index":{"number_of_shards":"1","sort":{"field":"ssn","order":"asc"},"query":{"default_field":["ssn"],"x":"y"},"routing_path":"ssn"}}}}`,
		`{"hr":{"settings":{"index":{"number_of_shards":"1","query":{"x":"y"}}}}}`)
	f(200, `{"hr":{"settings":{"index.sort.field":"ssn","index.sortable":"1","index.query.default_field":"ssn","index.blocks.write":"true"},"defaults":{"index":{"sort.field":[]}}}}`,
		`{"hr":{"settings":{"index.sortable":"1","index.blocks.write":"true"},"defaults":{"index":{}}}}`)
	// One of several aliases is missing: what was found of the others is filtered alike.
	f(404, `{"error":"alias [no] missing","status":404,"hr":{"aliases":{"eng":{"filter":{"term":{"ssn":"1"}}}}},"later":{"aliases":{}}}`,
		`{"error":"alias [no] missing","status":404,"hr":{"aliases":{"eng":{}}}}`)
	f(404, `{"error":{"type":"index_not_found_exception","reason":"no such index [x]"},"status":404}`, `{"error":{"type":"index_not_found_exception","reason":"no such index [x]"},"status":404}`)
	f(503, `{"error":{"type":"x","reason":"y","node":"n"},"status":503}`, `{"error":{"type":"x","reason":"y"},"status":503}`)

	for _, body := range []string{``, `<html>`, `[]`, `{"hr":{},"hr":{}}`} {
		if got, err := b.treatIndices().Treat(Answer{Status: 200, Body: []byte(body)}); err == nil {
			t.Errorf("%q became %s; want an error", body, got.Body)
		}
	}
	free := &binding{indices: []string{"hr"}}
	if free.treatIndices() != nil {
		t.Error("a principal without rules gets a filter; want the answer as it comes")
	}
	// Whom no rule binds is told the filter of an alias, also where he asks by that alias.
	filtered := worldWith(t, xRole, []indexresolver.Index{{Name: "xf", Aliases: []indexresolver.Membership{{Alias: "xpart", Filter: []byte(`{"term":{"a":1}}`)}}}})
	for _, target := range []string{"/x*/_alias", "/xpart/_alias", "/xpart", "/xpart/_mapping"} {
		if out := planFor(t, filtered, "GET", target, ""); out.Kind != Forward || out.Forward.Treat != nil {
			t.Errorf("%s: %s, treated by %T; want the answer as it comes", target, gist(t, out), out.Forward.Treat)
		}
	}
	bound := &binding{bound: true, indices: []string{"hr"}}
	got, err := bound.treatIndices().Treat(Answer{Status: 200, Body: []byte(`{"hr":{"aliases":{"eng":{"filter":{"term":{"dept":"x"}}}},"mappings":{"properties":{"dept":{}}}}}`)})
	if want := `{"hr":{"aliases":{"eng":{}},"mappings":{"properties":{"dept":{}}}}}`; err != nil || string(got.Body) != want {
		t.Errorf("under a document rule: %s, %v; want %s", got.Body, err, want)
	}
}
