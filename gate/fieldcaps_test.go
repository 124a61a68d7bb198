package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"guard/fls"
	"guard/internal/names"
)

// fieldCapsOf returns the treatment of a list over the indices that views are of.
func fieldCapsOf(views map[string]*fls.View) fieldCapsTreatment {
	return fieldCapsTreatment{views: views, indices: slices.Sorted(maps.Keys(views))}
}

// TestFieldCapsFilter holds which fields are listed over several indices: those that
// no index of them hides.
func TestFieldCapsFilter(t *testing.T) {
	hr := viewsOf(t, staffMapping, "~ssn").views["hr"]
	narrow := viewsOf(t, staffMapping, "name").views["hr"]
	logs := fls.NewView(fls.Everything(), mappingFrom(t, `{"properties":{"msg":{"type":"text"},"ssn":{"type":"long"}}}`))
	f := func(want string, views map[string]*fls.View) {
		t.Helper()
		caps := fieldCapsOf(views)
		body := `{"indices":["hr"],"fields":{"_id":{"_id":{}},"msg":{"text":{}},"name":{"text":{}},"ssn":{"keyword":{}},"folded":{"text":{}},"person":{"object":{}},"person.nick":{"keyword":{}}}}`
		got, err := caps.Treat(Answer{Status: 200, Body: []byte(body)})
		if err != nil || string(got.Body) != `{"indices":["hr"],"fields":{`+want+`}}` {
			t.Errorf("got %s, %v; want fields %s", got.Body, err, want)
		}
	}
	f(`"_id":{"_id":{}},"msg":{"text":{}},"name":{"text":{}},"person":{"object":{}},"person.nick":{"keyword":{}}`, map[string]*fls.View{"hr": hr})
	f(`"_id":{"_id":{}},"name":{"text":{}}`, map[string]*fls.View{"hr": narrow})
	f(`"_id":{"_id":{}},"msg":{"text":{}},"name":{"text":{}},"person":{"object":{}},"person.nick":{"keyword":{}}`, map[string]*fls.View{"hr": hr, "logs": logs})
	f(`"_id":{"_id":{}},"name":{"text":{}}`, map[string]*fls.View{"hr": narrow, "logs": logs}) // hr could have msg, and hide it

	// A field that no mapping has yet is judged by the rules of all.
	unseen := fieldCapsOf(map[string]*fls.View{"hr": narrow})
	if unseen.shows("later") || !unseen.shows("name") || unseen.shows("ssn") {
		t.Error("a field that is not seen yet is shown although only listed ones may be")
	}
	if f := fieldCapsOf(map[string]*fls.View{"hr": hr, "logs": logs}); !f.shows("later") || f.shows("ssn") {
		t.Error("a field that is not seen yet is hidden although nothing excludes it")
	}

	// What is there for the sake of a hidden field goes with it, whatever its name.
	joined := fieldCapsOf(map[string]*fls.View{"j": fls.NewView(hidden(t, "~j"), mappingFrom(t, `{"properties":{"j":{"type":"join"},"_own":{"type":"keyword"}}}`))})
	for name, want := range map[string]bool{"_parent_join": false, "j": false, "j#q": false, "_nested_path": true, "_ignored": true, "_feature": true, "_own": true} {
		if got := joined.shows(name); got != want {
			t.Errorf("%s is shown: %v", name, got)
		}
	}

	got, err := fieldCapsOf(map[string]*fls.View{"hr": hr}).Treat(Answer{Status: 404, Body: []byte(`{"error":{"type":"x","reason":"y","stack_trace":"z"},"status":404}`)})
	if err != nil || string(got.Body) != `{"error":{"type":"x","reason":"y"},"status":404}` {
		t.Errorf("an error became %s, %v", got.Body, err)
	}
}

func hidden(t testing.TB, entries ...string) fls.Rules {
	t.Helper()
	rules, err := fls.Compile(entries)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// fieldCapsLike answers as a cluster whose indices have these fields, by their types. The
// order follows from how many there are, as a cluster's does.
func fieldCapsLike(t testing.TB, indices map[string]map[string]string, asked []string, unmapped bool) []byte {
	t.Helper()
	patterns, err := names.ParsePatterns(asked...)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string][]string{} // field, type, indices
	add := func(field, kind, index string) {
		if found[field] == nil {
			found[field] = map[string][]string{}
		}
		if !slices.Contains(found[field][kind], index) {
			found[field][kind] = append(found[field][kind], index)
		}
	}
	all := slices.Sorted(maps.Keys(indices))
	for _, index := range all {
		for field, kind := range indices[index] {
			if !patterns.Match(field) {
				continue
			}
			add(field, kind, index)
			for i := range len(field) {
				if field[i] == '.' {
					add(field[:i], "object", index)
				}
			}
		}
	}
	var out []string
	for field, kinds := range found {
		if unmapped {
			for _, index := range all {
				if !slices.ContainsFunc(slices.Collect(maps.Values(kinds)), func(list []string) bool { return slices.Contains(list, index) }) {
					add(field, "unmapped", index)
				}
			}
		}
		var caps []string
		for kind, list := range kinds {
			text := fmt.Sprintf(`%q:{"type":%q,"searchable":%t,"aggregatable":%[3]t`, kind, kind, kind != "object" && kind != "unmapped")
			if len(kinds) > 1 {
				text += `,"indices":["` + strings.Join(list, `","`) + `"]`
			}
			caps = append(caps, text+"}")
		}
		slices.Sort(caps)
		slices.Reverse(caps)
		out = append(out, fmt.Sprintf("%q:{%s}", field, strings.Join(caps, ",")))
	}
	slices.Sort(out)
	if len(out)%2 == 1 {
		slices.Reverse(out)
	}
	return fmt.Appendf(nil, `{"indices":["%s"],"fields":{%s}}`, strings.Join(all, `","`), strings.Join(out, ","))
}

// TestFieldCapsHide states the law of the list: whatever is asked, the answer is the one
// of indices that never had the hidden fields, in the order of names.
func TestFieldCapsHide(t *testing.T) {
	shown := map[string]map[string]string{
		"a": {"name": "text", "p.nick": "keyword", "p.q.size": "long"},
		"b": {"p": "keyword", "name": "text", "solo": "long"},
		"c": {"p.nick": "keyword", "p.more": "long"},
		"d": {"solo": "keyword"},
		// The client's own index, with names to try.
		"mine": {"p.h1": "keyword", "p.own": "long", "h3": "keyword", "h4": "keyword", "z": "keyword"},
	}
	// Each beside something visible of the same object, alone in one, or alone at all.
	hidden := map[string][]string{"a": {"p.h1", "p.q.h2", "h3", "z.h4"}, "b": {"h3"}, "c": {"p.h1", "p.q.h2"}, "d": {"p.h1", "solo2.h5"}}
	rules, err := fls.Compile([]string{"~p.h1", "~p.q.h2", "~h3", "~z.h4", "~solo2.h5"})
	if err != nil {
		t.Fatal(err)
	}
	full := map[string]map[string]string{}
	for index, fields := range shown {
		full[index] = maps.Clone(fields)
		for _, name := range hidden[index] {
			full[index][name] = "keyword"
		}
	}
	bound := maps.Clone(shown)
	delete(bound, "mine")
	treat := func(indices map[string]map[string]string, asked []string, unmapped bool) []byte {
		t.Helper()
		views := map[string]*fls.View{}
		for index, fields := range indices {
			bound := rules
			if index == "mine" {
				bound = fls.Everything()
			}
			views[index] = fls.NewView(bound, mappingFrom(t, mappingOfFields(fields)))
		}
		caps := fieldCapsOf(views)
		caps.unmapped = unmapped
		got, err := caps.Treat(Answer{Status: 200, Body: fieldCapsLike(t, indices, asked, unmapped)})
		if err != nil {
			t.Fatal(err)
		}
		return got.Body
	}
	patterns := []string{"*", "p", "p.*", "p.h*", "p.n*", "p.m*", "p.q", "p.q.*", "p.q.h*", "p.q.s*", "h*", "z", "z*", "*1", "name", "solo*", "*.h*", "no*"}
	for _, one := range patterns {
		for _, other := range patterns {
			for _, unmapped := range []bool{false, true} {
				asked := []string{one, other}
				got := treat(full, asked, unmapped)
				if want := treat(shown, asked, unmapped); string(got) != string(want) {
					t.Errorf("%s, unmapped %t: %s\nwithout the hidden fields %s", asked, unmapped, got, want)
				}
				// Without a hidden field nothing but the order changes.
				if got, want := sameJSON(t, treat(bound, asked, unmapped)), sameJSON(t, fieldCapsLike(t, bound, asked, unmapped)); got != want {
					t.Errorf("%s, unmapped %t: %s\nthe cluster %s", asked, unmapped, got, want)
				}
			}
		}
	}
}

// mappingOfFields writes a mapping with these fields, by their full names.
func mappingOfFields(fields map[string]string) string {
	type object map[string]any
	root := object{}
	for name, kind := range fields {
		at := root
		steps := strings.Split(name, ".")
		for _, step := range steps[:len(steps)-1] {
			if at[step] == nil {
				at[step] = object{"properties": object{}}
			}
			at = at[step].(object)["properties"].(object)
		}
		at[steps[len(steps)-1]] = object{"type": kind}
	}
	text, err := json.Marshal(object{"properties": root})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// sameJSON writes a text so that equal values are equal texts.
func sameJSON(t testing.TB, text []byte) string {
	t.Helper()
	var v any
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
