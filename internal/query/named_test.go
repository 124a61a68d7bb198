package query

import (
	"slices"
	"strings"
	"testing"
)

// TestFieldsOf holds by which fields a rule tells documents apart.
func TestFieldsOf(t *testing.T) {
	f := func(rule Filter, want ...string) {
		t.Helper()
		n := FieldsOf(rule)
		slices.Sort(n.names)
		if got := slices.Compact(n.names); n.any || !slices.Equal(got, want) {
			t.Errorf("fields of %s: %q, any: %v; want %q", rule, got, n.any, want)
		}
	}
	f(Free)
	f(`{"match_all":{}}`)
	f(`{"ids":{"values":["a"]}}`)
	f(`{"term":{"dept":"eng"}}`, "dept")
	f(`{"terms":{"dept":["eng","hr"]}}`, "dept")
	f(`{"exists":{"field":"a.b"}}`, "a.b")
	f(`{"dis_max":{"queries":[{"range":{"level":{"lt":5}}}]}}`, "level")
	f(`{"bool":{"must_not":[{"match":{"a":"x"}}],"should":[{"prefix":{"b":{"value":"x"}}},{"nested":{"path":"c","query":{"wildcard":{"c.d":"x*"}}}}]}}`, "a", "b", "c", "c.d")
	f(`{"terms_set":{"a":{"terms":["x"],"minimum_should_match_field":"b"}}}`, "a", "b")
	f(`{"field_masking_span":{"field":"a","query":{"span_term":{"b":"x"}}}}`, "a", "b")
	f(`{"intervals":{"a":{"match":{"query":"x","use_field":"b"}}}}`, "a", "b")
	f(`{"function_score":{"query":{"regexp":{"a":"x.*"}},"functions":[{"field_value_factor":{"field":"b"}}]}}`, "a", "b")
	f(`{"geo_distance":{"distance":"1km","at":[1,2]}}`, "at")

	any := func(rule Filter) {
		t.Helper()
		if n := FieldsOf(rule); !n.any || n.None() {
			t.Errorf("fields of %s: %q; want any", rule, n.names)
		}
	}
	any(None)
	any(`{"nosuch":{"a":1}}`)
	any(`no JSON`)
	any(`{"exists":{"field":"a*"}}`)
	for name, c := range clauses {
		if (c.form == multi || strings.HasPrefix(name, "has_") || strings.Contains(name, "script")) && !slices.Contains(unnamed, name) {
			t.Errorf("the fields of clause %s do not stand in it", name)
		}
	}
	any(`{"bool":{"filter":[{"query_string":{"query":"dept:eng"}}]}}`)
	any(`{"multi_match":{"query":"x"}}`)
	any(`{"script":{"script":{"id":"s"}}}`)
}

// TestMeets holds which new fields may change what a rule finds.
func TestMeets(t *testing.T) {
	n := FieldsOf(`{"term":{"a.b":"x"}}`)
	for path, want := range map[string]bool{"a.b": true, "a": true, "a.b.c": true, "a.c": false, "a.bb": false, "b": false, "ab": false} {
		if n.Meets(path) != want {
			t.Errorf("%s meets a.b: %v; want %v", path, !want, want)
		}
	}
	if (Named{}).Meets("a") || !FieldsOf(None).Meets("a") || !n.And(FieldsOf(`{"term":{"b":1}}`)).Meets("b") || !FieldsOf(Free).None() {
		t.Error("no field is met by none, or a field not by any, or not by both")
	}
}
