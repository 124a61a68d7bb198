package fls

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"guard/internal/esjson"
	"guard/internal/mapping"
)

// recordedMapping is the mapping of the index that testdata/answers come from.
const recordedMapping = `{"properties":{"name":{"type":"text","fields":{"keyword":{"type":"keyword"}}},"num":{"type":"long","ignore_malformed":true},
	"flat":{"type":"flat_object"},"sug":{"type":"completion"},"ssn":{"type":"text","fields":{"keyword":{"type":"keyword"}}},
	"dependents":{"type":"nested","properties":{"who":{"type":"keyword"},"ssn":{"type":"keyword"},
		"votes":{"type":"nested","properties":{"n":{"type":"long"},"ssn":{"type":"keyword"}}}}}}}`

// TestRecordedAnswers: what real nodes print is understood as a whole, passes byte
// for byte where nothing is hidden, and shows no hidden value.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/*.json")
	if err != nil || len(files) < 21 {
		t.Fatalf("found %d recorded answers, %v; want 21", len(files), err)
	}
	v, err := esjson.Parse(new(esjson.Tape), []byte(recordedMapping), esjson.RequestLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapping.Parse(v)
	if err != nil {
		t.Fatal(err)
	}
	through := func(entries string) *Answer {
		r, err := Compile(strings.Fields(entries))
		if err != nil {
			t.Fatal(err)
		}
		p := NewView(r, m).Projection()
		return &Answer{KeepEmpty: true, Visible: func(index []byte) *Projection {
			if i := string(index); i == "hr" || i == "none" {
				return p
			}
			return nil
		}}
	}
	all, none := through("*"), through("~nothing")
	excluding, including := through("~num ~flat.a.ssn ~*ssn"), through("name sug dependents.who dependents.votes.n")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, r := range recordedAnswers(t, file) {
				if got, err := r.run(all, nil, r.src); err != nil || !bytes.Equal(got, r.src) {
					t.Fatalf("nothing can be hidden, and it became %s, %v", got, err)
				}
				if got, err := r.run(none, nil, r.src); err != nil || !bytes.Equal(canonical(t, got), canonical(t, r.src)) {
					t.Fatalf("nothing is hidden, and it became %s, %v", got, err)
				}
				for _, a := range []*Answer{excluding, including} {
					got, err := r.run(a, nil, r.src)
					if err != nil {
						t.Fatal(err)
					}
					if bytes.Contains(got, []byte("SECRET")) {
						t.Fatalf("a hidden value is in %s", got)
					}
					if bytes.Contains(r.src, []byte(`"_source"`)) && !bytes.Contains(got, []byte(`"name":"anna"`)) {
						t.Fatalf("a visible value is not in %s", got)
					}
				}
			}
		})
	}
}

// recordedAnswer is an answer, or the slot of one, with what filters it.
type recordedAnswer struct {
	src []byte
	run method
}

// recordedAnswers returns the answer in a file, or those in its slots.
func recordedAnswers(t *testing.T, file string) []recordedAnswer {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	switch kind, _, _ := strings.Cut(filepath.Base(file), "-"); kind {
	case "search":
		return []recordedAnswer{{src, (*Answer).AppendSearch}}
	case "msearch":
		return slots(t, src, "responses", (*Answer).AppendSearch)
	case "get":
		return []recordedAnswer{{src, (*Answer).AppendGet}}
	case "mget":
		return slots(t, src, "docs", (*Answer).AppendGet)
	}
	t.Fatalf("no filter reads %s", file)
	return nil
}

// slots returns the elements of the list under key.
func slots(t *testing.T, src []byte, key string, run method) (list []recordedAnswer) {
	t.Helper()
	v, err := esjson.Parse(new(esjson.Tape), src, esjson.Limits{MaxDepth: 1024, MaxTokens: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	all, _ := v.Lookup(key)
	for _, slot := range all.Elements() {
		list = append(list, recordedAnswer{slot.Raw(), run})
	}
	if len(list) == 0 {
		t.Fatalf("no slot in %s", src)
	}
	return list
}

// canonical is the form that all texts of one meaning share.
func canonical(t *testing.T, text []byte) []byte {
	t.Helper()
	v, err := esjson.Parse(new(esjson.Tape), text, esjson.Limits{MaxDepth: 1024, MaxTokens: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return esjson.AppendCanonical(nil, v)
}
