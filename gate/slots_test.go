package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"guard/internal/ask"
	"guard/internal/esjson"
)

// swap is a treatment that replaces an item, or fails.
type swap struct {
	body string
	err  error
}

func (s swap) Treat(a Answer) (Answer, error) {
	if s.err != nil {
		return Answer{}, s.err
	}
	a.Body = []byte(fmt.Sprintf(s.body, a.Status))
	return a, nil
}

func keep() slot                 { return slot{} }
func refuse(s string) slot       { return slot{refused: []byte(s)} }
func treated(as string) slot     { return slot{treat: swap{body: as}} }
func failing(err error) slot     { return slot{treat: swap{err: err}} }
func list(slots ...slot) slotted { return slotted{key: "items", slots: slots} }

// TestSlotted holds that refused items come back at their positions and that nothing
// else moves.
func TestSlotted(t *testing.T) {
	f := func(s slotted, body, want string) {
		t.Helper()
		got, err := s.Treat(Answer{Status: 200, Body: []byte(body)})
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if string(got.Body) != want {
			t.Errorf("%s became %s; want %s", body, got.Body, want)
		}
	}
	f(list(keep(), keep()), `{"took":3,"items":[1,2]}`, `{"took":3,"items":[1,2]}`)
	f(list(refuse(`"r"`), keep()), `{"items":[1]}`, `{"items":["r",1]}`)
	f(list(keep(), refuse(`"r"`)), `{"items":[1]}`, `{"items":[1,"r"]}`)
	f(list(keep(), refuse(`"r"`), keep(), refuse(`"s"`)), `{"items":[1,2]}`, `{"items":[1,"r",2,"s"]}`)
	f(list(refuse(`"r"`)), `{"items":[]}`, `{"items":["r"]}`)
	f(list(), `{"items":[]}`, `{"items":[]}`)
	f(slotted{key: "items", plain: 2}, `{"items":[1,2]}`, `{"items":[1,2]}`)
	f(slotted{key: "items", plain: 2, slots: []slot{refuse(`"r"`), keep()}}, `{"items":[1,2,3]}`, `{"items":[1,2,"r",3]}`)
	// What stands around the list stays, in its order, number lexemes too.
	f(list(keep()), `{"took":1e2,"items":[1.50],"x":{"y":[null]}}`, `{"took":1e2,"items":[1.50],"x":{"y":[null]}}`)
	// Treatments get the item with its own status.
	f(list(treated(`%d`), keep()), `{"items":[{"status":404},2]}`, `{"items":[404,2]}`)
	f(list(treated(`%d`)), `{"items":[{}]}`, `{"items":[200]}`)
	// Only a bulk has errors of its own.
	f(list(refuse(`"r"`)), `{"errors":false,"items":[]}`, `{"errors":false,"items":["r"]}`)
}

// TestSlottedErrors holds the flag of a bulk.
func TestSlottedErrors(t *testing.T) {
	f := func(body, want string, slots ...slot) {
		t.Helper()
		s := slotted{key: "items", slots: slots, errors: true}
		got, err := s.Treat(Answer{Status: 200, Body: []byte(body)})
		if err != nil || string(got.Body) != want {
			t.Errorf("%s became %s, %v; want %s", body, got.Body, err, want)
		}
	}
	f(`{"errors":false,"items":[1]}`, `{"errors":true,"items":["r",1]}`, refuse(`"r"`), keep())
	f(`{"errors":true,"items":[1]}`, `{"errors":true,"items":["r",1]}`, refuse(`"r"`), keep())
	f(`{"errors":true,"items":[1]}`, `{"errors":true,"items":[1]}`, keep())
	f(`{"errors":false,"items":[1]}`, `{"errors":false,"items":[1]}`, keep())
}

// TestSlottedRefuses holds that an answer with another number of items, or another
// form, is never put together.
func TestSlottedRefuses(t *testing.T) {
	f := func(s slotted, body, want string) {
		t.Helper()
		s.errors = true
		got, err := s.Treat(Answer{Status: 200, Body: []byte(body)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s became %s, error %v; want one with %q", body, got.Body, err, want)
		}
	}
	f(list(keep(), keep()), `{"items":[1]}`, "only 1 items")
	f(list(keep()), `{"items":[1,2]}`, "2 items; want 1")
	f(list(refuse(`"r"`)), `{"items":[1]}`, "1 items; want 0")
	f(slotted{key: "items", plain: 2}, `{"items":[1]}`, "1 items; want 2")
	f(slotted{key: "items", plain: 2}, `{"items":[1,2,3]}`, "3 items; want 2")
	f(slotted{key: "items", plain: 2, slots: []slot{refuse(`"r"`)}}, `{"items":[1]}`, "1 items; want 2")
	f(slotted{key: "items", plain: 2, slots: []slot{refuse(`"r"`), keep()}}, `{"items":[1,2]}`, "only 2 items")
	f(list(keep()), `{"took":1}`, `no "items"`)
	f(list(keep()), `{"items":{}}`, "only 0 items")
	f(list(keep()), `{"items":[1],"errors":"no"}`, "want a boolean")
	f(list(keep()), `{"items":[1]`, "cannot read the cluster's answer")
	f(list(keep()), `{"items":[1],"items":[2]}`, "cannot read the cluster's answer")
	f(list(keep()), `[1]`, "want an object")
	f(list(failing(fmt.Errorf("not mine"))), `{"items":[1]}`, "not mine")
	f(list(treated(`%d`)), `{"items":[{"status":"200"}]}`, "want a number")
}

// TestSlottedFailedAsAWhole holds that the cluster's refusal of the whole request
// keeps its status and loses its insides.
func TestSlottedFailedAsAWhole(t *testing.T) {
	s := list(refuse(`"r"`), keep())
	got, err := s.Treat(Answer{Status: 429, Body: []byte(`{"error":{"type":"es_rejected_execution_exception","reason":"full","node":"n"},"status":429}`)})
	want := `{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}`
	if err != nil || got.Status != 429 || string(got.Body) != want {
		t.Errorf("got %d %s, %v; want 429 %s", got.Status, got.Body, err, want)
	}
}

// TestAllRefused holds the answer when nothing was forwarded.
func TestAllRefused(t *testing.T) {
	f := func(s slotted, want string) {
		t.Helper()
		if got := s.allRefused(); got.Status != 200 || got.ContentType != jsonType || string(got.Body) != want {
			t.Errorf("got %d %s %s; want 200 %s", got.Status, got.ContentType, got.Body, want)
		}
	}
	f(slotted{key: "items", errors: true, slots: []slot{refuse(`1`), refuse(`2`)}}, `{"took":0,"errors":true,"items":[1,2]}`)
	f(slotted{key: "responses", slots: []slot{refuse(`1`)}}, `{"took":0,"responses":[1]}`)
	f(slotted{key: "docs", slots: []slot{refuse(`1`)}}, `{"docs":[1]}`)
}

// TestUnwrap holds that a search carried by a multi-search answers as a search.
func TestUnwrap(t *testing.T) {
	f := func(inner Treatment, body string, status int, want string) {
		t.Helper()
		got, err := unwrap{inner: inner}.Treat(Answer{Status: 200, ContentType: jsonType, Body: []byte(body)})
		if err != nil || got.Status != status || string(got.Body) != want || got.ContentType != jsonType {
			t.Errorf("%s became %d %s, %v; want %d %s", body, got.Status, got.Body, err, status, want)
		}
	}
	f(nil, `{"took":2,"responses":[{"took":1,"hits":{},"status":200}]}`, 200, `{"took":1,"hits":{}}`)
	f(nil, `{"took":2,"responses":[{"error":{"type":"x"},"status":404}]}`, 404, `{"error":{"type":"x"},"status":404}`)
	f(swap{body: `{"inner":%d}`}, `{"responses":[{"took":1,"status":200}]}`, 200, `{"inner":200}`)
	f(swap{body: `{"inner":%d}`}, `{"responses":[{"error":{},"status":503}]}`, 503, `{"inner":503}`)

	// An error is one, whatever status it claims.
	for _, status := range []string{"200", "302", "399", "600", "0"} {
		f(nil, `{"responses":[{"error":{"type":"x"},"status":`+status+`}]}`, 502, `{"error":{"type":"x"},"status":502}`)
		f(swap{body: `{"inner":%d}`}, `{"responses":[{"error":{},"status":`+status+`}]}`, 502, `{"inner":502}`)
	}

	bad := func(body, want string) {
		t.Helper()
		got, err := unwrap{}.Treat(Answer{Status: 200, Body: []byte(body)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s became %s, error %v; want one with %q", body, got.Body, err, want)
		}
	}
	bad(`{"responses":[]}`, "0 responses; want 1")
	bad(`{"responses":[{},{}]}`, "2 responses; want 1")
	bad(`{}`, "0 responses; want 1")
	bad(`<`, "cannot read the cluster's answer")
	bad(`{"responses":[{"status":"x"}]}`, "want a number")
	bad(`{"responses":[{"hits":{},"status":302}]}`, "status 302 of a search without error")

	got, err := unwrap{inner: swap{err: fmt.Errorf("not asked")}}.Treat(Answer{Status: 503, Body: []byte(`{"error":{"type":"x","node":"n"},"status":503}`)})
	if err != nil || got.Status != 503 || string(got.Body) != `{"error":{"type":"x"},"status":503}` {
		t.Errorf("a carrier that fails: %d %s, %v", got.Status, got.Body, err)
	}
}

// TestRefusedShapes holds how each kind of slot says why it is refused.
func TestRefusedShapes(t *testing.T) {
	gone := &ask.Rejection{Status: 404, Type: "index_not_found_exception", Public: `no such index ["x"]`, Index: &ask.MissingName{Name: `"x"`, As: ask.IndexExpression}}
	f := func(got []byte, want string) {
		t.Helper()
		if string(got) != want {
			t.Errorf("got %s; want %s", got, want)
		}
	}
	at := `"type":"index_not_found_exception","reason":"no such index [\"x\"]","index":"\"x\"","resource.id":"\"x\"","resource.type":"index_expression","index_uuid":"_na_"`
	f(ErrorBody(gone), `{"error":{"root_cause":[{`+at+`}],`+at+`},"status":404}`)
	f(ErrorBody(&ask.Rejection{}), `{"error":{"root_cause":[{"type":"security_exception","reason":"refused"}],"type":"security_exception","reason":"refused"},"status":403}`)
	f(mgetError(&docItem{name: "x", id: "1", refused: &ask.Rejection{Public: "no"}}),
		`{"_index":"x","_id":"1","error":{"root_cause":[{"type":"security_exception","reason":"no"}],"type":"security_exception","reason":"no"}}`)
}

// FuzzSlotted states the law of slots: whatever the cluster answers, the list that
// comes out has one element for each item of the request, in order, the refused ones
// at their positions; or the answer is refused.
func FuzzSlotted(f *testing.F) {
	f.Add(`{"took":1,"items":[1,{"a":2}]}`, uint16(0b0101), uint8(4))
	f.Add(`{"took":1,"items":[1,{"a":2}]}`, uint16(0b0110), uint8(4))
	f.Add(`{"items":[]}`, uint16(0b11), uint8(2))
	f.Add(`{"items":[[],[]],"errors":false}`, uint16(0), uint8(2))
	f.Fuzz(func(t *testing.T, body string, mask uint16, n uint8) {
		s := slotted{key: "items"}
		forwarded := 0
		for i := range int(n % 17) {
			if mask>>(i%16)&1 == 1 {
				s.add(refuse(fmt.Sprintf(`{"refused":%d}`, i)))
			} else {
				s.add(keep())
				forwarded++
			}
		}
		out, err := s.Treat(Answer{Status: 200, Body: []byte(body)})
		if err != nil {
			return
		}
		if !json.Valid(out.Body) {
			t.Fatalf("%s became %s, which is no JSON", body, out.Body)
		}
		checkSlots(t, &s, parsed(t, body), parsed(t, string(out.Body)), forwarded)
	})
}

func checkSlots(t *testing.T, s *slotted, before, after esjson.Value, forwarded int) {
	t.Helper()
	in, _ := before.Lookup(s.key)
	out, _ := after.Lookup(s.key)
	if in.Len() != forwarded || out.Len() != s.count() || before.Len() != after.Len() {
		t.Fatalf("%s with %d forwarded of %d became %s", before.Raw(), forwarded, s.count(), after.Raw())
	}
	var items []string
	for _, e := range in.Elements() {
		items = append(items, string(esjson.AppendValue(nil, e)))
	}
	for i, e := range out.Elements() {
		want := ""
		if i >= s.plain {
			want = string(s.slots[i-s.plain].refused)
		}
		if want == "" {
			want, items = items[0], items[1:]
		}
		if string(e.Raw()) != want {
			t.Fatalf("slot %d is %s; want %s", i, e.Raw(), want)
		}
	}
}

// TestFailedItems holds that an item with an error is treated as one, whatever status it
// claims, and that what the client is told of it is the cluster's fault then.
func TestFailedItems(t *testing.T) {
	f := func(status string, want int) {
		t.Helper()
		s := list(treated(`%d`))
		got, err := s.Treat(Answer{Status: 200, Body: []byte(`{"items":[{"error":{"type":"x"}` + status + `}]}`)})
		if full := fmt.Sprintf(`{"items":[%d]}`, want); err != nil || string(got.Body) != full {
			t.Errorf("item with an error%s: %s, %v; want %s", status, got.Body, err, full)
		}
	}
	f("", 500)
	f(`,"status":404`, 404)
	for _, status := range []int{200, 302, 600, 0} {
		f(fmt.Sprintf(`,"status":%d`, status), 502)
		if code := (&failedCall{answer: Answer{Status: status}}).rejection("x").Status.Code(); code != 502 {
			t.Errorf("an error of the cluster with status %d: told as %d; want 502", status, code)
		}
	}
}
