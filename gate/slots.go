package gate

import (
	"fmt"

	"guard/internal/ask"
	"guard/internal/esjson"
)

// slot is one item of an answer that has several.
type slot struct {
	// refused is what stands in the slot of an item that was not forwarded.
	refused []byte
	// treat is applied to the answer of one that was; nil passes it on.
	treat      Treatment
	everyShard bool // of a search: see asksEveryShard
}

// slotted puts an answer with several items together again: what was refused comes
// back at its position, what was forwarded is treated item by item.
type slotted struct {
	key string // of the list in the answer: "responses", "docs", "items"
	// plain is how many items stand in front of slots, of which all are passed on: most
	// bulks have no others.
	plain int
	slots []slot
	// errors, if set, is told that an item of a bulk was refused: its answer says
	// whether any was.
	errors bool
}

var _ Treatment = (*slotted)(nil)

// add notes one more item.
func (s *slotted) add(x slot) {
	if len(s.slots) == 0 && x.refused == nil && x.treat == nil {
		s.plain++
		return
	}
	s.slots = append(s.slots, x)
}

// count returns the number of items.
func (s *slotted) count() int { return s.plain + len(s.slots) }

// active reports whether anything has to be done.
func (s *slotted) active() bool {
	for i := range s.slots {
		if s.slots[i].refused != nil || s.slots[i].treat != nil {
			return true
		}
	}
	return false
}

// allRefused is the answer when nothing was forwarded.
func (s *slotted) allRefused() Answer {
	var w esjson.Writer
	w.BeginObject()
	if s.key != "docs" {
		w.Key("took")
		w.Int(0)
	}
	if s.errors {
		w.Key("errors")
		w.Bool(true)
	}
	w.Key(s.key)
	w.BeginArray()
	for i := range s.slots {
		w.Raw(s.slots[i].refused)
	}
	w.EndArray()
	w.EndObject()
	return Answer{Status: 200, ContentType: jsonType, Body: w.Bytes()}
}

const jsonType = "application/json; charset=UTF-8"

// Treat rebuilds the list. An answer with another number of items than were
// forwarded is not understood.
func (s *slotted) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 {
		return s.wholeError(a)
	}
	found := false
	out, err := rewriteMembers(a, func(w *esjson.Writer, key string, v esjson.Value) error {
		w.Key(key)
		switch {
		case key == s.key:
			found = true
			return s.writeList(w, v)
		case key == "errors" && s.errors:
			before, err := v.Bool()
			w.Bool(before || s.anyRefused())
			return err
		}
		w.Value(v)
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("cannot read the cluster's answer: it has no %q", s.key)
	}
	return out, err
}

// wholeError keeps of an error that is not of one item what may be told of all of them.
func (s *slotted) wholeError(a Answer) (Answer, error) {
	a, err := cleanError(a)
	for i := range s.slots {
		if t, ok := s.slots[i].treat.(teller); ok && err == nil {
			a, err = t.tells().error(a)
		}
	}
	return a, err
}

// rewriteMembers prints an answer that is an object again: member prints each of its
// members, or leaves it out.
func rewriteMembers(a Answer, member func(w *esjson.Writer, key string, v esjson.Value) error) (Answer, error) {
	var tape esjson.Tape
	v, err := parseAnswer(&tape, a)
	if err != nil {
		return Answer{}, err
	}
	if !v.Is(esjson.Object) {
		return Answer{}, fmt.Errorf("cannot read the cluster's answer: it is %s; want an object", v.Kind())
	}
	var w esjson.Writer
	w.Reset(make([]byte, 0, len(a.Body)+512))
	w.BeginObject()
	for key, m := range v.Members() {
		if err := member(&w, key, m); err != nil {
			return Answer{}, err
		}
	}
	w.EndObject()
	a.Body = w.Bytes()
	return a, nil
}

func (s *slotted) anyRefused() bool {
	for i := range s.slots {
		if s.slots[i].refused != nil {
			return true
		}
	}
	return false
}

func (s *slotted) writeList(w *esjson.Writer, list esjson.Value) error {
	var items []esjson.Value
	for _, e := range list.Elements() {
		items = append(items, e)
	}
	w.BeginArray()
	next := min(s.plain, len(items))
	for _, item := range items[:next] {
		w.Value(item)
	}
	for i := range s.slots {
		if s.slots[i].refused != nil {
			w.Raw(s.slots[i].refused)
			continue
		}
		if next == len(items) {
			return fmt.Errorf("cannot read the cluster's answer: it has only %d items", len(items))
		}
		if err := s.writeItem(w, i, items[next]); err != nil {
			return err
		}
		next++
	}
	w.EndArray()
	if next < s.plain || next != len(items) {
		return fmt.Errorf("cannot read the cluster's answer: it has %d items; want %d", len(items), max(next, s.plain))
	}
	return nil
}

// checkNumber returns nil if an answer has one for each item, or is an error and has
// none.
func (s *slotted) checkNumber(a Answer) error {
	want, list := s.count(), []byte(nil)
	scan := esjson.ScanObject(a.Body)
	for scan.Next() {
		if string(scan.Key) != s.key {
			continue
		}
		if list != nil {
			return fmt.Errorf("cannot read the cluster's answer: it has %q twice", s.key)
		}
		list = scan.Value
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("cannot read the cluster's answer: %w", err)
	}
	switch n := countElements(list); {
	case a.Status >= 400 && list != nil:
		return fmt.Errorf("cannot read the cluster's answer: status %d with %q", a.Status, s.key)
	case a.Status < 400 && n != want:
		return fmt.Errorf("cannot read the cluster's answer: it has %d items; want %d", n, want)
	}
	return nil
}

// countElements counts the elements of an array that was scanned; -1 if it is none.
func countElements(array []byte) (n int) {
	if len(array) == 0 || array[0] != '[' {
		return -1
	}
	for i := esjson.SkipSpace(array, 1); i < len(array) && array[i] != ']'; n++ {
		end, err := esjson.Skip(array, i)
		if err != nil {
			return -1 // never: it was scanned
		}
		if i = esjson.SkipSpace(array, end); i < len(array) && array[i] == ',' {
			i = esjson.SkipSpace(array, i+1)
		}
	}
	return n
}

func (s *slotted) writeItem(w *esjson.Writer, i int, item esjson.Value) error {
	if s.slots[i].treat == nil {
		w.Value(item)
		return nil
	}
	code, _, err := itemStatus(item)
	if err != nil {
		return err
	}
	out, err := s.slots[i].treat.Treat(Answer{Status: code, Body: item.Raw()})
	if err != nil {
		return err
	}
	w.Raw(out.Body)
	return nil
}

// itemStatus returns the status of an item of an answer, and whether it is an error: then
// the status is one of an error, whatever the item says, so that nobody takes it for a
// document or a list of hits.
func itemStatus(item esjson.Value) (code int, failed bool, err error) {
	_, failed = item.Lookup("error")
	v, ok := item.Lookup("status")
	switch {
	case !ok && failed:
		return 500, true, nil
	case !ok:
		return 200, false, nil
	}
	n, err := v.Int()
	if failed {
		return ask.StatusOf(int(n)).Code(), true, err
	}
	return int(n), false, err
}

// unwrap takes the only answer out of a multi-search that carried one search.
type unwrap struct{ inner Treatment }

// Treat gives the inner answer, with its own status.
func (u unwrap) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 {
		if t, ok := u.inner.(teller); ok {
			return t.tells().error(a)
		}
		return cleanError(a)
	}
	var tape esjson.Tape
	v, err := parseAnswer(&tape, a)
	if err != nil {
		return Answer{}, err
	}
	list, _ := v.Lookup("responses")
	if list.Len() != 1 {
		return Answer{}, fmt.Errorf("cannot read the cluster's answer: %d responses; want 1", list.Len())
	}
	for _, item := range list.Elements() {
		inner, code, err := withoutStatus(item)
		if err != nil {
			return Answer{}, err
		}
		a.Body, a.Status = inner, code
	}
	if u.inner == nil {
		return a, nil
	}
	return u.inner.Treat(a)
}

// withoutStatus returns a response as a search of its own answers: an error keeps
// its status, an answer has none.
func withoutStatus(item esjson.Value) (body []byte, code int, err error) {
	code, failed, err := itemStatus(item)
	if err != nil {
		return nil, 0, err
	}
	if !failed && code != 200 {
		return nil, 0, fmt.Errorf("cannot read the cluster's answer: status %d of a search without error", code)
	}
	var w esjson.Writer
	w.BeginObject()
	for key, m := range item.Members() {
		switch {
		case key == "status" && !failed:
		case key == "status":
			w.Key(key)
			w.Int(int64(code))
		default:
			w.Key(key)
			w.Value(m)
		}
	}
	w.EndObject()
	return w.Bytes(), code, nil
}
