package esjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var seeds = []string{
	`{"query":{"bool":{"must":[{"term":{"a.b":"c"}}],"filter":{"range":{"n":{"gte":-1.5e3}}}}},"size":10}`,
	`{"a":1,"\u0061":2}`, `{"a":{"b":[[],{},"",0,null,true,false]}}`, `"\ud83d\ude00é\n"`, `"\ud800"`,
	"\"\xff\"", ` [1 , 2] `, `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":0}`, `[01]`, `1e400`, `{"a":["\ud83d","\ude00\ud83d\ude00\ud83dx"]}`, `{"\ud83d":1}`, "\"é\\ud83d\xff\"", `{}{}`, "\ufeff1",
	`"abcdefghijklmnopqrstuvwxyz\\\"0123456789"`, `{"":""}`, strings.Repeat("[", 300),
}

// FuzzParse holds the laws of the package, with encoding/json as the oracle.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		kept := bytes.Clone(src)
		v, err := Parse(new(Tape), src, RequestLimits())
		if !bytes.Equal(kept, src) {
			t.Fatal("Parse changed its input")
		}
		checkHalfPairs(t, src, err)
		if err != nil {
			checkRefusal(t, src, err)
			return
		}
		// Accepted: the oracle accepts it, and reads the same.
		want := oracle(t, src)
		if diff := cmp.Diff(want, toAny(v)); diff != "" {
			t.Fatalf("%q is read otherwise than by encoding/json (-want +got):\n%s", src, diff)
		}
		// Print and parse again: the same meaning, and a stable print.
		out := AppendValue(nil, v)
		again, err := Parse(new(Tape), out, RequestLimits())
		if err != nil {
			t.Fatalf("%q printed as %q, which does not parse: %v", src, out, err)
		}
		if diff := cmp.Diff(want, toAny(again)); diff != "" {
			t.Fatalf("%q printed as %q means something else:\n%s", src, out, diff)
		}
		if twice := AppendValue(nil, again); !bytes.Equal(out, twice) {
			t.Fatalf("print is not stable: %q, then %q", out, twice)
		}
		// The canonical form keeps the meaning and is its own canonical form.
		canon := AppendCanonical(nil, v)
		cv, err := Parse(new(Tape), canon, RequestLimits())
		if err != nil || cmp.Diff(want, toAny(cv)) != "" || !bytes.Equal(canon, AppendCanonical(nil, cv)) {
			t.Fatalf("canonical form %q of %q: %v", canon, src, err)
		}
	})
}

// checkHalfPairs: with halves of surrogate pairs Parse accepts what it accepts without,
// and beyond that what is refused for such a half alone, in a value. They are printed
// as they were written, and Skip accepts the same.
func checkHalfPairs(t *testing.T, src []byte, strict error) {
	t.Helper()
	lim := RequestLimits()
	lim.HalfPairs = true
	v, err := Parse(new(Tape), src, lim)
	if end, skipErr := Skip(src, 0); err == nil && (skipErr != nil || skipSpace(src, end) != len(src)) {
		t.Fatalf("Parse accepts %q with halves, and Skip does not: %v", src, skipErr)
	} else if err != nil && !isDuplicate(err) && skipErr == nil && skipSpace(src, end) == len(src) && !errors.Is(err, ErrTooDeep) {
		t.Fatalf("Skip accepts %q, which Parse refuses: %v", src, err)
	}
	if err != nil {
		if strict == nil {
			t.Fatalf("%q is accepted without halves only: %v", src, err)
		}
		return
	}
	if v.Is(Object) {
		checkObjectScan(t, src, v)
	}
	if strict != nil && !strings.Contains(strict.Error(), wantSurrogate) {
		t.Fatalf("%q is accepted with halves, and refused without for %v", src, strict)
	}
	out := AppendValue(nil, v)
	again, err := Parse(new(Tape), out, lim)
	if err != nil || !bytes.Equal(AppendValue(nil, again), out) {
		t.Fatalf("%q printed as %q, which is not stable: %v", src, out, err)
	}
	if got, want := oracle(t, out), oracle(t, src); cmp.Diff(want, got) != "" {
		t.Fatalf("%q printed as %q means something else", src, out)
	}
	checkText(t, v, strict == nil)
}

// checkObjectScan: a scan finds the members that Parse finds.
func checkObjectScan(t *testing.T, src []byte, v Value) {
	t.Helper()
	scan := ScanObject(src)
	for k, m := range v.Pairs() {
		if raw := k.Raw(); !scan.Next() || !bytes.Equal(scan.Key, raw[1:len(raw)-1]) || !bytes.Equal(scan.Value, m.Raw()) {
			t.Fatalf("%q: the scan finds %q: %q, and Parse %s: %s", src, scan.Key, scan.Value, raw, m.Raw())
		}
	}
	if scan.Next() || scan.Err() != nil {
		t.Fatalf("%q: the scan goes on or fails: %v", src, scan.Err())
	}
}

// checkText: a string with a half means nothing, and is no UTF-8; all is one without.
func checkText(t *testing.T, v Value, whole bool) {
	t.Helper()
	if v.Is(String) {
		_, err := v.Text()
		if err == nil != utf8.ValidString(v.String()) || whole && err != nil {
			t.Fatalf("%s: text %v, meaning %q", v.Raw(), err, v.String())
		}
	}
	for k, m := range v.Members() {
		if !utf8.ValidString(k) {
			t.Fatalf("%s: a key %q", v.Raw(), k)
		}
		checkText(t, m, whole)
	}
	for _, e := range v.Elements() {
		checkText(t, e, whole)
	}
}

func isDuplicate(err error) bool { return strings.Contains(err.Error(), "duplicate key") }

// checkRefusal: what the oracle accepts is refused for one of the listed reasons.
func checkRefusal(t *testing.T, src []byte, err error) {
	t.Helper()
	if !json.Valid(src) || errors.Is(err, ErrTooDeep) || isDuplicate(err) {
		return
	}
	if !utf8.Valid(src) && strings.Contains(err.Error(), wantUTF8) || strings.Contains(err.Error(), wantSurrogate) {
		return
	}
	t.Fatalf("%q is refused without need: %v", src, err)
}

func oracle(t *testing.T, src []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	var want any
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("%q is accepted, but not by encoding/json: %v", src, err)
	}
	if dec.More() {
		t.Fatalf("%q has trailing data for encoding/json", src)
	}
	return want
}

// toAny gives v as encoding/json would.
func toAny(v Value) any {
	switch v.Kind() {
	case Object:
		m := map[string]any{}
		for k, e := range v.Members() {
			m[k] = toAny(e)
		}
		return m
	case Array:
		a := []any{}
		for _, e := range v.Elements() {
			a = append(a, toAny(e))
		}
		return a
	case String:
		return v.String()
	case Number:
		return json.Number(v.String())
	case Bool:
		b, _ := v.Bool()
		return b
	default:
		return nil
	}
}

// FuzzDuplicates: a second spelling of any key of any object is refused.
func FuzzDuplicates(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint(3))
	}
	f.Fuzz(func(t *testing.T, src []byte, pick uint) {
		v, err := Parse(new(Tape), src, RequestLimits())
		if err != nil {
			return
		}
		var keys []Value
		var collect func(Value)
		collect = func(v Value) {
			for k, m := range v.Pairs() {
				keys = append(keys, k)
				collect(m)
			}
			for _, e := range v.Elements() {
				collect(e)
			}
		}
		collect(v)
		if len(keys) == 0 {
			return
		}
		k := keys[pick%uint(len(keys))]
		// The same key once more, in front, spelled in escapes alone.
		twice := string(src[:k.Offset()]) + spellOut(k.String()) + `:0,` + string(src[k.Offset():])
		if _, err := Parse(new(Tape), []byte(twice), RequestLimits()); err == nil || !isDuplicate(err) {
			t.Fatalf("%q: %v; want a duplicate key", twice, err)
		}
	})
}

func spellOut(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		units := []rune{r}
		if r > 0xffff {
			units = []rune{0xd800 + (r-0x10000)>>10, 0xdc00 + (r-0x10000)&0x3ff}
		}
		for _, u := range units {
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(hexDigits[u>>shift&15])
			}
		}
	}
	return b.String() + `"`
}

// FuzzAppendString: what is written is read back, and needs no other escape.
func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00é😀\xff")
	f.Fuzz(func(t *testing.T, s string) {
		out := AppendString(nil, s)
		var got string
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%q is written as %q: %v", s, out, err)
		}
		v, err := Parse(new(Tape), out, RequestLimits())
		if err != nil || v.String() != got || utf8.ValidString(s) && got != s {
			t.Fatalf("%q is written as %q and read as %q, %v", s, out, got, err)
		}
	})
}

// FuzzNextLine: the lines and what was cut off between them are the body.
func FuzzNextLine(f *testing.F) {
	f.Add([]byte("a\r\n\nb\n{}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var got []byte
		for rest := body; len(rest) > 0; {
			line, tail, terminated := NextLine(rest)
			if bytes.IndexByte(line, '\n') >= 0 || terminated == (tail == nil) {
				t.Fatalf("NextLine(%q) = %q, %q, %v", rest, line, tail, terminated)
			}
			got = append(got, rest[:len(rest)-len(tail)]...)
			rest = tail
		}
		if !bytes.Equal(got, body) {
			t.Fatalf("lines of %q add up to %q", body, got)
		}
	})
}
