package esjson

import (
	"bytes"
	"strings"
	"testing"
)

func TestAppendValue(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		if got := string(AppendValue(nil, mustParse(t, src))); got != want {
			t.Fatalf("AppendValue(%s) = %s; want %s", src, got, want)
		}
	}
	f(` { "a" : [ 1 , 2.0 , -0 , 1E+5 ] , "b" : { } , "c" : [ ] } `, `{"a":[1,2.0,-0,1E+5],"b":{},"c":[]}`)
	f(`{"b":1,"a":2}`, `{"b":1,"a":2}`) // order is kept
	f(`"\u0061\/\u00e9\ud83d\ude00"`, `"a/é😀"`)
	f(`"\u0000\u001F\b\f\n\r\t\"\\"`, `"\u0000\u001f\b\f\n\r\t\"\\"`)
	f(`{"\u0071uery":null}`, `{"query":null}`)
	f(`[true,false,null,"<&>"]`, `[true,false,null,"<&>"]`)
	f(`123456789012345678901234567890.10`, `123456789012345678901234567890.10`)
	if got := AppendValue(nil, Value{}); len(got) != 0 {
		t.Fatalf("the zero Value prints %q", got)
	}
}

func TestAppendCanonical(t *testing.T) {
	f := func(want string, srcs ...string) {
		t.Helper()
		for _, src := range srcs {
			if got := string(AppendCanonical(nil, mustParse(t, src))); got != want {
				t.Fatalf("AppendCanonical(%s) = %s; want %s", src, got, want)
			}
		}
	}
	f(`{"a":2,"b":[{"c":1,"d":2}]}`, `{"b":[{"d":2,"c":1}],"a":2}`, ` {"\u0061":2, "b":[ {"c":1,"d":2} ]}`)
	f(`{"Z":1,"a":2,"é":3}`, `{"é":3,"a":2,"Z":1}`)
	f(`[2,1]`, `[2,1]`)     // arrays keep their order
	f(`[1,1.0]`, `[1,1.0]`) // and numbers their lexemes
	f(`"x"`, `"\u0078"`)
	f(`{}`, ` { } `)
}

func TestAppendString(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		if got := string(AppendString([]byte("x:"), s)); got != "x:"+want {
			t.Fatalf("AppendString(%q) = %s; want %s", s, got, want)
		}
	}
	f("", `""`)
	f("abc", `"abc"`)
	f("a\"b\\c/d", `"a\"b\\c/d"`)
	f("\x00\x1f\x7f", "\"\\u0000\\u001f\x7f\"")
	f("é😀\u2028", "\"é😀\u2028\"")
	f("a\xffb\xc3", "\"a\uFFFDb\uFFFD\"") // never an invalid text
	f("\uFFFD", "\"\uFFFD\"")
}

func TestWriter(t *testing.T) {
	var w Writer
	w.BeginObject()
	w.Key("a")
	w.Int(-1)
	w.Key("b\n")
	w.BeginArray()
	w.Text("x")
	w.Bool(true)
	w.Null()
	w.BeginArray()
	w.EndArray()
	w.Value(mustParse(t, `{"v": [1.0]}`))
	w.EndArray()
	w.Key("c")
	w.BeginObject()
	w.EndObject()
	w.Key("d")
	w.Raw([]byte(`{"term":{}}`))
	w.Key("e")
	w.Texts([]string{"y", "z\n"})
	w.Key("f")
	w.Texts(nil)
	w.EndObject()
	const want = `{"a":-1,"b\n":["x",true,null,[],{"v":[1.0]}],"c":{},"d":{"term":{}},"e":["y","z\n"],"f":[]}`
	if got := string(w.Bytes()); got != want {
		t.Fatalf("got %s; want %s", got, want)
	}
	w.Reset([]byte("head\n"))
	w.Text("next")
	if got := string(w.Bytes()); got != "head\n\"next\"" {
		t.Fatalf("got %s", got)
	}
}

// TestWriterDeep holds that containers are closed as they were opened, however many
// are open, and that a Writer is as good as new after Reset.
func TestWriterDeep(t *testing.T) {
	var w Writer
	for _, depth := range []int{fewOpen - 1, fewOpen, fewOpen + 1, 3 * fewOpen, 1, 2 * fewOpen} {
		w.Reset(nil)
		for i := range depth {
			if i%3 == 1 {
				w.BeginArray()
				continue
			}
			w.BeginObject()
			w.Key("k")
		}
		w.Null()
		for i := depth - 1; i >= 0; i-- {
			if i%3 == 1 {
				w.EndArray()
			} else {
				w.EndObject()
			}
			if i > 0 && (i-1)%3 != 1 {
				w.Key("l")
				w.Int(int64(i))
			}
		}
		if got := w.Bytes(); !skipsWhole(got) || bytes.Count(got, []byte("[")) != (depth+1)/3 {
			t.Errorf("%d containers: %s", depth, got)
		}
	}
	w.Reset(nil)
	for range 2 * fewOpen {
		w.BeginArray()
	}
	w.Reset(nil) // in the middle
	w.BeginArray()
	w.EndArray()
	if got := string(w.Bytes()); got != "[]" {
		t.Errorf("after Reset: %s; want []", got)
	}
}

func TestWriterPanics(t *testing.T) {
	f := func(want string, calls ...func(*Writer)) {
		t.Helper()
		defer func() {
			t.Helper()
			if got, _ := recover().(string); !strings.HasPrefix(got, "BUG: ") || !strings.Contains(got, want) {
				t.Fatalf("panics with %q; want BUG and %q", got, want)
			}
		}()
		var w Writer
		for _, call := range calls {
			call(&w)
		}
	}
	key := func(w *Writer) { w.Key("k") }
	done := func(w *Writer) { w.Bytes() }
	f("taken with 0", done)
	f("taken with 1", (*Writer).BeginObject, done)
	f("key", key)
	f("key", (*Writer).BeginArray, key)
	f("key", (*Writer).BeginObject, key, key)
	f("value", (*Writer).BeginObject, (*Writer).Null)
	f("value", (*Writer).Null, (*Writer).Null)
	f("value", (*Writer).BeginObject, (*Writer).EndObject, (*Writer).BeginArray)
	f("closes", (*Writer).EndObject)
	f("closes", (*Writer).BeginArray, (*Writer).EndObject)
	f("closes", (*Writer).BeginObject, (*Writer).EndArray)
	f("closes", (*Writer).BeginObject, key, (*Writer).EndObject)
}

func TestNextLine(t *testing.T) {
	f := func(src, line, rest string, terminated bool) {
		t.Helper()
		l, r, term := NextLine([]byte(src))
		if string(l) != line || string(r) != rest || term != terminated {
			t.Fatalf("NextLine(%q) = %q, %q, %v; want %q, %q, %v", src, l, r, term, line, rest, terminated)
		}
	}
	f("", "", "", false)
	f("a", "a", "", false)
	f("a\r", "a\r", "", false)
	f("a\n", "a", "", true)
	f("a\nb\n", "a", "b\n", true)
	f("a\r\nb", "a", "b", true)
	f("a\r\r\n", "a\r", "", true)
	f("\n\n", "", "\n", true)
	f("\r\n", "", "", true)
	f("a\rb\n", "a\rb", "", true) // a carriage return alone ends nothing
	f("a\u2028b\n", "a\u2028b", "", true)
}

func TestNextLineCannotGrowIntoTheRest(t *testing.T) {
	src := []byte("a\r\nb\n")
	line, _, _ := NextLine(src)
	_ = append(line, 'X')
	if string(src) != "a\r\nb\n" {
		t.Fatalf("appending to a line wrote to the body: %q", src)
	}
}

func TestSkip(t *testing.T) {
	f := func(src string, pos, want int) {
		t.Helper()
		if got, err := Skip([]byte(src), pos); err != nil || got != want {
			t.Fatalf("Skip(%q, %d) = %d, %v; want %d", src, pos, got, err, want)
		}
	}
	f(`{"a":[1,"x"]} ,`, 0, 13)
	f(`{"a":[1,"x"]}`, 5, 12)
	f(`  7,`, 0, 3)
	f(`"a\"b",`, 0, 6)
	f(`[1 2`, 1, 2)
	f(`null]`, 0, 4)
	if _, err := Skip([]byte(`[1,`), 0); err == nil || !strings.Contains(err.Error(), "offset 3; want a value") {
		t.Fatalf("Skip of a cut text: %v", err)
	}
	if end, esc, err := SkipString([]byte(`x"a\u0062"`), 1); end != 10 || !esc || err != nil {
		t.Fatalf("SkipString = %d, %v, %v", end, esc, err)
	}
	if _, _, err := SkipString([]byte(`x`), 0); err == nil || !strings.Contains(err.Error(), "want a key") {
		t.Fatalf("SkipString of no string: %v", err)
	}
	if _, _, err := SkipString([]byte("\"\x01\""), 0); err == nil || !strings.Contains(err.Error(), "control") {
		t.Fatalf("SkipString of a bad string: %v", err)
	}
	if got := string(AppendUnescaped([]byte("k="), []byte(`"a\u0062"`))); got != "k=ab" {
		t.Fatalf("AppendUnescaped = %q", got)
	}
	if got := SkipSpace([]byte(" \n\t\rx"), 0); got != 4 {
		t.Fatalf("SkipSpace = %d", got)
	}
}
