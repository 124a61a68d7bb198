package esjson

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// rebuilt walks through a whole text and prints what it was told of it.
func rebuilt(s *Stream) (string, error) {
	out, err := walk(s)
	if err != nil {
		return "", err
	}
	return out, s.End()
}

func walk(s *Stream) (string, error) {
	kind, err := s.Peek()
	if err != nil {
		return "", err
	}
	var parts []string
	add := func() error {
		part, err := walk(s)
		parts = append(parts, part)
		return err
	}
	switch kind {
	case Object:
		err = s.Object(func(key string) error {
			err := add()
			parts[len(parts)-1] = string(AppendString(nil, key)) + ":" + parts[len(parts)-1]
			return err
		})
		return "{" + strings.Join(parts, ",") + "}", err
	case Array:
		err = s.Array(add)
		return "[" + strings.Join(parts, ",") + "]", err
	case String:
		text, err := s.Text()
		return string(AppendString(nil, text)), err
	}
	raw, err := s.Raw()
	if err != nil {
		return "", err
	}
	_, err = Parse(new(Tape), raw, RequestLimits())
	return string(raw), err
}

var streamed = []string{
	`{}`, `[]`, ` { "a" : [ 1 , -2.5e3 , true , false , null , "x\n\u00e4\"" , { } ] , "b.c" : { "d" : "" } } `, `7`, `"x"`, `null`, `{"a":"\\"}`, `["\\\"]"]`,
	`{"a":1,"\u0061":2}`, `{"a":1`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{} {}`, ``, `{"a":tru}`, `{"a":01}`, `"`, `"a\`, "\"\x01\"", `{"a":1]`, `{1:2}`, "\"\xff\"",
	`{"\ud83d":1}`, `nulll`, `{"a":[{"b":"}"}]}`, `1"a"`, `true[]`, "\xef\xbb\xbf{}",
}

// checkStream: whatever the pieces are in which a text comes, the walk through it finds what
// Parse finds, or refuses it as Parse does.
func checkStream(t *testing.T, text string) {
	t.Helper()
	want := ""
	v, wantErr := Parse(new(Tape), []byte(text), RequestLimits())
	if wantErr == nil {
		want = string(AppendValue(nil, v))
	}
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(text), "bytes": iotest.OneByteReader(strings.NewReader(text)), "halves": iotest.HalfReader(strings.NewReader(text)),
		"late end": iotest.DataErrReader(strings.NewReader(text)),
	} {
		got, err := rebuilt(NewStream(r, len(text)+1))
		if (err == nil) != (wantErr == nil) || got != want && err == nil {
			t.Errorf("%s of %q: %q, %v; Parse says %q, %v", name, text, got, err, want, wantErr)
		}
	}
}

func TestStreamReadsWhatParseReads(t *testing.T) {
	for _, text := range streamed {
		checkStream(t, text)
	}
	var many []string
	for i := range 3 * listedKeys {
		many = append(many, fmt.Sprintf(`"k%d":{"k%d":%d}`, i, i, i))
	}
	checkStream(t, "{"+strings.Join(many, ",")+"}")
	for _, twice := range []string{`"k0":0`, fmt.Sprintf(`"k%d":0`, listedKeys), fmt.Sprintf(`"k%d":0`, 3*listedKeys-1)} {
		text := "{" + strings.Join(many, ",") + "," + twice + "}"
		checkStream(t, text)
		if _, err := rebuilt(NewStream(strings.NewReader(text), 100)); err == nil || !strings.Contains(err.Error(), "duplicate key") {
			t.Errorf("%s twice: %v", twice, err)
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, text := range streamed {
		f.Add(text)
	}
	f.Fuzz(checkStream)
}

func TestStreamErrors(t *testing.T) {
	f := func(what string, r io.Reader, most int, want error, text string) {
		t.Helper()
		_, err := rebuilt(NewStream(r, most))
		if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v; want %v, %q", what, err, want, text)
		}
	}
	down := errors.New("connection reset")
	f("cut", io.MultiReader(strings.NewReader(`{"a":"x`), iotest.ErrReader(down)), 100, down, "")
	f("cut between", io.MultiReader(strings.NewReader(`{"a":1,`), iotest.ErrReader(down)), 100, down, "")
	f("no end", strings.NewReader(`{"a":"x`), 100, nil, "unexpected end of text at offset 7")
	f("a long string", strings.NewReader(`{"a":"`+strings.Repeat("x", 200)+`"}`), 100, ErrTooLong, "at offset 5 has more than 100 bytes")
	f("deep", strings.NewReader(strings.Repeat("[", 2000)), 100, ErrTooDeep, "")
	f("a fault far in", strings.NewReader("["+strings.Repeat("1,", 500)+"x]"), 100, nil, "unexpected 'x' at offset 1001")
	f("no progress", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(`[1]`))), 100, iotest.ErrTimeout, "")
}

// TestStreamSkipsWhatClustersWrite: halves of surrogate pairs stand in mappings, in keys as well.
func TestStreamSkipsWhatClustersWrite(t *testing.T) {
	s := NewStream(strings.NewReader(`{"odd":{"x\ud83d":"\ud83d"},"bad":{"a":01},"k":1}`), 100)
	var keys []string
	err := s.Object(func(key string) error {
		keys = append(keys, key)
		return s.Skip()
	})
	if err == nil || !strings.Contains(err.Error(), "no JSON value at offset 34") || !slices.Equal(keys, []string{"odd", "bad"}) {
		t.Errorf("%q, %v; want an error for the second", keys, err)
	}
}

// TestStreamHoldsOneValue: what is held does not grow with the text.
func TestStreamHoldsOneValue(t *testing.T) {
	one := `{"a":"` + strings.Repeat("x", 1000) + `"},`
	text := "[" + strings.Repeat(one, 1000) + "{}]"
	s := NewStream(strings.NewReader(text), 1<<20)
	n := 0
	if err := s.Array(func() error {
		n++
		_, err := s.Raw()
		return err
	}); err != nil || n != 1001 {
		t.Fatalf("%d elements, %v", n, err)
	}
	if cap(s.buf) > 2*streamRoom {
		t.Errorf("%d bytes are held for a text of %d with values of %d", cap(s.buf), len(text), len(one))
	}
}
