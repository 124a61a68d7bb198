package esjson

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func mustParse(t testing.TB, src string) Value {
	t.Helper()
	v, err := Parse(new(Tape), []byte(src), RequestLimits())
	if err != nil {
		t.Fatalf("Parse(%q): %v", src, err)
	}
	return v
}

// skipsWhole reports whether Skip takes src for one value and nothing else.
func skipsWhole(src []byte) bool {
	end, err := Skip(src, 0)
	return err == nil && SkipSpace(src, end) == len(src)
}

// refuses returns a check that a text is refused, why, and that no value is left of it.
func refuses(t *testing.T) func(src, want string) {
	return func(src, want string) {
		t.Helper()
		tape := new(Tape)
		v, err := Parse(tape, []byte(src), RequestLimits())
		if err == nil {
			t.Fatalf("Parse(%q) = %s; want an error with %q", src, v.Raw(), want)
		}
		if !strings.Contains(err.Error(), want) {
			t.Fatalf("Parse(%q): %q; want it to contain %q", src, err, want)
		}
		if v.Kind() != Invalid || len(tape.tokens) != 0 {
			t.Fatalf("Parse(%q) failed and left a value behind", src)
		}
	}
}

// TestRefusesTexts: a text is one value, and nothing around it.
func TestRefusesTexts(t *testing.T) {
	f := refuses(t)
	f(``, `unexpected end of text at offset 0; want a value`)
	f(` `, `unexpected end of text at offset 1; want a value`)
	f(`{} {}`, `unexpected '{' at offset 3; want the end of the text`)
	f(`{}x`, `unexpected 'x' at offset 2; want the end of the text`)
	f("{}\x00", `unexpected '\x00' at offset 2; want the end of the text`)
	f("\ufeff{}", `at offset 0; want a value`) // byte order mark
	f(`/**/{}`, `unexpected '/' at offset 0; want a value`)
	f(`{}//x`, `want the end of the text`)
	f("{#\n}", `want a key`)
}

func TestRefusesStructure(t *testing.T) {
	f := refuses(t)
	f(`{`, `want a key in '"' or '}'`)
	f(`{"a"`, `unexpected end of text at offset 4; want ':'`)
	f(`{"a" 1}`, `unexpected '1' at offset 5; want ':'`)
	f(`{"a":}`, `unexpected '}' at offset 5; want a value`)
	f(`{"a":1`, `want ',' or '}'`)
	f(`{"a":1 "b":2}`, `unexpected '"' at offset 7; want ',' or '}'`)
	f(`{"a":1,}`, `unexpected '}' at offset 7; want a key in '"'`)
	f(`{,}`, `want a key in '"' or '}'`)
	f(`{a:1}`, `unexpected 'a' at offset 1; want a key`)
	f(`{'a':1}`, `unexpected '\'' at offset 1; want a key`)
	f(`{1:1}`, `want a key`)
	f(`{"a":1]`, `unexpected ']' at offset 6; want ',' or '}'`)
	f(`[`, `want a value`)
	f(`[1,]`, `unexpected ']' at offset 3; want a value`)
	f(`[1 2]`, `unexpected '2' at offset 3; want ',' or ']'`)
	f(`[1}`, `unexpected '}' at offset 2; want ',' or ']'`)
	f(`]`, `want a value`)
}

// TestRefusesDuplicateKeys: however they are spelled, and at every depth.
func TestRefusesDuplicateKeys(t *testing.T) {
	f := refuses(t)
	f(`{"a":1,"a":2}`, `duplicate key "a" at offset 7; want each key of an object once`)
	f(`{"a":1,"\u0061":2}`, `duplicate key "a" at offset 7`)
	f(`{"\u0061":1,"a":2}`, `duplicate key "a" at offset 12`)
	f(`{"\u0061":1,"\u0061":2}`, `duplicate key "a"`)
	f(`{"é":1,"\u00e9":2}`, `duplicate key "é"`)
	f(`{"a/b":1,"a\/b":2}`, `duplicate key "a/b"`)
	f(`{"😀":1,"\ud83d\ude00":2}`, `duplicate key "😀"`)
	f(`{"":1,"":2}`, `duplicate key ""`)
	f(`[0,{"q":{"x":[{"a":{},"b":[],"a":3}]}}]`, `duplicate key "a" at offset 29`)
	f(`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"\u0063":0}`, `duplicate key "c"`) // hashed
	f(`{"`+strings.Repeat("k", 70)+`":1,"`+strings.Repeat("k", 70)+`":1}`, `duplicate key "`+strings.Repeat("k", 64)+`..."`)
}

func TestRefusesStrings(t *testing.T) {
	f := refuses(t)
	f(`"`, `unexpected end of text at offset 1; want a closing '"'`)
	f(`"abcdefgh`, `unexpected end of text at offset 9; want a closing '"'`)
	f(`"\`, `want one of`)
	f(`"\x"`, `unexpected 'x' at offset 2; want one of`)
	f(`"\U0061"`, `unexpected 'U' at offset 2`)
	f(`"\u00g0"`, `want four hexadecimal digits`)
	f(`"\u00`, `want four hexadecimal digits`)
	f("\"a\nb\"", `unexpected '\n' at offset 2; want control characters escaped`)
	f("\"0123456\tb\"", `unexpected '\t' at offset 8`)
	f("\"\x00\"", `unexpected '\x00' at offset 1`)
	f(`"\ud800"`, `want surrogates in pairs`)
	f(`"\ude00\ud83d"`, `want surrogates in pairs`)
	f(`"\ud83d\u0041"`, `want surrogates in pairs`)
	f(`"\ud83dx\ude00"`, `want surrogates in pairs`)
	f(`"\ud83d\ud83d"`, `want surrogates in pairs`)
	f("\"\xff\"", `unexpected byte 0xff at offset 1; want valid UTF-8`)
	f("\"abcdefghi\xc3\"", `unexpected byte 0xc3 at offset 10; want valid UTF-8`)
	f("\"\xc0\xaf\"", `unexpected byte 0xc0`)     // overlong '/'
	f("\"\xed\xa0\x80\"", `unexpected byte 0xed`) // a surrogate in UTF-8
	f("{\"\xff\":1}", `unexpected byte 0xff at offset 2`)
}

func TestRefusesNumbersAndWords(t *testing.T) {
	f := refuses(t)
	f(`-`, `want a digit`)
	f(`+1`, `unexpected '+' at offset 0; want a value`)
	f(`.5`, `unexpected '.' at offset 0; want a value`)
	f(`1.`, `unexpected end of text at offset 2; want a digit`)
	f(`1.e5`, `unexpected 'e' at offset 2; want a digit`)
	f(`1e`, `want a digit`)
	f(`1e+`, `want a digit`)
	f(`01`, `unexpected '1' at offset 1; want no digit after a leading 0`)
	f(`-01`, `want no digit after a leading 0`)
	f(`0x10`, `unexpected 'x' at offset 1; want the end of the text`)
	f(`1_000`, `unexpected '_' at offset 1`)
	f(`NaN`, `unexpected 'N' at offset 0; want a value`)
	f(`-Infinity`, `unexpected 'I' at offset 1; want a digit`)
	f(`True`, `want a value`)
	f(`tru`, `want true, false or null`)
	f(`nul`, `want true, false or null`)
	f(`fals3`, `want true, false or null`)
	f(`truex`, `unexpected 'x' at offset 4; want the end of the text`)
	f(`nullnull`, `want the end of the text`)
}

func TestParseAccepts(t *testing.T) {
	f := func(src string) {
		t.Helper()
		mustParse(t, src)
		if !skipsWhole([]byte(src)) {
			t.Fatalf("Skip does not pass over %q", src)
		}
	}
	f(`null`)
	f(" \t\r\n{ \"a\" : [ 1 , { } , [ ] ] } \n")
	f(`{"a":1,"A":2,"ａ":3}`) // keys that only look alike are different keys
	f(`[-0,0.0,1e5,1E-5,-1.5e+300,1e400,123456789012345678901234567890]`)
	f(`"\"\\\/\b\f\n\r\t\u0000\ud83d\ude00"`)
	f("\"\u007f\u2028😀\"")
	f(strings.Repeat("[", 256) + strings.Repeat("]", 256))
}

func TestLimits(t *testing.T) {
	f := func(src string, lim Limits, want error) {
		t.Helper()
		_, err := Parse(new(Tape), []byte(src), lim)
		if !errors.Is(err, want) {
			t.Fatalf("Parse(%.20q, %+v): %v; want %v", src, lim, err, want)
		}
	}
	f(`1`, Limits{}, ErrTooMany) // the zero limits admit nothing
	f(`1`, Limits{MaxTokens: 1}, nil)
	f(`[]`, Limits{MaxTokens: 1}, ErrTooDeep)
	f(`[]`, Limits{MaxTokens: 1, MaxDepth: 1}, nil)
	f(`[{}]`, Limits{MaxTokens: 2, MaxDepth: 1}, ErrTooDeep)
	f(`{"a":1}`, Limits{MaxTokens: 2, MaxDepth: 1}, ErrTooMany) // a key is a token
	f(`{"a":1}`, Limits{MaxTokens: 3, MaxDepth: 1}, nil)
	f(strings.Repeat(`[`, 200_000), Limits{MaxTokens: 1 << 20, MaxDepth: 1 << 20}, ErrTooDeep)
	f(strings.Repeat(`{"a":`, 200_000), Limits{MaxTokens: 1 << 20, MaxDepth: 1 << 20}, ErrTooDeep)
	if _, err := Skip([]byte(strings.Repeat(`[`, 200_000)), 0); !errors.Is(err, ErrTooDeep) {
		t.Fatalf("Skip: %v; want %v", err, ErrTooDeep)
	}
	if _, err := Skip([]byte(strings.Repeat(`{"a":`, 200_000)), 0); !errors.Is(err, ErrTooDeep) {
		t.Fatalf("Skip: %v; want %v", err, ErrTooDeep)
	}
	var syn *SyntaxError
	if _, err := Parse(new(Tape), []byte(`{]`), RequestLimits()); !errors.As(err, &syn) || syn.Offset != 1 {
		t.Fatalf("Parse: %v; want a *SyntaxError at offset 1", err)
	}
}

func TestValue(t *testing.T) {
	v := mustParse(t, ` {"s":"a\u0062c","n":-12,"f":1.5,"b":true,"z":null,"arr":[1,[2],{"k":"v"}],"\u006fbj":{}} `)
	if v.Kind() != Object || v.Len() != 7 || v.Offset() != 1 {
		t.Fatalf("root is %v with %d members at %d", v.Kind(), v.Len(), v.Offset())
	}
	var keys, raws []string
	for k, m := range v.Members() {
		keys, raws = append(keys, k), append(raws, string(m.Raw()))
	}
	if diff := cmp.Diff([]string{"s", "n", "f", "b", "z", "arr", "obj"}, keys); diff != "" {
		t.Fatalf("keys (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`"a\u0062c"`, `-12`, `1.5`, `true`, `null`, `[1,[2],{"k":"v"}]`, `{}`}, raws); diff != "" {
		t.Fatalf("values (-want +got):\n%s", diff)
	}
	arr, _ := v.Lookup("arr")
	var elems []string
	for _, e := range arr.Elements() {
		elems = append(elems, e.String())
	}
	if diff := cmp.Diff([]string{`1`, `[2]`, `{"k":"v"}`}, elems); diff != "" {
		t.Fatalf("elements (-want +got):\n%s", diff)
	}
	if obj, ok := v.Lookup("obj"); !ok || !obj.Is(Object) || obj.Len() != 0 {
		t.Fatalf("Lookup does not find a key that is spelled with an escape")
	}
	if _, ok := v.Lookup("OBJ"); ok {
		t.Fatal("Lookup folds case")
	}
	for range v.Members() {
		break // an iteration may end early
	}
	for range arr.Elements() {
		break
	}
}

func TestScalars(t *testing.T) {
	f := func(src string, get func(Value) (any, error), want any, wantErr string) {
		t.Helper()
		v, _ := mustParse(t, `{"x":[`+src+`]}`).Lookup("x")
		for _, e := range v.Elements() {
			got, err := get(e)
			if wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), wantErr) {
					t.Fatalf("%s: %v, %v; want an error with %q", src, got, err, wantErr)
				}
				continue
			}
			if err != nil || got != want {
				t.Fatalf("%s: %v, %v; want %v", src, got, err, want)
			}
		}
	}
	num := func(v Value) (any, error) { return v.Int() }
	flt := func(v Value) (any, error) { return v.Float() }
	boo := func(v Value) (any, error) { return v.Bool() }
	txt := func(v Value) (any, error) { return v.Text() }

	f(`-12`, num, int64(-12), "")
	f(`9223372036854775807`, num, int64(9223372036854775807), "")
	f(`9223372036854775808`, num, nil, "cannot use 9223372036854775808 at x[0]; want an integer")
	f(`1.0`, num, nil, "cannot use 1.0 at x[0]; want an integer")
	f(`0e7`, num, nil, "want an integer")
	f(`"1"`, num, nil, "cannot use a string at x[0]; want a number")
	f(`true`, num, nil, "cannot use a boolean at x[0]; want a number")
	f(`1.5`, flt, 1.5, "")
	f(`1e400`, flt, nil, "cannot use 1e400 at x[0]")
	f(`"1"`, flt, nil, "cannot use a string")
	f(`true`, boo, true, "")
	f(`false`, boo, false, "")
	f(`"true"`, boo, nil, "cannot use a string at x[0]; want a boolean")
	f(`1`, boo, nil, "cannot use a number")
	f(`null`, boo, nil, "cannot use null")
	f(`"a\nb"`, txt, "a\nb", "")
	f(`"\ud83d\ude00\/\b\f\r\t\"\\\u00e9"`, txt, "😀/\b\f\r\t\"\\é", "")
	f(`7`, txt, nil, "cannot use a number at x[0]; want a string")
	f(`{}`, txt, nil, "cannot use an object")
	f(`[]`, txt, nil, "cannot use an array")
}

func TestZeroValueHasNothing(t *testing.T) {
	var v Value
	if v.Kind() != Invalid || v.Raw() != nil || v.Len() != 0 || v.String() != "" || v.Path() != "nowhere" {
		t.Fatalf("the zero Value is %v %q", v.Kind(), v.Raw())
	}
	for range v.Members() {
		t.Fatal("the zero Value has a member")
	}
	for range v.Elements() {
		t.Fatal("the zero Value has an element")
	}
	if _, err := v.Text(); err == nil || !strings.Contains(err.Error(), "cannot use nothing at nowhere; want a string") {
		t.Fatalf("Text of the zero Value: %v", err)
	}
	if got := Kind(99).String(); got != "kind 99" {
		t.Fatalf("Kind(99) is %q", got)
	}
}

func TestPath(t *testing.T) {
	v := mustParse(t, `{"query":{"bool":{"filter":[],"must":[{"a":1},[0,{"term":{"x.y":"here"}}]]}}}`)
	if got := v.Path(); got != "the top level" {
		t.Fatalf("Path of the root is %q", got)
	}
	at := func(v Value, key string) Value { t.Helper(); m, ok := v.Lookup(key); mustHold(t, ok); return m }
	nth := func(v Value, n int) Value {
		for i, e := range v.Elements() {
			if i == n {
				return e
			}
		}
		return Value{}
	}
	must := at(at(at(v, "query"), "bool"), "must")
	if got := must.Path(); got != "query.bool.must" {
		t.Fatalf("Path is %q", got)
	}
	if got := at(at(nth(nth(must, 1), 1), "term"), "x.y").Path(); got != "query.bool.must[1][1].term.x.y" {
		t.Fatalf("Path is %q", got)
	}
}

func mustHold(t testing.TB, ok bool) {
	t.Helper()
	if !ok {
		t.Fatal("not found")
	}
}

func TestTapeIsReused(t *testing.T) {
	var tape Tape
	many := `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10}`
	for _, src := range []string{many, `[1]`, many, `{"a":[{"b":2}]}`} {
		v, err := Parse(&tape, []byte(src), RequestLimits())
		if err != nil {
			t.Fatal(err)
		}
		if got := string(AppendValue(nil, v)); got != src {
			t.Fatalf("got %s; want %s", got, src)
		}
	}
	v, _ := Parse(&tape, []byte(`[1,2,3]`), RequestLimits())
	if _, err := Parse(&tape, []byte(`[`), RequestLimits()); err == nil {
		t.Fatal("want an error")
	}
	if v.Kind() != Invalid {
		t.Fatal("a value of the former text survives a failed Parse")
	}
}

// TestHalfPairs holds what halves of surrogate pairs are in an answer: values that are
// printed as they were written, that mean nothing and equal nothing.
func TestHalfPairs(t *testing.T) {
	lim := RequestLimits()
	lim.HalfPairs = true
	f := func(src string) {
		t.Helper()
		v, err := Parse(new(Tape), []byte(src), lim)
		if err != nil {
			t.Fatalf("Parse(%s): %v", src, err)
		}
		if end, err := Skip([]byte(src), 0); err != nil || end != len(src) {
			t.Errorf("Skip(%s) = %d, %v; want %d", src, end, err, len(src))
		}
		if got := string(AppendValue(nil, v)); got != src {
			t.Errorf("AppendValue(%s) = %s", src, got)
		}
		s := v.String()
		if text, err := v.Text(); err == nil || utf8.ValidString(s) {
			t.Errorf("%s has the text %q and the meaning %q; want none", src, text, s)
		}
		if strings.Contains(s, "\uFFFD") {
			t.Errorf("%s means %q: U+FFFD is a sign that others can write", src, s)
		}
	}
	f(`"\ud83d"`)
	f(`"\uD83D"`)
	f(`"\ude00"`)
	f(`"\ude00\ud83d"`)
	f(`"\ud83dx\ude00"`)
	f(`"\ud83d\u0041\u00e9"`)
	f(`"\ud83d\ud83d\ude00 \"\/"`)
	f(`"\ud83d\ude00\ud83d"`)
	f(`"é😀\udfffé and some more text behind it, é"`)

	fail := func(src, want string) {
		t.Helper()
		if _, err := Parse(new(Tape), []byte(src), lim); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v; want an error with %q", src, err, want)
		}
		if _, err := Skip([]byte(src), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Skip(%q): %v; want an error with %q", src, err, want)
		}
	}
	fail(`{"\ud83d":1}`, `want surrogates in pairs`)
	fail(`[{"a":{"b\ude00":"\ud83d"}}]`, `want surrogates in pairs`)
	fail(`"\ud83d\u00g0"`, `want four hexadecimal digits`)
	fail(`"\ud83d`, `want a closing '"'`)
	fail(`"\ud83d\`, `want one of`)
	fail(`"\ud83`, `want four hexadecimal digits`)
	fail("\"\\ud83d\xff\"", `unexpected byte 0xff`)
	fail("\"\xff\\ud83d\"", `unexpected byte 0xff`)
	fail("\"\xc3\\ud83d\xa9\"", `unexpected byte 0xc3`) // no sign goes across an escape
	fail("\"\xed\xa0\xbd\"", `unexpected byte 0xed`)
	fail("\"\\ud83d\n\"", `control characters`)

	// A value without halves is printed as ever.
	v, err := Parse(new(Tape), []byte(`["\u0061","\ud83d\ude00"]`), lim)
	if got := string(AppendValue(nil, v)); err != nil || got != `["a","😀"]` {
		t.Errorf("AppendValue = %s, %v", got, err)
	}
}

// TestScanObject holds that a scan finds the members that Parse finds, and refuses
// what is no object or not only one.
func TestScanObject(t *testing.T) {
	f := func(src string, want ...string) {
		t.Helper()
		var got []string
		scan := ScanObject([]byte(src))
		for scan.Next() {
			got = append(got, string(scan.Key)+"="+string(scan.Value))
		}
		if err := scan.Err(); err != nil {
			t.Errorf("%s: %v", src, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", src, diff)
		}
	}
	f(`{}`)
	f(" {\n} ")
	f(`{"a":1}`, `a=1`)
	f(` { "a" : { "b" : [ 1 ] } , "c" : "\ud83d" } `, `a={ "b" : [ 1 ] }`, `c="\ud83d"`)
	f(`{"a":1,"a":2,"\u0061":3}`, `a=1`, `a=2`, `\u0061=3`)

	fail := func(src, want string, seen int) {
		t.Helper()
		scan := ScanObject([]byte(src))
		n := 0
		for scan.Next() {
			n++
		}
		if err := scan.Err(); err == nil || !strings.Contains(err.Error(), want) || n != seen {
			t.Errorf("%s: %v after %d members; want an error with %q after %d", src, err, n, want, seen)
		}
		if scan.Next() {
			t.Errorf("%s: another member behind the error", src)
		}
	}
	fail(``, `want an object`, 0)
	fail(`[]`, `want an object`, 0)
	fail(`"{"`, `want an object`, 0)
	fail(`{`, `want a key`, 0)
	fail(`{"a"}`, `want ':'`, 0)
	fail(`{"a":}`, `want a value`, 0)
	fail(`{"a":1`, `want ',' or '}'`, 0)
	fail(`{"a":1]`, `want ',' or '}'`, 0)
	fail(`{"a":1,}`, `want a key`, 1)
	fail(`{"a":1,"b":2}x`, `want the end`, 1)
	fail(`{"a":1,"\ud83d":2}`, `want surrogates in pairs`, 1)
	fail(`{"a":[1}`, `want ',' or ']'`, 0)
	fail("{\"a\":\"\xff\"}", `want valid UTF-8`, 0)
}
