package conformance

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestAppendJSON(t *testing.T) {
	kept := stash{"id": "7", "list": []any{"a", "b"}}
	f := func(text, want string) {
		t.Helper()
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		got, err := appendJSON(nil, doc.Content[0], kept)
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	f("{b: 1, a: 2}", `{"b":1,"a":2}`) // in the order written
	f("[1.0, 1e3, 0x10, -0.5, 12345678901234567890]", `[1.0,1e3,16,-0.5,12345678901234567890]`)
	f("2016-01-01", `"2016-01-01"`)
	f("[true, null, ~, no, '1', \"\"]", `[true,null,null,"no","1",""]`)
	f("{$id: $list}", `{"7":["a","b"]}`)
	f("'${id}-${x}, $x'", `"7-${x}, $x"`)
	f("<a&b>", `"<a&b>"`)
	f("[&x {a: 1}, *x]", `[{"a":1},{"a":1}]`)
}

func TestAt(t *testing.T) {
	v, err := parseJSON([]byte(`{"hits":[{"a.b":1},{"7":{"x":null}}],"":{"y":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	kept := stash{"id": "7"}
	f := func(path, want string) {
		t.Helper()
		got, err := kept.at(v, path)
		if err != nil {
			got = err
		}
		if text(got) != want {
			t.Errorf("%q leads to %v; want %s", path, got, want)
		}
	}
	f(`hits.0.a\.b`, "1")
	f(`$body.hits.0.a\.b`, "1")
	f("hits.1.$id.x", "")
	f("hits.1._arbitrary_key_", "7")
	f("hits.2", "hits.2: there is no such value")
	f("hits.x", "hits.x: there is no such value")
	f("hits.1.7.x.y", "hits.1.7.x.y: there is no such value")
}

func TestMatches(t *testing.T) {
	f := func(pattern, s string, want bool) {
		t.Helper()
		if got := matches(withoutSpace(pattern), s) == nil; got != want {
			t.Errorf("/%s/ in %q: %v; want %v", pattern, s, got, want)
		}
	}
	f("^ a \\s+ \\d $\n", "a  1", true)
	f("^ a \\s+ \\d $", "a1", false)
	f("# ip  name\n^ \\#x", "#x", true)
	f(`a\_b\/c\\_`, `a_b/c\_`, true)
	f("^(foo)$", "foo\n", true)
	f("^(foo)$", "foo\n\n", false)
	f(`^(,\w)*+\*+$`, ",a,b**", true)
	f(`^(,\w)*+\*+$`, ",a,b+", false)
}
