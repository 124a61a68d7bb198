package oracle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/test/oracle"
)

func TestDifferences(t *testing.T) {
	f := func(a, b any, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, oracle.Differences(a, b)); diff != "" {
			t.Errorf("%v and %v (-want +got):\n%s", a, b, diff)
		}
	}
	type m = map[string]any
	f(m{"a": 1, "b": m{"c": 2}}, m{"a": 1, "b": m{"c": 2}})
	f(m{"a": 1, "b": m{"c": 2}}, m{"a": 2, "b": m{"c": 3}}, "a", "b.c")
	f(m{"a": m{"x": 1}}, m{}, "a")
	f(m{"a": m{}}, m{"a": "text"}, "a")
}

func TestComparable(t *testing.T) {
	type m = map[string]any
	got := oracle.Comparable(m{
		"score": 1, "_seq_no": 2, "kept": []any{m{"score": 3, "x": 4}},
		"settings": m{"index": m{"uuid": "u"}}, "own": m{"settings": m{"index": m{"hidden": "true"}}},
		"error": []any{"security_exception", "no permissions for [x] and User [name=a] on [logs-*]"},
	})
	want := m{
		"kept": []any{m{"x": 4}}, "own": m{"settings": m{"index": m{"hidden": "true"}}},
		"error": []any{"security_exception", "no permissions for [x] and User [name=a]"},
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDeviations: every criterion that a kind has must hold.
func TestDeviations(t *testing.T) {
	kinds, err := oracle.ReadDeviations("testdata/deviations.yml")
	if err != nil {
		t.Fatal(err)
	}
	f := func(want, guard, recorded string, request oracle.Request, user string, masked bool) {
		t.Helper()
		d := oracle.Difference{Request: request, User: user, Masked: masked, Guard: guard, Recorded: recorded, Paths: []string{"answer"}}
		got := "none"
		for _, k := range kinds {
			if k.Explains(d) {
				got = k.Kind
				break
			}
		}
		if got != want {
			t.Errorf("%s | %s of %s: %s; want %s", guard, recorded, user, got, want)
		}
	}
	get := oracle.Request{ID: 1000, EP: "get"}
	f("none", `200 {"found":true}`, `403 {}`, get, "u01", false)
	f("none", `200 {"found":true}`, `200 {"found":false}`, get, "u14", true)
	f("not built", `403 {"error":["security_exception","x is not built yet"]}`, `200 {}`, get, "u01", false)
	f("none", `403 {}`, `200 {}`, oracle.Request{ID: 1000, EP: "head_doc"}, "u01", false)
	f("masks not built", `403 {}`, `200 {}`, oracle.Request{ID: 1000, EP: "head_doc"}, "u01", true)
}
