package querystring

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// fake is a rule over a few fields.
type fake struct{ mixed string }

var (
	leaves  = []string{"title", "title.raw", "tag", "n", "person.nick", "a b", `odd:"name`, "AND", "-a-b+"}
	objects = []string{"person"}
)

func (f fake) Field(name string) (string, bool, error) {
	switch {
	case name == f.mixed && name != "":
		return "", false, errors.New("mixed: " + name)
	case slices.Contains(objects, name):
		return "", true, nil
	case slices.Contains(leaves, name), name == "_id":
		return name, false, nil
	}
	return f.StandIn(name), false, nil
}

func (f fake) Expand(pattern string, existing bool) ([]string, error) {
	var out []string
	for _, l := range leaves[:5] {
		if matches(pattern, l) && (existing || l != "n") {
			out = append(out, l)
		}
	}
	return out, nil
}

func (fake) StandIn(string) string { return "no.such" }

// matches is the naive form of a pattern with stars.
func matches(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	for i := len(head); i <= len(name); i++ {
		if matches(rest, name[i:]) {
			return true
		}
	}
	return false
}

func rewrite(text string, o Options) (string, error) {
	if o.Limit == 0 {
		o.Limit = 1 << 16
	}
	return Rewrite(text, fake{mixed: "mixed"}, o)
}

func TestRewrite(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got, err := rewrite(text, Options{}); err != nil || got != want {
			t.Errorf("%s\n got %s, %v\nwant %s", text, got, err, want)
		}
	}
	// Fields.
	f("title:red", "title:red")
	f("ssn:red", "no.such:red")
	f("ssn : red", "no.such:red")
	f("nosuch:red", "no.such:red")
	f(`\s\s\n:red`, "no.such:red")
	f(`\u0073sn:red`, "no.such:red")
	f(`t\u0069tle:red`, "title:red")
	f("red ssn:fox blue", "red no.such:fox blue")
	f("ssn:(red OR title:fox)", "no.such:(red OR title:fox)")
	f("title:(red OR ssn:fox)^2", "title:(red OR no.such:fox)^2")
	f("person.nick:x", "person.nick:x")
	f("person:x", "no.such:x")
	f("_id:1", "_id:1")
	f("_field_names:ssn", "no.such:ssn")
	f(`a\ b:x`, `a\ b:x`)
	f(`odd\:\"name:x`, `odd\:\"name:x`)
	f(`\AND:x`, `\AND:x`)
	f(`\-a\-b\+:x`, `\-a-b+:x`) // so that a stand-in is found again in an error
	f("_exists_:title", "_exists_:title")
	f("_exists_:ssn", "_exists_:no.such")
	f(`\_exists_:ssn`, "_exists_:no.such")
	f(`_exists_:"ssn"^2`, "_exists_:no.such^2")
	f("_exists_:(title ssn)", "(_exists_:no.such)") // one name of two words
	f("_exists_:(title OR ssn)", "(_exists_:title OR _exists_:no.such)")
	f(`_exists_:a\ b`, `_exists_:a\ b`)
	f("_exists_:person", "_exists_:person.nick")
	f(`_exists_:t\*`, "(_exists_:title OR _exists_:title.raw OR _exists_:tag)")
	f(`_exists_:"t*"`, "(_exists_:title OR _exists_:title.raw OR _exists_:tag)")
	f(`_exists_:zz\*`, "_exists_:no.such")
	f("ssn:*", "no.such:*")
	f("title:*", "title:*")
	f("person:*", "_exists_:person.nick")
	f("person:(* OR x)", "(_exists_:person.nick OR no.such:x)")
	f(`t\*:*`, "(_exists_:title OR _exists_:title.raw OR _exists_:tag)")

	// Patterns.
	f(`tit\*:red`, "(title:red OR title.raw:red)")
	f(`-tit\*:red~2^3`, "-(title:red~2^3 OR title.raw:red~2^3)")
	f(`per\*:(a b)`, "person.nick:(a b)")
	f(`tit\*:(a b)`, "((title:(a b) OR title.raw:(a b)))")
	f(`tit\*:(a AND b)`, "((title:a OR title.raw:a) AND (title:b OR title.raw:b))")
	f(`tit\*:(a tag:b)^2`, "((title:a OR title.raw:a) tag:b)^2")
	f(`tit\*:[1 TO 2}`, "(title:[1 TO 2} OR title.raw:[1 TO 2})")
	f(`zz\*:x`, "no.such:x")
	f("*:*", "*:*")
	f(`\*:*`, "*:*")
	f("*:red", "(title:red OR title.raw:red OR tag:red OR person.nick:red)")
	f("*:(red OR *)", "((title:red OR title.raw:red OR tag:red OR person.nick:red) OR *:*)")

	// Everything else comes out as it was.
	for _, text := range []string{
		"red", "red fox", "+red -fox", "red AND fox OR NOT blue", `"red fox"~2^1.5`, "red~", "red~0.8", "red^2", "re? fo* *x", "/re[ad]+/^2",
		`/a\/b/`, "[a TO b]", "{1 TO *}", `["a b" TO "c"]^2`, "title:>=10", "title:<5", "title:[TO TO TO]", `a\:b`, `\(x\)`, `\\`, "a+b-c", "a&&b",
		"(red OR (fox AND blue))^3", "title:\u00e9\U0001F600", "#tag", "a,b;c", "a=b", "*", "_exists_x", "-*",
	} {
		f(text, text)
	}
	// But for spelling.
	f("a && b || ! c", "a AND b OR !  c")
	f("a && b || !c", "a AND b OR NOT c")
	f("  a \t\n\u3000 b ", "a b")
	f("a - b", "a -  b")
	f("[ a  TO b ]", "[a TO b]")
	f("NOT a", "NOT a")
	f("( a )", "(a)")
}

func TestEverywhere(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got, err := rewrite(text, Options{Default: "*"}); err != nil || got != want {
			t.Errorf("%s\n got %s, %v\nwant %s", text, got, err, want)
		}
	}
	f(">5", "(title:>5 OR title.raw:>5 OR tag:>5 OR person.nick:>5)")
	f(`\u003e5 a b`, `(title:(\u003e5 a b) OR title.raw:(\u003e5 a b) OR tag:(\u003e5 a b) OR person.nick:(\u003e5 a b))`)
	f("*", "*:*")
	f("(* AND red)^2", "(*:* AND red)^2")
	f("title:*", "title:*")
	f("title:(* OR red)", "title:(* OR red)")
	f("-*", "-*:*")
	f("**", "**")
	f("title:>5", "title:>5")
}

// A default field that is a pattern or an object is named where a term needs it.
func TestDefault(t *testing.T) {
	f := func(name, text, want string) {
		t.Helper()
		if got, err := rewrite(text, Options{Default: name}); err != nil || got != want {
			t.Errorf("%s in %s\n got %s, %v\nwant %s", text, name, got, err, want)
		}
	}
	f("tit*", "* red", "(_exists_:title OR _exists_:title.raw) red")
	f("tit*", ">5 -<=7", "(title:>5 OR title.raw:>5) -(title:<=7 OR title.raw:<=7)")
	f("zz*", ">5 *", "no.such:>5 _exists_:no.such")
	f("person", "* >5 -red", "_exists_:person.nick no.such:>5 -red")
	f("", "* >5 red", "* >5 red")
}

func TestRefused(t *testing.T) {
	f := func(text, want string, syntax bool) {
		t.Helper()
		got, err := rewrite(text, Options{Default: "*", One: true})
		var e *Error
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, %v; want an error with %q", text, got, err, want)
		} else if errors.As(err, &e) && e.Syntax != syntax {
			t.Errorf("%s: %v: syntax %v; want %v", text, err, e.Syntax, syntax)
		}
	}
	// What clusters refuse too (measured).
	f("title:", "found the end, want a term", true)
	f(":x", `found ":", want a term`, true)
	f("a:b:c", `found ":", want a term`, true)
	f("t*:x", `found ":", want a term`, true)
	f(`"a":x`, `found ":", want a term`, true)
	f("(a", "want a closing parenthesis", true)
	f("a)", `found ")", want the end`, true)
	f("()", `found ")", want a term`, true)
	f("", "found the end, want a term", true)
	f("AND a", `found "AND", want a term`, true)
	f("a AND", "found the end, want a term", true)
	f("a AND OR b", `found "OR", want a term`, true)
	f("a^", "want a number after ^", true)
	f("a^ 2", "want a number after ^", true)
	f("a^x", "want a number after ^", true)
	f("a~1~2", "want a term", true)
	f(`"a`, "want a second quote", true)
	f(`a\`, "at the end", true)
	f("/a", "want a second /", true)
	f(`/a\/`, "want a second /", true)
	f("]", "without its beginning", true)
	f("[a TO b", "want ] or } at the end of a range", true)
	f("[a b]", "want a range as [a TO b]", true)
	f("[a TO]", "want a range as [a TO b]", true)
	f("[]", "want a range", true)
	f(`ss\u00:x`, "four hexadecimal digits", true)
	f(`ss\uzzzz:x`, "four hexadecimal digits", true)
	f("a\xff", "no valid UTF-8", true)

	// What they read in different ways, or what is not built.
	f("a~b:x", "want a space or a boost after ~", false)
	f("a~2b", "want a space or a boost after ~", false)
	f("a~1.x", "want a space or a boost after ~", false)
	f("[a\tTO b]", "want plain spaces in a range", false)
	f(`["a"b TO c]`, "want a quoted bound", false)
	f(`["" TO c]`, "want a quoted bound", false)
	f(`\ud800:x`, "half a character", false)
	f(">5", "a pattern of fields beside", false)
	f(`(\<=5)`, "a pattern of fields beside", false)
	f("_exists_:a*", "want the name of a field", false)
	f("_exists_:*", "want the name of a field", false)
	f("_exists_:[a TO b]", "want the name of a field", false)
	f("_exists_:/a/", "want the name of a field", false)
	f("_exists_:a~", "cannot be fuzzy", false)
	f(`tit\*:red`, "a pattern of fields beside", false)
	f(strings.Repeat("(", 65)+"a"+strings.Repeat(")", 65), "nest too deep", false)
	f("mixed:x", "mixed: mixed", false)
	f("_exists_:mixed", "mixed: mixed", false)
}

// A pattern that stands for one field or none is no disjunction.
func TestOne(t *testing.T) {
	for text, want := range map[string]string{`per\*:x`: "person.nick:x", `zz\*:x`: "no.such:x", `per\*:(* OR a)`: "(_exists_:person.nick OR person.nick:a)"} {
		if got, err := rewrite(text, Options{One: true}); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestLimit(t *testing.T) {
	text := `\*:` + strings.Repeat("a", 500)
	if _, err := rewrite(text, Options{Limit: 1000}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("got %v; want it to be too long", err)
	}
	if _, err := rewrite(text, Options{Limit: 10000}); err != nil {
		t.Error(err)
	}
}
