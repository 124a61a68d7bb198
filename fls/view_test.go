package fls

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/esjson"
	"guard/internal/mapping"
	"guard/internal/query"
)

// staff is a mapping with every way to show a value twice.
const staff = `{"properties":{
  "name":{"type":"text","fields":{"keyword":{"type":"keyword"},"raw":{"type":"keyword"}}},
  "dept":{"type":"keyword"},
  "ssn":{"type":"keyword","copy_to":"folded"},
  "folded":{"type":"text"},
  "sid":{"type":"alias","path":"ssn"},
  "depart":{"type":"alias","path":"dept"},
  "age":{"type":"integer"},
  "person":{"properties":{"nick":{"type":"keyword"},"passport":{"type":"keyword"}}},
  "deps":{"type":"nested","properties":{"dname":{"type":"keyword"},"ssn":{"type":"keyword"}}},
  "bare":{"type":"object"},
  "attrs":{"type":"flat_object"}}}`

func parseMapping(t *testing.T, text string) *mapping.Mapping {
	t.Helper()
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(text), esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapping.Parse(v)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustCompile(t *testing.T, entries ...string) Rules {
	t.Helper()
	r, err := Compile(entries)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRulesShows(t *testing.T) {
	f := func(path string, want bool, entries ...string) {
		t.Helper()
		if got := mustCompile(t, entries...).Shows(path); got != want {
			t.Errorf("%v shows %q: %v; want %v", entries, path, got, want)
		}
	}
	f("name", true, "name")
	f("name.keyword", true, "name")
	f("name.keyword", false, "~name")
	f("dept", false, "name")
	f("dept", true, "~name")
	f("dept", false, "~name", "name", "~dept")
	f("dept", true, "name", "~ssn") // an exclusion switches inclusions off
	f("person.nick", true, "person")
	f("person.nick", false, "~person")
	f("person.nick", true, "person.*")
	f("person", false, "person.*")
	f("person.a.b", true, "person.*")
	f("_id", true, "name")
	f("_id", true, "~*")
	f("_id", false, "~_id") // in so many words
	f("_uid", true, "~_ui?")
	f("_uid", false, "name", "~_uid")
	f("anything", false, "~*")
	f("s1", true, "s?")
	f("ssn", false, "!ssn")
	f("x.ssn", false, `~/.*ssn/`)
	f("anything", false) // no entry at all shows nothing
}

func TestCompileRefuses(t *testing.T) {
	f := func(entry, want string) {
		t.Helper()
		_, err := Compile([]string{"name", entry})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile(%q): error %v; want %q in it", entry, err, want)
		}
	}
	f("~", "it names nothing")
	f("!", "it names nothing")
	f("", "it names nothing")
	f("  ", "it names nothing")
	f("~/[/", "cannot parse pattern")
}

func TestViewField(t *testing.T) {
	m := parseMapping(t, staff)
	f := func(name string, use query.Use, want query.Sight, entries ...string) {
		t.Helper()
		vs := NewViews([]*View{NewView(mustCompile(t, entries...), m)})
		if got := vs.Field(name, use); got != want {
			t.Errorf("%v: field %q is seen as %d; want %d", entries, name, got, want)
		}
	}
	f("ssn", query.Match, query.Absent, "~ssn")
	f("sid", query.Match, query.Absent, "~ssn")    // an alias of it
	f("folded", query.Match, query.Absent, "~ssn") // a copy of it
	f("dept", query.Match, query.Visible, "~ssn")
	f("depart", query.Match, query.Visible, "~ssn")
	f("depart", query.Match, query.Absent, "dept") // the alias is no listed name
	f("name.raw", query.Match, query.Visible, "name")
	f("name.raw", query.Match, query.Absent, "~name")
	f("name", query.Match, query.Visible, "~name.raw")
	f("name.raw", query.Match, query.Absent, "~name.raw")
	f("nosuch", query.Match, query.Absent, "~ssn") // unmapped
	f("person", query.Match, query.Object, "~person.passport")
	f("person", query.Match, query.Absent, "~person")
	f("person.passport", query.Match, query.Absent, "~person.passport")
	f("bare", query.Match, query.Object, "~ssn") // an object without fields is shown by its name
	f("bare", query.Match, query.Absent, "~bare")
	f("bare", query.Match, query.Absent, "name")
	f("deps", query.Path, query.Visible, "~deps.ssn")
	f("deps", query.Path, query.Absent, "name")
	f("attrs", query.Match, query.Absent, "~attrs.token") // its value stands for all keys
	f("attrs.token", query.Match, query.Absent, "~attrs.token")
	f("attrs.open", query.Match, query.Absent, "~attrs.token") // clusters may read all of it for one key
	f("attrs.open", query.Match, query.Visible, "~ssn")
	f("attrs", query.Match, query.Visible, "~ssn")
	f("attrs", query.Match, query.Absent, "~/.*token/") // a regex may reach below
	f("attrs", query.Match, query.Absent, "attrs.open")
	f("attrs"+strings.Repeat(".a", 100), query.Match, query.Visible, "~ssn")
	f("attrs"+strings.Repeat(".a", 101), query.Match, query.Absent, "~ssn") // a look for each dot
	f("attrs."+strings.Repeat("a", 2048), query.Match, query.Absent, "~ssn")
}

// TestNamesBelowFields holds that what a cluster can read by a name below a field that brings
// names of its own is the whole field: such a name is seen only where all that it can reach
// is. Each type that brings names has a line, with a name that an index may have there, and
// whether each list of entries shows the field and the name.
func TestNamesBelowFields(t *testing.T) {
	type sight struct{ field, below bool }
	all, none := sight{true, true}, sight{}
	f := func(def, below string, other, every, exactly, wild, part sight) {
		t.Helper()
		v := NewView(Everything(), parseMapping(t, `{"properties":{"f":`+def+`}}`))
		if !v.Shows("f") || !v.Shows("f"+below) {
			t.Errorf("%s: without rules f or f%s is hidden", def, below)
		}
		for entry, want := range map[string]sight{"~x": other, "~*.hid": every, "~f" + below: exactly, "~f*b": wild, "f" + below: part} {
			v := NewView(mustCompile(t, entry), parseMapping(t, `{"properties":{"f":`+def+`}}`))
			sees := func(name string) bool { return NewViews([]*View{v}).Field(name, query.Fetch) == query.Visible }
			if got := (sight{sees("f"), sees("f" + below)}); got != want {
				t.Errorf("%s under %q: f is seen %v, f%s %v; want %v, %v", def, entry, got.field, below, got.below, want.field, want.below)
			}
			if got := (sight{v.Shows("f"), v.Shows("f" + below)}); got != want && got != (sight{want.field, v.rules.Shows("f" + below)}) {
				t.Errorf("%s under %q: answers show f %v, f%s %v; requests %v, %v", def, entry, got.field, below, got.below, want.field, want.below)
			}
		}
	}
	// Any name can be below: one that is hidden hides the whole.
	for _, def := range []string{
		`{"type":"flat_object"}`, `{"type":"flattened"}`, `{"type":"rank_features"}`, `{"type":"sparse_vector"}`,
		`{"type":"semantic_text"}`, `{"type":"percolator"}`, `{"type":"object","enabled":false}`,
	} {
		for _, below := range []string{".k", ".k.deep", ".?", "._value"} {
			f(def, below, all, none, none, none, none)
		}
	}
	f(`{"type":"join","relations":{"q":"a"}}`, "#q", all, none, sight{true, false}, none, none)
	f(`{"type":"join","relations":{"q":"a"}}`, ".parent", all, none, none, none, none)

	// A closed list of names: the field shows their values.
	f(`{"type":"search_as_you_type"}`, "._2gram", all, all, none, all, none)
	f(`{"type":"search_as_you_type"}`, "._index_prefix", all, all, none, all, none)
	f(`{"type":"text","index_prefixes":{}}`, "._index_prefix", all, all, none, all, none)
	f(`{"type":"text","index_phrases":true}`, "._index_phrase", all, all, none, all, none)
	f(`{"type":"aggregate_metric_double"}`, ".max", all, all, none, all, none)

	// Names in documents alone: no cluster knows a field of that name.
	field := sight{true, false}
	for def, below := range map[string]string{
		`{"type":"geo_point"}`: ".lat", `{"type":"geo_shape"}`: ".geometries.coordinates", `{"type":"date_range"}`: ".gte",
		`{"type":"histogram"}`: ".values", `{"type":"completion"}`: ".contexts.place", `{"type":"xy_point"}`: ".x",
	} {
		f(def, below, field, field, none, field, none)
	}
}

// TestViewOfNamesBelow holds that no other name leads into what is hidden.
func TestViewOfNamesBelow(t *testing.T) {
	f := func(mapping, name string, want bool, entries ...string) {
		t.Helper()
		v := NewView(mustCompile(t, entries...), parseMapping(t, mapping))
		if got := NewViews([]*View{v}).Field(name, query.Fetch) == query.Visible; got != want || v.Shows(name) != want {
			t.Errorf("%v: %q is seen: %t, in answers %t; want %t", entries, name, got, v.Shows(name), want)
		}
	}
	const keys = `{"properties":{"ssn":{"type":"keyword"},"copied":{"type":"keyword","copy_to":"to.k"},"to":{"type":"flat_object"},"o":{"properties":{"ff":{"type":"flat_object"}}},
		"al":{"type":"alias","path":"o.ff"},"key":{"type":"alias","path":"o.ff.k"},
		"place":{"type":"geo_point","copy_to":"places"},"places":{"type":"geo_point"}}}`
	for _, name := range []string{"o.ff", "o.ff.k", "al", "al.k", "al.hid", "key"} {
		f(keys, name, true, "~ssn")
		f(keys, name, false, "~o.ff.hid")
		f(keys, name, false, "~*.hid")
		f(keys, name, false, "~/.*hid/")
		f(keys, name, false, "o.ff.k")
		f(keys, name, false, "~o")
	}
	f(keys, "to", false, "~copied")
	f(keys, "to.k", false, "~copied")
	f(keys, "to.other", false, "~copied")
	f(keys, "place", false, "~place.lat")
	f(keys, "places", false, "~place.lat")

	const scripts = `{"properties":{"ssn":{"type":"keyword"},"o":{"properties":{"mapped":{"type":"keyword"}}}},"derived":{
		"o":{"type":"object","prefilter_field":"x","properties":{"q":"keyword"},"script":{"source":"x"}},
		"d":{"type":"object","properties":{"q":"keyword"},"script":{"source":"x"}},"plain":{"type":"keyword","script":{"source":"x"}}}}`
	for _, name := range []string{"d", "d.q", "d.any.thing", "o", "o.q", "o.mapped", "plain"} {
		f(scripts, name, false, "~ssn")
		f(scripts, name, false, "~/s(sn|al)/")
		f(scripts, name, false, name)
	}
}

func TestViewsOverSeveralIndices(t *testing.T) {
	free := NewView(Everything(), parseMapping(t, staff))
	bound := NewView(mustCompile(t, "~ssn"), parseMapping(t, staff))
	other := NewView(Everything(), parseMapping(t, `{"properties":{"host":{"type":"keyword"}}}`))
	f := func(name string, use query.Use, want query.Sight, views ...*View) {
		t.Helper()
		if got := NewViews(views).Field(name, use); got != want {
			t.Errorf("field %q is seen as %d; want %d", name, got, want)
		}
	}
	f("ssn", query.Match, query.Mixed, free, bound)
	f("ssn", query.Fetch, query.Mixed, free, bound)
	f("ssn", query.Rank, query.Visible, free, other) // lacking is not hiding
	f("ssn", query.Rank, query.Absent, bound, other)
	barred := NewView(mustCompile(t, "~host"), parseMapping(t, staff))
	f("host", query.Match, query.Mixed, barred, other) // whether there is a hidden one is not told
	narrow := NewView(mustCompile(t, "name"), parseMapping(t, staff))
	f("host", query.Match, query.Mixed, narrow, other)
	f("nosuch", query.Match, query.Absent, narrow, other)
	f("_id", query.Match, query.Visible, narrow, other)
	if fields, mixed := NewViews([]*View{barred, other}).Expand("*", query.Fetch); slices.Contains(fields, "host") || mixed != "" {
		t.Errorf("fetched are %v, mixed %q; want no host", fields, mixed)
	}
	if fields, mixed := NewViews([]*View{barred, other}).Expand("ho*", query.Source); !slices.Equal(fields, []string{"host"}) || mixed != "" {
		t.Errorf("of a source are asked %v, mixed %q; want host, which one index shows", fields, mixed)
	}
	f("host", query.Match, query.Visible, bound, other)
	f("person", query.Match, query.Object, free, other)
}

// TestViewsOfGuesses states the law of several indices: an index of the client's own, whose
// mapping holds whatever names he likes, does not tell which of them another one hides.
func TestViewsOfGuesses(t *testing.T) {
	guesses := NewView(Everything(), parseMapping(t, `{"properties":{"ssn":{"type":"keyword"},"sss":{"type":"keyword"},"name":{"type":"text"},"person":{"properties":{"nick":{"type":"keyword"},"passport":{"type":"keyword"}}}}}`))
	const with = `{"properties":{"name":{"type":"text"},"ssn":{"type":"keyword"},"person":{"properties":{"nick":{"type":"keyword"},"passport":{"type":"keyword"}}}}}`
	const without = `{"properties":{"name":{"type":"text"},"person":{"properties":{"nick":{"type":"keyword"}}}}}`
	for _, entries := range [][]string{{"~ssn", "~person.passport"}, {"~s*", "~*passport"}, {"~/s(s)n/", "~/.*pass.*/"}, {"name", "person.nick"}, {"n*", "p*.n*"}} {
		rules := mustCompile(t, entries...)
		a := NewViews([]*View{guesses, NewView(rules, parseMapping(t, with))})
		b := NewViews([]*View{guesses, NewView(rules, parseMapping(t, without))})
		for _, use := range []query.Use{query.Match, query.Rank, query.Fetch, query.Highlight, query.Path, query.Source} {
			for _, name := range []string{"ssn", "sss", "name", "person", "person.nick", "person.passport", "nosuch"} {
				if got, want := a.Field(name, use), b.Field(name, use); got != want {
					t.Errorf("%v: %q for use %d is seen as %d; as %d where it was never mapped", entries, name, use, got, want)
				}
			}
			for _, pattern := range []string{"*", "s*", "ss*", "ssn*", "person.*", "person.p*"} {
				got, mixed := a.Expand(pattern, use)
				want, wantMixed := b.Expand(pattern, use)
				if diff := cmp.Diff(want, got); diff != "" || mixed != wantMixed {
					t.Errorf("%v: %q for use %d, mixed %q, %q where nothing is hidden (-want +got):\n%s", entries, pattern, use, mixed, wantMixed, diff)
				}
			}
		}
	}
}

// TestFieldsNamedAsMetadata holds that what a mapping has is a field, whatever its name is in
// other versions, in requests and in answers.
func TestFieldsNamedAsMetadata(t *testing.T) {
	m := parseMapping(t, `{"properties":{"name":{"type":"text"},"_uid":{"type":"keyword"},"_tier":{"type":"keyword","copy_to":"copy"},"copy":{"type":"keyword"},
		"_doc_count":{"properties":{"pub":{"type":"keyword"},"hid":{"type":"keyword"}}},"_size":{"type":"flat_object"}}}`)
	f := func(name string, sight query.Sight, shown bool, entries ...string) {
		t.Helper()
		v := NewView(mustCompile(t, entries...), m)
		if got := NewViews([]*View{v}).Field(name, query.Rank); got != sight {
			t.Errorf("%v: %q is seen as %d; want %d", entries, name, got, sight)
		}
		if v.Shows(name) != shown || (v.Projection().JudgeName([]byte(name)) != Drop) != shown {
			t.Errorf("%v: %q is shown: %t, %v; want %t", entries, name, v.Shows(name), v.Projection().JudgeName([]byte(name)), shown)
		}
	}
	for _, name := range []string{"_uid", "_tier", "copy", "_size", "_size.k", "_doc_count.pub"} {
		f(name, query.Visible, true, "~name")
		f(name, query.Absent, false, "~*")
		f(name, query.Absent, false, "name")
	}
	f("_uid", query.Absent, false, "~_uid")
	f("_uid", query.Absent, false, "~_u*")
	f("_uid", query.Visible, true, "name", "_uid")
	f("copy", query.Absent, false, "~_tier")
	f("_size.k", query.Absent, false, "~_size.hid")
	f("_doc_count", query.Object, true, "~_doc_count.hid")
	if got := NewView(mustCompile(t, "~_doc_count.hid"), m).Projection().JudgeName([]byte("_doc_count")); got != Inner {
		t.Errorf("an object called as metadata is shown as %v; want what is in it judged", got)
	}
	f("_doc_count.hid", query.Absent, false, "~_doc_count.hid")

	// What the mapping lacks is metadata, if anything.
	f("_id", query.Visible, true, "~*")
	f("_id", query.Visible, true, "name")
	f("_id", query.Absent, false, "~_id")
	f("_ignored", query.Absent, true, "name") // names hidden fields
	f("_timestamp", query.Absent, true, "name")
	f("_timestamp", query.Absent, false, "~_timestamp")

	// An index of one's own with such a name does not tell whether another one hides it.
	mine := NewView(Everything(), parseMapping(t, `{"properties":{"_uid":{"type":"keyword"},"_type":{"type":"keyword"}}}`))
	lacks := parseMapping(t, `{"properties":{"name":{"type":"text"}}}`)
	for _, entries := range [][]string{{"name"}, {"~*"}, {"~_uid"}, {"~_u*"}} {
		a, b := NewView(mustCompile(t, entries...), m), NewView(mustCompile(t, entries...), lacks)
		for _, name := range []string{"_uid", "_type", "_id"} {
			if got, want := NewViews([]*View{mine, a}).Field(name, query.Match), NewViews([]*View{mine, b}).Field(name, query.Match); got != want {
				t.Errorf("%v: %q is seen as %d, as %d where it was never mapped", entries, name, got, want)
			}
		}
	}
}

func TestViewsExpand(t *testing.T) {
	m := parseMapping(t, staff)
	f := func(pattern string, use query.Use, entries []string, want ...string) {
		t.Helper()
		got, mixed := NewViews([]*View{NewView(mustCompile(t, entries...), m)}).Expand(pattern, use)
		if diff := cmp.Diff(want, got); diff != "" || mixed != "" {
			t.Errorf("%v: %q expands with mixed %q and diff (-want +got):\n%s", entries, pattern, mixed, diff)
		}
	}
	f("*", query.Match, []string{"~ssn", "~attrs"}, "age", "depart", "deps.dname", "deps.ssn", "dept", "name", "name.keyword", "name.raw", "person.nick", "person.passport")
	f("s*", query.Match, []string{"~ssn"})
	f("person.*", query.Fetch, []string{"~person.passport"}, "person.nick")
	f("*", query.Highlight, []string{"name", "age"}, "name", "name.keyword", "name.raw")

	free, bound := NewView(Everything(), m), NewView(mustCompile(t, "~ssn"), m)
	if _, mixed := NewViews([]*View{free, bound}).Expand("*", query.Match); mixed != "folded" {
		t.Errorf("mixed field is %q; want the first one, folded", mixed)
	}
}

func TestSourcePatterns(t *testing.T) {
	m := parseMapping(t, staff)
	f := func(entries, includes, excludes []string, whole bool) {
		t.Helper()
		in, out, all := NewViews([]*View{NewView(mustCompile(t, entries...), m)}).SourcePatterns()
		if !slices.Equal(in, includes) || !slices.Equal(out, excludes) || all != whole {
			t.Errorf("%v: includes %v, excludes %v, whole %v; want %v, %v, %v", entries, in, out, all, includes, excludes, whole)
		}
	}
	f([]string{"name", "person.*"}, []string{"name", "person.*"}, nil, true)
	f([]string{"name", "~ssn"}, nil, []string{"ssn"}, true)
	f([]string{"name", "~ssn", "~p?"}, nil, []string{"ssn"}, false) // '?' is no wildcard for the cluster
	f([]string{"~a,b", "~ssn"}, nil, []string{"ssn"}, false)        // nor can a comma stand in a URL
	f([]string{"name", "a,b"}, nil, nil, false)
	f([]string{"/n.*/", "~ssn"}, nil, []string{"ssn"}, true) // inclusions count no more
	f([]string{"name", "/d.*/"}, nil, nil, false)
	f([]string{"*"}, nil, nil, true)
	free, bound := NewView(Everything(), m), NewView(mustCompile(t, "~ssn"), m)
	if _, out, whole := NewViews([]*View{free, bound}).SourcePatterns(); out != nil || whole {
		t.Errorf("over different rules: excludes %v, whole %v; want none, false", out, whole)
	}
}

// TestStandInIsNoField holds law 7: what replaces a hidden name must not exist.
func TestStandInIsNoField(t *testing.T) {
	m := parseMapping(t, `{"properties":{"guard-no-such-field":{"type":"keyword"}}}`)
	if got := NewViews([]*View{NewView(Everything(), m)}).StandIn(); got != "guard-no-such-field-1" {
		t.Errorf("stand-in %q; want guard-no-such-field-1", got)
	}
}

// TestSlowExclusion holds that an exclusion which finds no end hides.
func TestSlowExclusion(t *testing.T) {
	rules := mustCompile(t, `~/(?=.)((x+x+)+y|.*z)/`)
	slow := strings.Repeat("x", 60) + "z"
	if rules.Shows(slow) {
		t.Error("a field is shown that an exclusion may name")
	}
	got, err := new(Answer).appendSource(nil, []byte(`{"a":1,"`+slow+`":2}`), rules.projection(nil))
	if err != nil || string(got) != `{"a":1}` {
		t.Errorf("got %s, %v; want a alone", got, err)
	}
	if shown := mustCompile(t, `/(?=.)((x+x+)+y|.*z)/`).Shows(slow); shown {
		t.Error("a field is shown by an inclusion that found no end")
	}
}

// TestSlowExclusionOfCopies holds that what carries a field stays hidden with it, where the
// exclusion finds no end on the field itself.
func TestSlowExclusionOfCopies(t *testing.T) {
	slow := strings.Repeat("x", 40) + "z"
	v := NewView(mustCompile(t, `~/(?=.)((x+x+)+y|.*z)/`), parseMapping(t, `{"properties":{"a":{"type":"keyword"},"`+slow+`":{"type":"keyword","copy_to":"copy"},"copy":{"type":"keyword"}}}`))
	for field, want := range map[string]bool{"a": true, slow: false, "copy": false} {
		if got := v.Shows(field); got != want {
			t.Errorf("%q is shown: %t; want %t", field, got, want)
		}
	}
}

// TestNamesThatAreNotPlain: a field whose name means something else where names are printed
// is no field under a rule, whatever index has it; answers still show it.
func TestNamesThatAreNotPlain(t *testing.T) {
	odd := []string{"*", "*n", "s*", "ssn^1", "^2", "_exists_", "_geoDistance", "_script", "_shard_doc", "_none_", "o^1.x", "attrs.a*b", "attrs.a^1"}
	const fields = `{"properties":{"*":{"type":"keyword"},"*n":{"type":"keyword"},"s*":{"type":"keyword"},"ssn^1":{"type":"keyword"},"^2":{"type":"keyword"},
		"_exists_":{"type":"keyword"},"_geoDistance":{"type":"keyword"},"_script":{"type":"keyword"},"_shard_doc":{"type":"keyword"},"_none_":{"type":"keyword"},
		"o^1":{"type":"nested","properties":{"x":{"type":"keyword"}}},"attrs":{"type":"flat_object"},"ssn":{"type":"keyword"},"plain":{"type":"keyword"}}}`
	free, bound := NewView(Everything(), parseMapping(t, fields)), NewView(mustCompile(t, "~ssn"), parseMapping(t, staff))
	alone := NewView(mustCompile(t, "~ssn"), parseMapping(t, fields))
	for _, list := range [][]*View{{free, bound}, {bound, free}, {alone}} {
		vs := NewViews(list)
		for _, name := range append(odd, "o^1") {
			for use := query.Match; use <= query.Source; use++ {
				if got := vs.Field(name, use); got != query.Absent {
					t.Errorf("field %q is seen as %d for use %d; want as absent", name, got, use)
				}
			}
		}
		for use := query.Match; use <= query.Source; use++ {
			got, _ := vs.Expand("*", use)
			if i := slices.IndexFunc(got, func(name string) bool { return !query.IsPlain(name) }); i >= 0 || !slices.Contains(got, "plain") {
				t.Errorf("%q is expanded to %q for use %d; want plain names alone", "*", got, use)
			}
		}
	}
	for _, name := range odd {
		if !alone.Shows(name) || !alone.Projection().shows(name) {
			t.Errorf("answers hide %q; no rule does", name)
		}
	}
}
