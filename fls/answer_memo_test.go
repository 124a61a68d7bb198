package fls

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestGuessesAreOfOneParent: a path that is reached by two spellings must not lend
// the order of keys of the one to the other.
func TestGuessesAreOfOneParent(t *testing.T) {
	p := projection(t, "~a.d ~x.y")
	f := func(doc, want string) {
		t.Helper()
		got, err := (&Answer{KeepEmpty: true}).appendSource(nil, []byte(doc), p)
		if err != nil || string(got) != want {
			t.Fatalf("%s became %s, %v; want %s", doc, got, err, want)
		}
	}
	for range 3 {
		f(`{"a":{"b.c":1,"d":2}}`, `{"a":{"b.c":1}}`)
		f(`{"a.b":{"c":1,"d":2}}`, `{"a.b":{"c":1,"d":2}}`)
		f(`{"a":{"b":{"c":1,"d":2},"d":3}}`, `{"a":{"b":{"c":1,"d":2}}}`)
		f(`{"x":[{"y":1,"z":2},{"z":3,"y":4}],"y":5}`, `{"x":[{"z":2},{"z":3}],"y":5}`)
		f(`{"":{"x":{"y":1}},"x":{"":{"y":2}}}`, `{"":{"x":{}},"x":{"":{}}}`)
	}
}

// TestMemoIsShared: many passes over documents of differing keys at once.
func TestMemoIsShared(t *testing.T) {
	p := projection(t, "~ssn ~*.ssn")
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 300 {
				a, b := (g*7+i)%40, 40+(g+i*3)%40
				doc := fmt.Sprintf(`{"k%d":{"ssn":1,"v":[{"ssn":2,"w%d":3}]},"ssn":4,"k%d":5}`, a, b, b)
				want := []string{fmt.Sprintf(`"k%d":{"v":[{"w%d":3}]}`, a, b), fmt.Sprintf(`"k%d":5`, b)}
				slices.Sort(want)
				got, err := (&Answer{KeepEmpty: true}).appendSource(nil, []byte(doc), p)
				if err != nil || string(got) != "{"+strings.Join(want, ",")+"}" {
					t.Errorf("%s became %s, %v; want %s", doc, got, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestMemoPromotes: a path that comes late is soon found without the lock.
func TestMemoPromotes(t *testing.T) {
	p := projection(t, "~ssn")
	for i := range 1000 {
		p.Judge(fmt.Appendf(nil, "k%d", i))
	}
	late := []byte("late")
	for range 300 {
		p.Judge(late)
	}
	if (*p.source.read.Load())["late"] == nil {
		t.Fatal("a path that is asked for again and again stays behind the lock")
	}
}

// TestUnkeptNodesAreNotRemembered: a document of keys beyond the bounds leaves
// nothing behind.
func TestUnkeptNodesAreNotRemembered(t *testing.T) {
	p := projection(t, "~ssn")
	long := strings.Repeat("k", maxMemoPath+1)
	for range 2 {
		if _, err := (&Answer{KeepEmpty: true}).appendSource(nil, []byte(`{"`+long+`1":1,"`+long+`2":{"a":1},"b":2}`), p); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.source.root.first.Load(); n != nil {
		t.Fatalf("the first key is remembered as %.20q", n.lexeme)
	}
	if n := p.source.lookup([]byte("b")); n == nil || n.next.Load() != nil {
		t.Fatal("a short key is not kept, or has a successor")
	}
}
