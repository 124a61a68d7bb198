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
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run := recordedMethod(t, file)
			if got, err := run(all, nil, src); err != nil || !bytes.Equal(got, src) {
				t.Fatalf("nothing can be hidden, and it became %s, %v", got, err)
			}
			if got, err := run(none, nil, src); err != nil || !bytes.Equal(canonical(t, got), canonical(t, src)) {
				t.Fatalf("nothing is hidden, and it became %s, %v", got, err)
			}
			for _, a := range []*Answer{excluding, including} {
				got, err := run(a, nil, src)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(got, []byte("SECRET")) {
					t.Fatalf("a hidden value is in %s", got)
				}
				if bytes.Contains(src, []byte(`"_source"`)) && !bytes.Contains(got, []byte(`"name":"anna"`)) {
					t.Fatalf("a visible value is not in %s", got)
				}
			}
		})
	}
}

func recordedMethod(t *testing.T, file string) method {
	t.Helper()
	kind, _, _ := strings.Cut(filepath.Base(file), "-")
	switch kind {
	case "search":
		return (*Answer).AppendSearch
	case "msearch":
		return (*Answer).AppendMultiSearch
	case "get":
		return (*Answer).AppendGet
	case "mget":
		return (*Answer).AppendMultiGet
	}
	t.Fatalf("no filter reads %s", file)
	return nil
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
