package gate

import (
	"fmt"
	"strings"
	"testing"

	"guard/indexresolver"
)

// failingRole writes under rules of each kind.
const failingRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["f*"], fls: ["~secret*"], allowed_actions: ["*"]}
    - {index_patterns: ["d*"], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
    - {index_patterns: ["b*"], dls: '{"term":{"dept":"eng"}}', fls: ["~secret*"], allowed_actions: ["*"]}
    - {index_patterns: ["x*"], allowed_actions: ["*"]}
`

func failingWrites() []indexresolver.Index {
	m := []byte(`{"properties":{"age":{"type":"long"},"tocopy":{"type":"keyword","copy_to":["secret","age"]},"secret":{"type":"long"},"dept":{"type":"keyword"},"hue":{"type":"keyword","copy_to":"shade"},"shade":{"type":"alias","path":"secret"}}}`)
	return []indexresolver.Index{{Name: "f", Mapping: m}, {Name: "d", Mapping: m}, {Name: "b", Mapping: m}, {Name: "x", Mapping: m}}
}

// playFailure returns the error of a write that failed so, by itself and as an item of a
// bulk.
func playFailure(t *testing.T, s *Snapshot, index, failure string) (single, item string) {
	t.Helper()
	out := planFor(t, s, "PUT", "/"+index+"/_create/1", `{"age":1}`)
	got, err := out.Forward.Treat.Treat(Answer{Status: 400, Body: []byte(`{"error":` + failure + `,"status":400}`)})
	if err != nil || got.Status != 400 {
		t.Fatalf("%s of %s: %d, %v", failure, index, got.Status, err)
	}
	bulk := linesFor(t, s, "/_bulk")
	if _, err := feed(bulk.Lines, `{"create":{"_index":"`+index+`","_id":"1"}}`+"\n"+`{"age":1}`); err != nil {
		t.Fatal(err)
	}
	const head, tail = `{"took":1,"errors":true,"items":[{"create":{"_index":"f","_id":"1","status":400,"error":`, `}}]}`
	all, err := bulk.Treat.Treat(Answer{Status: 200, Body: []byte(head + failure + tail)})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(got.Body), `{"error":`), `,"status":400}`), strings.TrimSuffix(strings.TrimPrefix(string(all.Body), head), tail)
}

// TestFailedWrites states the law of failed writes under a rule: a reason is told only if its
// form is known and the rule shows each field in it; it says the same of a write by itself
// and of an item of a bulk.
func TestFailedWrites(t *testing.T) {
	s := worldWith(t, failingRole, failingWrites())
	f := func(indices, reason, cause, want, wantCause string) {
		t.Helper()
		error := func(reason, cause string) string {
			one := fmt.Sprintf(`"type":"mapper_parsing_exception","reason":%q`, reason)
			under := ""
			if cause != "" {
				under = fmt.Sprintf(`,"caused_by":{"type":"illegal_argument_exception","reason":%q}`, cause)
			}
			return `{"root_cause":[{` + one + `}],` + one + under + `}`
		}
		for _, index := range strings.Split(indices, ",") {
			single, item := playFailure(t, s, index, error(reason, cause))
			if full := error(want, wantCause); single != full || item != full {
				t.Errorf("%s, %s by %s:\nwrite %s\nitem  %s\nwant  %s", index, reason, cause, single, item, full)
			}
		}
	}
	const untold = untoldFailure
	ofField := func(field string) string {
		return "failed to parse field [" + field + "] of type [long] in document with id '1'. Preview of field's value: 'abc'"
	}
	same := func(indices, reason, cause string) { t.Helper(); f(indices, reason, cause, reason, cause) }
	same("x,f,d,b", ofField("age"), `For input string: "abc"`)
	same("x,d", ofField("secret"), `For input string: "abc"`)
	f("f,b", ofField("secret"), `For input string: "abc"`, untold, "")
	f("f,b", ofField("secret.x"), `For input string: "abc"`, untold, "")
	f("f,b", ofField("shade"), "", untold, "")
	f("f,b", "[1:9] "+ofField("secret"), "", untold, "")
	f("f,b", "failed to parse field [secret] of type [constant_keyword]", "", untold, "")
	f("f,b", "object mapping for [secret.a] tried to parse field [b] as object, but found a concrete value", "", untold, "")
	f("f,b", "mapping set to strict, dynamic introduction of [secret_new] within [_doc] is not allowed", "", untold, "")
	f("f,b", "mapper [secret] cannot be changed from type [long] to [text]", "", untold, "")
	f("f,b", "Limit of total fields [6] has been exceeded", "", untold, "")
	same("x,d", "Limit of total fields [6] has been exceeded", "")

	// The value that a constant field has came with some document, maybe a hidden one.
	const constant = "constant keyword field [tenant] must have a value of [SECRET-7]"
	same("x", ofField("age"), constant)
	f("f,d,b", ofField("age"), constant, ofField("age"), "")
	f("f,d,b", constant, "", untold, "")
	f("f,d,b", "failed to parse", constant, "failed to parse", "")
	f("f,d,b", "failed to parse", `For input string: "abc"`, "failed to parse", "") // of which field?
	f("f,d,b", "what no version says: SECRET-7", ofField("age"), untold, "")
	f("f,d,b", ofField("age")+"\n"+constant, "", untold, "")

	for _, form := range []string{
		"failed to parse date field [x y] with format [yyyy]", "Failed to parse value [x] as only [true] or [false] are allowed.", "'x' is not an IP string literal.",
		"Value [9999999999] is out of range for an integer", "empty String", "Text 'x' could not be parsed at index 0",
	} {
		same("x,f,d,b", ofField("age"), form)
		f("f,d,b", form, "", untold, "") // alone it tells of a field that is not named
	}
	for _, form := range []string{
		"mapping set to strict, dynamic introduction of [new] within [_doc] is not allowed", "object mapping for [age] tried to parse field [age] as object, but found a concrete value",
		"mapper [age] cannot be changed from type [long] to [text]", "no such index [f]", "index [f] blocked by: [FORBIDDEN/8/index write (api)];",
	} {
		same("x,f,d,b", form, "")
	}
	const conflict = "[1]: version conflict, document already exists"
	same("x,f", conflict+" (current version [7])", "")
	f("d,b", conflict+" (current version [7])", "", conflict, "")
	same("x,f,d,b", conflict, "")
}

// TestFailedCopies: a write that succeeds tells of copies of its shard that failed.
func TestFailedCopies(t *testing.T) {
	s := worldWith(t, failingRole, failingWrites())
	out := planFor(t, s, "PUT", "/f/_create/1", `{"age":1}`)
	body := `{"_index":"f","_id":"1","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":1,"failures":[{"_index":"f","_shard":0,"reason":{"type":"x","reason":"[secret] of SECRET-7"},"status":"X"}]}}`
	got, err := out.Forward.Treat.Treat(Answer{Status: 201, Body: []byte(body)})
	if want := strings.Replace(body, "[secret] of SECRET-7", untoldFailure, 1); err != nil || string(got.Body) != want {
		t.Errorf("got %s, %v; want %s", got.Body, err, want)
	}
	// What the client lets the cluster leave out of an error changes nothing.
	for cut, want := range map[string]string{
		`{"error":{"caused_by":{"reason":"secret"}}}`: `{"error":{}}`, `{"error":"secret"}`: `{"error":"` + untoldFailure + `"}`,
		`{"error":{"root_cause":[{"reason":"secret"}]}}`: `{"error":{"root_cause":[{"reason":"` + untoldFailure + `"}]}}`,
		`{"error":{"reason":{"secret":1}}}`:              `{"error":{"reason":"` + untoldFailure + `"}}`,
	} {
		if got, err := (&failedWrite{}).Treat(Answer{Status: 400, Body: []byte(cut)}); err != nil || string(got.Body) != want {
			t.Errorf("%s became %s, %v; want %s", cut, got.Body, err, want)
		}
	}
}
