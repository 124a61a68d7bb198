package fls

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"guard/internal/esjson"
)

// projection compiles entries as a role has them, separated by spaces.
func projection(t testing.TB, entries string) *Projection {
	t.Helper()
	r, err := Compile(strings.Fields(entries))
	if err != nil {
		t.Fatal(err)
	}
	return r.projection(nil)
}

// appendSource filters the source of a hit alone, without a hit around it.
func (a *Answer) appendSource(dst, src []byte, p *Projection) ([]byte, error) {
	return a.pass(dst, src, func(f *filter, i int) (int, bool, error) {
		f.hit.projection = p
		return f.hitSource(i)
	})
}

// TestNothingEmpty holds that what shows nothing is not there, whether it was emptied here
// or came so: with a client's choice of fields an emptied object would tell in which
// documents something was hidden.
func TestNothingEmpty(t *testing.T) {
	f := func(entries, doc, want string) {
		t.Helper()
		a, p := Answer{}, projection(t, entries)
		for _, src := range []string{doc, want} {
			if got, err := a.appendSource(nil, []byte(src), p); err != nil || string(got) != want {
				t.Fatalf("%s: %s\n got %s, %v\nwant %s", entries, src, got, err, want)
			}
		}
	}
	for _, hidden := range []string{`{"x":1}`, `{}`, `[]`, `[{"x":1},{"x":2}]`, `[[{"x":1}],[]]`} {
		f("~p.x", `{"p":`+hidden+`,"q":1}`, `{"q":1}`)
		f("p.y q", `{"p":`+hidden+`,"q":1}`, `{"q":1}`)
	}
	f("~p.x", `{"p":[{"x":1},{"y":2},3]}`, `{"p":[{"y":2},3]}`)
	f("~p.q.x", `{"p":{"q":{"x":1}}}`, `{}`)
	f("~p.x", `{"p":{"q":{},"r":[]},"s":{},"t":[]}`, `{"p":{"q":{},"r":[]},"s":{},"t":[]}`) // nothing can be hidden there
}

func TestAppendSource(t *testing.T) {
	f := func(entries, doc, want string) {
		t.Helper()
		a, p := Answer{KeepEmpty: true}, projection(t, entries)
		for _, src := range []string{doc, want} { // filtering twice changes nothing
			got, err := a.appendSource([]byte("head "), []byte(src), p)
			if err != nil {
				t.Fatalf("%s: %s: %v", entries, src, err)
			}
			if string(got) != "head "+want {
				t.Fatalf("%s: %s\n got %s\nwant head %s", entries, src, got, want)
			}
		}
	}
	// Exclusions: position and commas.
	f("~a", `{"a":1}`, `{}`)
	f("~a", `{"a":1,"b":2}`, `{"b":2}`)
	f("~b", `{"a":1,"b":2}`, `{"a":1}`)
	f("~b", `{"a":1,"b":2,"c":3}`, `{"a":1,"c":3}`)
	f("~a ~b", `{"a":1,"b":2,"c":3}`, `{"c":3}`)
	f("~b ~c", `{"a":1,"b":2,"c":3}`, `{"a":1}`)
	f("~a ~c", `{"a":1,"b":2,"c":3,"d":4}`, `{"b":2,"d":4}`)
	f("~a", "{ \"a\" : 1 ,\n \"b\" : 1.0 }\n", "{ \"b\" : 1.0 }\n") // what stays keeps its bytes
	f("~a", `{"b":1}`, `{"b":1}`)
	f("~A", `{"a":1}`, `{"a":1}`) // case matters

	// Objects, dots in keys, arrays.
	f("~p", `{"p":{"x":1},"q":1}`, `{"q":1}`)
	f("~p.x", `{"p":{"x":1,"y":2}}`, `{"p":{"y":2}}`)
	f("~p.x", `{"p":{"x":1}}`, `{"p":{}}`)
	f("~p.x", `{"p.x":1,"p.y":2}`, `{"p.y":2}`)
	f("~p", `{"p.x":1,"p":{"y":1},"pq":2}`, `{"pq":2}`)
	f("~p.q.x", `{"p.q":{"x":1,"y":2},"p":{"q.x":3,"q.y":4,"q":[{"x":5}]}}`, `{"p":{"q":[{}],"q.y":4},"p.q":{"y":2}}`)
	f("~p.x", `{"p":[{"x":1,"y":2},{"x":3},4,[{"x":5}],null]}`, `{"p":[{"y":2},{},4,[{}],null]}`)
	f("~p.x", `{"p":[[[{"x":1}]]]}`, `{"p":[[[{}]]]}`)
	f("~*ssn", `{"ssn":1,"a":{"ssn":2,"b":[{"my_ssn":3,"c":4}]}}`, `{"a":{"b":[{"c":4}]}}`)
	f("~s?n", `{"ssn":1,"sn":2}`, `{"sn":2}`)
	f("~/s.*n/", `{"ssn":1,"x":{"san":2},"san":3}`, `{"x":{"san":2}}`)
	f("~a ~b.*", `{"a":1,"b":{"c":1,"d":{"e":2}}}`, `{"b":{}}`)

	// Spellings that must not stand outside a rule.
	f("~ssn", `{"\u0073sn":1,"b":2}`, `{"b":2}`)
	f("~p.x", `{"p":{"\u0078":1},"\u0070.x":2,"p\u002ex":3}`, `{"p":{}}`)
	f("~ssn", `{"ssn.":1,".ssn":2,"ssn..x":3,"..ssn..":4,"":{"ssn":5},".":{"ssn":6},"x":7}`, `{"":{},".":{},"x":7}`)
	f("~ssn", `{"ssn":1,"ssn":2,"b":3,"ssn":4}`, `{"b":3}`)
	f("~a.b", `{"a":{"":{"b":1}}}`, `{"a":{"":{}}}`)

	// The sub-field "keyword" is its field.
	f("~f", `{"f.keyword":1,"f":{"keyword":2},"g":3}`, `{"g":3}`)
	f("f", `{"f":{"keyword":2},"g":3}`, `{"f":{"keyword":2}}`)

	// Inclusions.
	f("a", `{"a":1,"b":2}`, `{"a":1}`)
	f("*", `{"a":1,"b":{"c":2}}`, `{"a":1,"b":{"c":2}}`)
	f("obj", `{"obj":{"x":1},"b":2}`, `{"obj":{"x":1}}`)
	f("b.x", `{"b":{"x":1,"y":2},"c":{}}`, `{"b":{"x":1}}`)
	f("b.x", `{"b":{"y":2}}`, `{"b":{}}`) // the object around an inclusion stays
	f("b.x", `{"b":7,"c":8}`, `{}`)       // a scalar of its name does not
	f("b.x", `{"b":[1,{"x":2},"s"]}`, `{"b":[{"x":2}]}`)
	f("b.x", `{"b":[1,2]}`, `{}`) // nor an array of scalars
	f("b.x", `{"b":[]}`, `{"b":[]}`)
	f("b.x", `{"b.x":1,"b.y":2}`, `{"b.x":1}`)
	f("a.b.c", `{"a":{"b":{"c":1,"d":2},"e":{"c":3}},"a.b":{"c":4},"a.b.c":5}`, `{"a":{"b":{"c":1}},"a.b":{"c":4},"a.b.c":5}`)
	f("/.*_id/", `{"user":{"my_id":1,"name":2},"log":{"text":3},"n":[{"m":4}],"l":[{"x_id":5},{"y":6}]}`, `{"l":[{"x_id":5}],"user":{"my_id":1}}`)
	f("a ~b", `{"a":1,"b":2,"c":3}`, `{"a":1,"c":3}`) // an exclusion switches inclusions off
	f("nothing", `{"a":{"b":[{}]},"c":[],"d":null}`, `{}`)

	// Documents without fields.
	f("~a", `{}`, `{}`)
	f("a", ` { } `, ` { } `)
	f("a", `null`, `null`)
}

func TestZeroProjectionHidesEverything(t *testing.T) {
	got, err := new(Answer).appendSource(nil, []byte(`{"a":1,"b":{"c":2}}`), new(Projection))
	if err != nil || string(got) != `{}` {
		t.Fatalf("got %s, %v", got, err)
	}
	if _, err := new(Answer).appendSource(nil, []byte(`{"a":1}`), nil); err == nil {
		t.Fatal("want an error without a projection")
	}
}

func TestAppendSourceRefuses(t *testing.T) {
	f := func(doc, want string) {
		t.Helper()
		got, err := new(Answer).appendSource(nil, []byte(doc), projection(t, "~a"))
		if err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Fatalf("%.40s: %s, %v; want an error with %q", doc, got, err, want)
		}
		var ae *AnswerError
		if !errors.As(err, &ae) {
			t.Fatalf("%.40s: %T; want an *AnswerError", doc, err)
		}
	}
	f(``, `found no '{' at offset 0`)
	f(`[]`, `found no '{'`)
	f(`"a"`, `found no '{'`)
	f(`{`, `unexpected end of text`)
	f(`{"a":1`, `found no ',' or '}' at offset 6`)
	f(`{"a" 1}`, `found no ':' at offset 5`)
	f(`{"b":1,}`, `unexpected '}'`)
	f(`{"b":[1,]}`, `unexpected ']'`)
	f(`{"b":[1}`, `unexpected '}' at offset 7; want ',' or ']'`)
	f(`{"b":01}`, `want no digit after a leading 0`)
	f(`{"a":{]}`, `unexpected ']'`) // also where it is dropped
	f(`{} {}`, `found data behind the end at offset 3`)
	f("{\"b\":\"\xff\"}", `want valid UTF-8`)
	f(`{"b":`+strings.Repeat(`[`, 5000), `nesting too deep`)
	f(strings.Repeat(`{"b":`, 5000), `nesting too deep`)
	if _, err := new(Answer).appendSource(nil, []byte(strings.Repeat(`{"a.":`, 5000)), projection(t, "~b.c ~/a.*x/")); !errors.Is(err, esjson.ErrTooDeep) {
		t.Fatalf("got %v; want %v", err, esjson.ErrTooDeep)
	}
}

func TestProjectionMemo(t *testing.T) {
	calls := 0
	p := newProjection(nil, []sourcePattern{{Match: func(s string) bool { calls++; return s == "ssn" }}}, nil)
	for range 100 {
		if p.Judge([]byte("ssn")) != Drop || p.Judge([]byte("name")) != Inner {
			t.Fatal("wrong verdict")
		}
	}
	if calls > 20 {
		t.Fatalf("entries were asked %d times for two paths", calls)
	}
	for i := range 2 * maxMemo { // a document with random keys
		p.Judge(strconv.AppendInt([]byte("key"), int64(i), 10))
	}
	p.Judge(bytes.Repeat([]byte("k"), maxPath))
	p.source.mu.Lock()
	defer p.source.mu.Unlock()
	if n := len(*p.source.read.Load()) + len(p.source.fresh); n > maxMemo {
		t.Fatalf("the memo holds %d verdicts; want at most %d", n, maxMemo)
	}
	if p.Judge([]byte("ssn")) != Drop {
		t.Fatal("wrong verdict behind a full memo")
	}
}

// TestHostileDocument: keys are chosen by whoever wrote the document; judging them
// must not cost more than the document is long.
func TestHostileDocument(t *testing.T) {
	p := projection(t, "~/(a|b)*c.*x/ ~*secret*y")
	deep := strings.Repeat(`{"aaaa":`, 1000) + `1` + strings.Repeat(`}`, 1000)
	dotted := `{"` + strings.Repeat("a.", 99) + `":1,"` + strings.Repeat("a.", maxAbove+1) + `":2,"` + strings.Repeat("k", maxPath+1) + `":3}`
	got, err := (&Answer{KeepEmpty: true}).appendSource(nil, []byte(dotted), p)
	if err != nil || string(got) != `{"`+strings.Repeat("a.", 99)+`":1}` {
		t.Fatalf("got %s, %v", got, err)
	}
	got, err = (&Answer{KeepEmpty: true}).appendSource(nil, []byte(deep), p)
	if err != nil || strings.Contains(string(got), "1") || strings.Count(string(got), "aaaa") != maxAbove+1 {
		t.Fatalf("got %s, %v", got, err)
	}
}

func TestJudgeName(t *testing.T) {
	p := newProjection(nil, projection(t, "~ssn").excludes, func(name string) bool { return name != "ssn_alias" })
	f := func(name string, want Verdict) {
		t.Helper()
		for range 2 { // found, then remembered
			if got := p.JudgeName([]byte(name)); got != want {
				t.Fatalf("JudgeName(%q) = %v; want %v", name, got, want)
			}
		}
	}
	f("ssn", Drop)
	f("ssn.txt", Drop)
	f("ssn_alias", Drop)
	f("name", Keep)
	f("_routing", Keep)
	f("_unknown_meta", Keep) // not hidden by any entry
	if got := new(Projection).JudgeName([]byte("name")); got != Drop {
		t.Fatalf("the zero Projection shows a name: %v", got)
	}
	if got := new(Projection).JudgeName([]byte("_id")); got != Keep {
		t.Fatalf("metadata is hidden: %v", got)
	}
}
