package mapping

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/esjson"
)

func value(t testing.TB, src string) esjson.Value {
	t.Helper()
	v, err := esjson.Parse(new(esjson.Tape), []byte(src), esjson.RequestLimits())
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return v
}

func parse(t testing.TB, src string) *Mapping {
	t.Helper()
	m, err := Parse(value(t, src))
	if err != nil {
		t.Fatalf("Parse(%s): %v", src, err)
	}
	return m
}

// hr has one field of each kind that gives a value a second name.
const hr = `{"dynamic":"strict","_source":{"excludes":["internal"]},"properties":{
	"name":{"type":"text","copy_to":"all_text","fields":{"keyword":{"type":"keyword"},"gram":{"type":"search_as_you_type"}}},
	"ssn":{"type":"keyword","copy_to":["all_text","person_copy.ids"],"fields":{"txt":{"type":"text"}}},
	"ssn_alias":{"type":"alias","path":"ssn"},
	"all_text":{"type":"text","copy_to":"twice","fields":{"raw":{"type":"keyword"}}},
	"twice":{"type":"text"},
	"person_copy":{"properties":{"ids":{"type":"keyword"},"other":{"type":"keyword"}}},
	"person":{"properties":{"passport":{"type":"keyword"},"city":{"type":"keyword","copy_to":"twice"}}},
	"dependents":{"type":"nested","properties":{"ssn":{"type":"keyword"},"school":{"type":"nested","properties":{"mark":{"type":"byte"}}}}},
	"labels":{"type":"flattened"},
	"labels_alias":{"type":"alias","path":"labels"},
	"place":{"type":"geo_point"},
	"abstract":{"type":"text","index_prefixes":{}},
	"blob":{"type":"object","enabled":false},
	"rel":{"type":"join","relations":{"q":"a"}},
	"stats":{"type":"object","subobjects":false,"properties":{"time":{"type":"long"},"time.max":{"type":"long"}}},
	"stored":{"type":"percolator"}}}`

func TestLookup(t *testing.T) {
	m := parse(t, hr)
	f := func(path string, want Field) {
		t.Helper()
		got, ok := m.Lookup(path)
		if ok != (want.Kind != Missing) {
			t.Fatalf("Lookup(%q) = %+v, %v", path, got, ok)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Lookup(%q) (-want +got):\n%s", path, diff)
		}
	}
	f("ssn", Field{Path: "ssn", Kind: Leaf, Type: "keyword", CopyTo: []string{"all_text", "person_copy.ids"}})
	f("ssn.txt", Field{Path: "ssn.txt", Kind: MultiField, Type: "text", Parent: "ssn", Positions: true})
	f("ssn_alias", Field{Path: "ssn_alias", Kind: Alias, Type: "alias", AliasOf: "ssn"})
	f("person", Field{Path: "person", Kind: Object, Type: "object"})
	f("person.passport", Field{Path: "person.passport", Kind: Leaf, Type: "keyword", Parent: "person"})
	f("dependents.school", Field{Path: "dependents.school", Kind: Nested, Type: "nested", Parent: "dependents", NestedPath: "dependents"})
	f("dependents.school.mark", Field{Path: "dependents.school.mark", Kind: Leaf, Type: "byte", Parent: "dependents.school", NestedPath: "dependents.school"})
	f("stats.time.max", Field{Path: "stats.time.max", Kind: Leaf, Type: "long", Parent: "stats"})

	// Below an opaque field every path is that field.
	f("labels.a.b", Field{Path: "labels", Kind: Leaf, Type: "flattened", Opaque: true, SubKey: "a.b"})
	f("blob.token", Field{Path: "blob", Kind: Object, Type: "object", Opaque: true, SubKey: "token"})
	f("name.gram._2gram", Field{Path: "name.gram", Kind: MultiField, Type: "search_as_you_type", Parent: "name", Opaque: true, Parts: []string{"_2gram", "_3gram", "_4gram", "_index_prefix"}, SubKey: "_2gram"})
	f("rel#q", Field{Path: "rel", Kind: Leaf, Type: "join", Opaque: true, SubKey: "q"})
	f("stored.extracted_terms", Field{Path: "stored", Kind: Leaf, Type: "percolator", Opaque: true, SubKey: "extracted_terms"})

	f("labels_alias.a", Field{Path: "labels_alias", Kind: Alias, Type: "alias", AliasOf: "labels", Opaque: true, SubKey: "a"})
	f("place", Field{Path: "place", Kind: Leaf, Type: "geo_point", Parts: pointParts})
	f("place.lat", Field{}) // a key of its value, and no field
	f("abstract._index_prefix", Field{Path: "abstract", Kind: Leaf, Type: "text", Opaque: true, Parts: prefixParts, Positions: true, SubKey: "_index_prefix"})

	// Nothing.
	f("", Field{})
	f("SSN", Field{}) // case matters
	f("nope", Field{})
	f("ssn.nope", Field{})
	f("person.nope.deeper", Field{})
	f("ssn#q", Field{}) // only join fields have relations
	f(".", Field{})
	f("labels.", Field{Path: "labels", Kind: Leaf, Type: "flattened", Opaque: true})
}

func TestRoot(t *testing.T) {
	prev, n := "", 0
	for f := range parse(t, hr).All() {
		if f.Path <= prev {
			t.Fatalf("%q stands after %q", f.Path, prev)
		}
		prev = f.Path
		n++
	}
	if n != 29 {
		t.Errorf("%d fields; want 29", n)
	}
	f := func(src string, want string) {
		t.Helper()
		if got := parse(t, src).Dynamic(); got != want {
			t.Errorf("%s: dynamic %q; want %q", src, got, want)
		}
	}
	f(hr, "strict")
	f(`{}`, "true")
	f(`{"dynamic":false}`, "false")
	f(`{"dynamic":"runtime","_meta":{"x":[1]},"date_detection":false}`, "runtime")
	f(`{"_source":{"enabled":false}}`, "true")
}

func TestForms(t *testing.T) {
	want := parse(t, `{"properties":{"a":{"type":"long"}}}`)
	f := func(src string) {
		t.Helper()
		got := parse(t, src)
		if got.Hash() != want.Hash() || len(slices.Collect(got.All())) != 1 {
			t.Fatalf("%s is another mapping", src)
		}
	}
	f(`{ "properties" : { "\u0061" : { "type" : "long" } } }`)
	f(`{"mappings":{"properties":{"a":{"type":"long"}}}}`)
	f(`{"_doc":{"properties":{"a":{"type":"long"}}}}`)
	f(`{"mappings":{"tweet":{"properties":{"a":{"type":"long"}}}}}`)
	if parse(t, `{"properties":{"a":{"type":"int"}}}`).Hash() == want.Hash() {
		t.Fatal("two mappings have one hash")
	}
	// A field of the name of a root key is no root key.
	if _, ok := parse(t, `{"properties":{"properties":{"type":"long"},"runtime":{"properties":{"runtime":{"type":"long"}}}}}`).Lookup("runtime.runtime"); !ok {
		t.Fatal("field runtime.runtime is lost")
	}
}

func TestParseRefuses(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		if _, err := Parse(value(t, src)); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("Parse(%s): %v; want an error with %q", src, err, want)
		}
	}
	f(`[]`, `the top level is an array; want an object`)
	f(`{"mappings":[]}`, `mappings is an array; want an object`)
	f(`{"properties":[]}`, `properties is an array; want an object`)
	f(`{"properties":{"a":1}}`, `properties.a is a number; want an object`)
	f(`{"properties":{},"new_kind_of_fields":{}}`, `unknown key "new_kind_of_fields" at offset 38; want properties`)
	f(`{"properties":{"a":{"type":"alias"}}}`, `field "a" is an alias without a path`)
	f(`{"properties":{"a":{"type":"alias","path":1}}}`, `field "a": cannot use a number`)
	f(`{"properties":{"a":{"copy_to":1}}}`, `properties.a.copy_to is a number; want a string or an array of strings`)
	f(`{"properties":{"a":{"copy_to":[1]}}}`, `cannot use a number`)
	f(`{"properties":{"a":{"fields":[]}}}`, `want an object`)
	f(`{"properties":{"a":{"fields":{"b":1}}}}`, `want an object`)
	f(`{"properties":{"a":{"type":"object","enabled":"maybe"}}}`, `want true or false`)
	f(`{"runtime":[]}`, `runtime is an array`)
	f(`{"derived":{"a":"b"}}`, `derived.a is a string`)
	f(`{"properties":{"a":{"properties":{"b":{"type":"long"}}},"a.b":{"type":"long"}}}`, `field "a.b" is defined twice`)
}

func TestTooManyFields(t *testing.T) {
	var s strings.Builder
	s.WriteString(`{"properties":{"f":{"type":"long"}`)
	for i := range maxFields {
		fmt.Fprintf(&s, `,"f%d":{"type":"long"}`, i)
	}
	s.WriteString(`}}`)
	if _, err := Parse(value(t, s.String())); !errors.Is(err, ErrTooMany) {
		t.Fatalf("got %v; want %v", err, ErrTooMany)
	}
}

func TestMemoryIsNotShared(t *testing.T) {
	src := []byte(hr)
	v, err := esjson.Parse(new(esjson.Tape), src, esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, err := Parse(v)
	if err != nil {
		t.Fatal(err)
	}
	clear(src) // the answer's buffer is used again
	want := parse(t, hr)
	if diff := cmp.Diff(slices.Collect(want.All()), slices.Collect(m.All())); diff != "" {
		t.Fatalf("the mapping changed with the buffer (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(family(want, "ssn"), family(m, "ssn")); diff != "" || m.Dynamic() != "strict" {
		t.Fatalf("the mapping changed with the buffer (-want +got):\n%s", diff)
	}
}

func TestExpand(t *testing.T) {
	m := parse(t, hr)
	f := func(pattern string, want ...string) {
		t.Helper()
		var got []string
		for f := range m.Expand(pattern) {
			p := f.Path
			if f.SubKey != "" {
				p += " > " + f.SubKey
			}
			got = append(got, p)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Expand(%q) (-want +got):\n%s", pattern, diff)
		}
	}
	f("ssn", "ssn")
	f("ssn*", "ssn", "ssn.txt", "ssn_alias")
	f("*ssn", "abstract > *ssn", "blob > *ssn", "dependents.ssn", "labels > *ssn", "labels_alias > *ssn", "name.gram > *ssn", "rel > *ssn", "ssn", "stored > *ssn")
	f("person.*", "person.city", "person.passport")
	f("pers*.*port", "person.passport")
	f("labels.*", "labels > *")
	f("labels.a*", "labels > a*")
	f("lab*x", "labels > *x", "labels_alias > *x")
	f("name*", "name", "name.gram", "name.keyword")
	f("nope*")
	f("nope")
	f("person", "person")
	f("labels.k", "labels > k")
}

// TestExpandSelects holds that no field is missed where only some are looked at.
func TestExpandSelects(t *testing.T) {
	m := parse(t, hr)
	parts := []string{"name", "labels", "ssn", "person", "dependents", "a", ".", ".", "*", "*", "n", "l", "_", "blob", "txt"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		pattern := b.String() + "*"
		var want []Field
		for f := range m.All() {
			if m.selects(pattern, &f) {
				want = append(want, f)
			}
		}
		if diff := cmp.Diff(want, slices.Collect(m.Expand(pattern))); diff != "" {
			t.Fatalf("Expand(%q) (-want +got):\n%s", pattern, diff)
		}
	}
}

func TestMatch(t *testing.T) {
	f := func(pattern, s string, want bool) {
		t.Helper()
		if got := match(pattern, s); got != want {
			t.Fatalf("match(%q, %q) = %v", pattern, s, got)
		}
	}
	f("a", "a", true)
	f("a", "ab", false)
	f("*", "", true)
	f("a*a", "a", false)
	f("a*a", "aa", true)
	f("*ab*ab", "abab", true)
	f("*ab*ab", "ab", false)
	f("a**b", "ab", true)
	f("a*b*c", "aXbYc", true)
	f("a*b*c", "aXcYb", false)
}
