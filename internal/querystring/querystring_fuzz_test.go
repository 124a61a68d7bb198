package querystring

import (
	"slices"
	"testing"
)

// same shows every field as it is, and lets a pattern stand.
type same struct{}

func (same) Field(name string) (string, bool, error)         { return name, false, nil }
func (same) Expand(pattern string, _ bool) ([]string, error) { return []string{pattern}, nil }
func (same) StandIn(name string) string                      { return name }

// meaning is the tokens of a text with their spelling taken away.
func meaning(t *testing.T, text string) []token {
	t.Helper()
	tokens, err := lex(text)
	if err != nil {
		t.Fatalf("%q was printed and cannot be read: %v", text, err)
	}
	for i := range tokens {
		tok := &tokens[i]
		tok.at = 0
		switch tok.kind {
		case and, or, not:
			tok.text = ""
		case term:
			if i+1 < len(tokens) && tokens[i+1].kind == colon || i > 1 && tokens[i-1].kind == colon && tokens[i-2].text == existsField {
				if tok.text, err = unescape(*tok); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
			}
		}
	}
	return tokens
}

var seeds = []string{
	"title:red", `\u0073sn:(a OR -tit\*:b~2)^3`, "_exists_:person AND *:x", `"a b"~1 /r\/e/ [a TO "b c"} {* TO 5]^2`, "a && b || !c + d - e ! f",
	`person:* \*:* *`, "n:>=5 <3", `a\ b:x odd\:\"name:y \AND:z`, "a b c^2 d:e f g", "\u3000x\u3000:y", "((a))", "*a b* c?d ** ?",
}

// FuzzIdentity: where every field is shown a text comes out with its tokens.
func FuzzIdentity(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := Rewrite(text, same{}, Options{Limit: 1 << 20})
		if err != nil {
			return
		}
		got, want := meaning(t, out), meaning(t, text)
		// An asked existence and a lone star of a pattern have two spellings, and their
		// words are put together: only their print is compared, below.
		if !slices.ContainsFunc(want, func(t token) bool { return t.text == existsField || t.kind == star }) && !slices.Equal(got, want) {
			t.Fatalf("%q became %q", text, out)
		}
		again, err := Rewrite(out, same{}, Options{Limit: 1 << 20})
		if err != nil || again != out {
			t.Fatalf("%q became %q and then %q, %v", text, out, again, err)
		}
	})
}

// FuzzHidden: whatever the text, it names nothing but what may be seen, and reading it
// again changes nothing.
func FuzzHidden(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, everywhere bool) {
		o := Options{Limit: 1 << 20}
		if everywhere {
			o.Default = "*"
		}
		out, err := Rewrite(text, fake{}, o)
		if err != nil {
			return
		}
		tokens, err := lex(out)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, out, err)
		}
		for i, tok := range tokens {
			if tokens[min(i+1, len(tokens)-1)].kind == colon {
				checkVisible(t, out, tokens[i:])
			}
			if everywhere && tok.kind == star && (i == 0 || tokens[i-1].kind != colon) && tokens[i+1].kind != colon && !inGroup(tokens[:i]) {
				t.Fatalf("%q became %q with a * in all fields", text, out)
			}
		}
		if again, err := Rewrite(out, fake{}, o); err != nil || again != out {
			t.Fatalf("%q became %q and then %q, %v", text, out, again, err)
		}
	})
}

// inGroup reports whether what follows tokens stands in parentheses of some field.
func inGroup(tokens []token) bool {
	depth := 0
	for i := len(tokens) - 1; i >= 0; i-- {
		switch tokens[i].kind {
		case closing:
			depth++
		case open:
			if depth--; depth < 0 && i > 0 && tokens[i-1].kind == colon {
				return true
			}
		}
	}
	return false
}

// checkVisible checks the field that tokens begin with, and the one that _exists_ asks.
func checkVisible(t *testing.T, out string, tokens []token) {
	t.Helper()
	shown := func(name string) bool { return slices.Contains(leaves, name) || name == "_id" || name == "no.such" }
	name, err := unescape(tokens[0])
	switch {
	case err != nil:
		t.Fatalf("%q: %v", out, err)
	case tokens[0].kind == star && tokens[2].kind == star, tokens[0].kind == term && shown(name):
	case name == existsField && tokens[2].kind == term:
		if field, err := unescape(tokens[2]); err != nil || !shown(field) {
			t.Fatalf("%q asks whether %q exists", out, field)
		}
	default:
		t.Fatalf("%q names the field %q", out, name)
	}
}
