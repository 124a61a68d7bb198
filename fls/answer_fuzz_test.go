package fls

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/esjson"
)

// leaf is a scalar of a document with the path it stands at.
type leaf struct{ Path, Raw string }

// leaves lists the scalars of v. It is the naive road: no cutting, no memo.
func leaves(v esjson.Value, out []leaf) []leaf { return leavesAt(v, "", true, out) }

func leavesAt(v esjson.Value, path string, root bool, out []leaf) []leaf {
	switch v.Kind() {
	case esjson.Object:
		for k, m := range v.Members() {
			p := k
			if !root {
				p = path + "." + k
			}
			out = leavesAt(m, p, false, out)
		}
	case esjson.Array:
		for _, e := range v.Elements() {
			out = leavesAt(e, path, root, out)
		}
	default:
		out = append(out, leaf{path, string(v.Raw())})
	}
	return out
}

func sortedLeaves(list []leaf) []leaf {
	slices.SortFunc(list, func(a, b leaf) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return strings.Compare(a.Raw, b.Raw)
	})
	return list
}

// members writes the object v without blanks between its members, or in reverse.
func members(v esjson.Value, reverse bool) []byte {
	var list [][]byte
	for k, m := range v.Pairs() {
		list = append(list, append(append(bytes.Clone(k.Raw()), ':'), m.Raw()...))
	}
	if reverse {
		slices.Reverse(list)
	}
	return append(append([]byte{'{'}, bytes.Join(list, []byte{','})...), '}')
}

// naiveShows decides by the entries alone, for a full path.
func naiveShows(r Rules, path string) bool {
	if len(path) > maxPath || strings.Count(path, ".") > maxAbove {
		return false
	}
	var segments []string
	for _, s := range strings.Split(path, ".") {
		if s != "" {
			segments = append(segments, s)
		}
	}
	paths := []string{strings.Join(segments, ".")}
	for i := range segments {
		paths = append(paths, strings.Join(segments[:i+1], "."))
	}
	for i := range path {
		if path[i] == '.' {
			paths = append(paths, path[:i])
		}
	}
	paths = append(paths, path)
	list, want := r.includes, true
	if r.excluding() {
		list, want = r.excludes, false
	}
	for _, p := range paths {
		// A path with empty segments is tried only against exclusions as it is written.
		if want && (strings.Contains(p, "..") || strings.HasPrefix(p, ".") || strings.HasSuffix(p, ".") || p == "") {
			continue
		}
		if list.Match(strings.TrimSuffix(p, ".keyword")) || !want && list.Match(p) {
			return want
		}
	}
	return !want
}

// FuzzAppendSource holds the laws of the filter on documents.
func FuzzAppendSource(f *testing.F) {
	for _, doc := range []string{
		`{"a":1,"b":{"c":[1,{"d":2}],"e.f":"x"},"":{"g":null},"h.":[[],{}]}`,
		`{ "ssn" : "1" , "p" : { "ssn" : [ 1.0 , "\u0061" ] , "q" : { } } }`,
		`{"a":"\ud83d","b":["\ude00",{"c":"x\ud83d"}],"c":"\ud83d\ude00"}`,
		`{"\u0061":{"b":1},"a.b":2,"a":[{"b":3},{"c":4}],"f":{"keyword":1}}`,
	} {
		for _, entries := range []string{"~a", "~a.b ~p.*", "a b.c", "*b", "~/.*n/", "/[ab].*/ p", "*", "~*", "?", "f"} {
			f.Add(doc, entries)
		}
	}
	f.Fuzz(func(t *testing.T, doc, entries string) {
		r, err := Compile(strings.Fields(entries))
		if err != nil {
			return
		}
		a, p := &Answer{KeepEmpty: true}, r.projection(nil)
		got, err := a.appendSource(nil, []byte(doc), p)
		if !isAnswer([]byte(doc)) {
			if err == nil {
				t.Fatalf("%q is no JSON and became %q", doc, got)
			}
			return
		}
		v, parseErr := esjson.Parse(new(esjson.Tape), []byte(doc), answerLimits())
		if parseErr != nil || !v.Is(esjson.Object) {
			return // duplicate keys: the laws below compare parsed texts
		}
		if err != nil {
			t.Fatalf("%s: %q: %v", entries, doc, err)
		}
		out, err := esjson.Parse(new(esjson.Tape), got, answerLimits())
		if err != nil {
			t.Fatalf("%s: %q became %q: %v", entries, doc, got, err)
		}
		// Exactly the scalars that the entries show are left, with their bytes.
		want := slices.DeleteFunc(leaves(v, []leaf{}), func(l leaf) bool { return !naiveShows(r, l.Path) })
		if diff := cmp.Diff(sortedLeaves(want), sortedLeaves(leaves(out, []leaf{}))); diff != "" {
			t.Fatalf("%s: %q became %q (-want +got):\n%s", entries, doc, got, diff)
		}
		// The order of the members tells nothing.
		straight, err := a.appendSource(nil, members(v, false), p)
		turned, turnedErr := a.appendSource(nil, members(v, true), p)
		if err != nil || turnedErr != nil || !bytes.Equal(straight, turned) {
			t.Fatalf("%s: %q became %q, %v, and with its members in reverse %q, %v", entries, doc, straight, err, turned, turnedErr)
		}
		// What was hidden leaves no trace.
		sparse := Answer{}
		from, err := sparse.appendSource(nil, []byte(doc), p)
		without, withoutErr := sparse.appendSource(nil, got, p)
		if err != nil || withoutErr != nil || !bytes.Equal(from, without) {
			t.Fatalf("%s: %q became %q, %v, and without what is hidden %q, %v", entries, doc, from, err, without, withoutErr)
		}
		again, err := a.appendSource(nil, got, p)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%s: %q became %q, and that %q, %v", entries, doc, got, again, err)
		}
	})
}

// FuzzAppendSearch: whatever the answer looks like, the result is valid JSON, is
// its own result, and has no member called "ssn" unless it is no field of hr.
func FuzzAppendSearch(f *testing.F) {
	f.Add([]byte(`{"took":1,"hits":{"total":{"value":1},"hits":[{"_index":"hr","_id":"1","_source":{"ssn":1,"a":[{"ssn":2}]},"fields":{"ssn":[1]},"inner_hits":{"x":{"hits":{"hits":[{"_index":"hr","_nested":{"field":"dependents","offset":0},"_source":{"ssn":3}}]}}}}]}}`))
	f.Add([]byte(`{"aggregations":{"a":{"buckets":[{"hits":{"hits":{"hits":[{"_index":"hr","_source":{"p":{"ssn":1}}}]}}}]}},"suggest":{"s":[{"options":[{"text":"x","_index":"hr","_source":{"ssn":1}}]}]}}`))
	f.Add([]byte(`{"hits":{"hits":[{"_index":"hr","highlight":{"ssn":["x"]},"_ignored":["ssn","b"],"sort":[1]}]}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		p := projection(t, "~*ssn")
		a := &Answer{KeepEmpty: true, Visible: func(index []byte) *Projection {
			if string(index) == "hr" {
				return p
			}
			return nil
		}}
		kept := bytes.Clone(src)
		got, err := a.AppendSearch(nil, src)
		shared, _, sharedErr := a.Search(src)
		if !bytes.Equal(kept, src) {
			t.Fatal("the answer was changed in place")
		}
		if !bytes.Equal(shared, got) || (sharedErr == nil) != (err == nil) {
			t.Fatalf("%q became %q, %v, and without a copy %q, %v", src, got, err, shared, sharedErr)
		}
		if err != nil {
			return
		}
		if !isAnswer(got) {
			t.Fatalf("%q became %q, which is no JSON", src, got)
		}
		again, err := a.AppendSearch(nil, got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q became %q, and that %q, %v", src, got, again, err)
		}
		if !bytes.Contains(src, []byte(`ssn`)) && !bytes.Contains(src, []byte(`\`)) && !bytes.Equal(src, got) {
			t.Fatalf("nothing is hidden in %q, and it became %q", src, got)
		}
		v, err := esjson.Parse(new(esjson.Tape), got, answerLimits())
		if err != nil {
			return
		}
		hits, _ := v.Lookup("hits")
		list, _ := hits.Lookup("hits")
		for _, hit := range list.Elements() {
			for _, part := range []string{"_source", "fields", "highlight"} {
				m, _ := hit.Lookup(part)
				for _, l := range leaves(m, nil) {
					if strings.HasSuffix(l.Path, "ssn") {
						t.Fatalf("%q became %q, which shows %s of %s", src, got, l.Path, part)
					}
				}
			}
		}
	})
}
