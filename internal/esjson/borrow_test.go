package esjson

import (
	"strings"
	"sync"
	"testing"
)

// TestBorrowedTape holds that no value outlives the loan of its tape, that strings do,
// and that a tape which grew too big is not kept.
func TestBorrowedTape(t *testing.T) {
	for _, n := range []int{1, 2 * maxPooledTokens} {
		tape := BorrowTape()
		v, err := Parse(tape, []byte(`{"key":["text",`+strings.Repeat("1,", n)+`2]}`), RequestLimits())
		if err != nil {
			t.Fatal(err)
		}
		list, _ := v.Lookup("key")
		var first Value
		for _, e := range list.Elements() {
			first = e
			break
		}
		text := first.String()
		tape.Release()
		for _, old := range []Value{v, list, first} {
			if !old.Is(Invalid) || old.Raw() != nil || old.Len() != 0 || old.String() != "" {
				t.Errorf("a value is %v, %q after its tape was given back", old.Kind(), old.Raw())
			}
		}
		if text != "text" {
			t.Errorf("a string became %q when its tape was given back", text)
		}
		if tape.src != nil || cap(tape.tokens) > maxPooledTokens {
			t.Errorf("a tape of %d tokens still holds its text or its memory", cap(tape.tokens))
		}
	}
}

// TestBorrowedApart holds that tapes on loan at the same time are not the same.
func TestBorrowedApart(t *testing.T) {
	var wg sync.WaitGroup
	for _, text := range []string{`{"a":[1,2,3]}`, `[{"b":"c"},{}]`, `"d"`} {
		wg.Go(func() {
			for range 500 {
				tape := BorrowTape()
				v, err := Parse(tape, []byte(text), RequestLimits())
				if got := string(AppendValue(nil, v)); err != nil || got != text {
					t.Errorf("%s became %s, %v", text, got, err)
				}
				tape.Release()
			}
		})
	}
	wg.Wait()
}
