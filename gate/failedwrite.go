package gate

import (
	"bytes"
	"regexp"
	"slices"

	"guard/fls"
	"guard/internal/esjson"
)

// failedWrite keeps of failed writes under a rule what their writer may know: reasons of the
// closed list below, in which each field is one that the rule shows. Others print what is
// hidden: the value that a constant field has from other documents, the fields that a copy
// goes to, the version of a hidden document.
type failedWrite struct {
	hides bool        // the document that has the id may be hidden
	views []*fls.View // of the indices that may take the document; none if every field is shown
	blind bool        // nothing is known of the fields
}

// failedWrite returns the treatment for failures of a write to j; nil if no rule binds it.
func (pl *plan) failedWrite(j *judged) Treatment {
	if !j.hides && !j.bound() {
		return nil
	}
	if j.failed == nil {
		j.failed = pl.newFailedWrite(j)
	}
	return j.failed
}

func (pl *plan) newFailedWrite(j *judged) *failedWrite {
	t := &failedWrite{hides: j.hides}
	for _, g := range j.Groups {
		if !g.Rules.HidesFields() && len(g.Rules.Masks) == 0 {
			continue
		}
		for _, index := range g.Indices {
			v, err := pl.s.view(g.Rules, index)
			if err != nil {
				t.blind = true // also of an index that the document makes
				continue
			}
			t.views = append(t.views, v)
		}
	}
	return t
}

// Treat prints what failed anew.
func (t *failedWrite) Treat(a Answer) (Answer, error) {
	if a.Status < 400 && !bytes.Contains(a.Body, []byte(`"error"`)) && !bytes.Contains(a.Body, []byte(`"failures"`)) {
		return a, nil
	}
	var tape esjson.Tape
	v, err := parseAnswer(&tape, a)
	if err != nil {
		return Answer{}, err
	}
	var w esjson.Writer
	w.Reset(make([]byte, 0, len(a.Body)))
	t.write(&w, v)
	a.Body = w.Bytes()
	return a, nil
}

// write prints v with its errors as writeError has them: those of the document, and those
// of copies of the shard, which stand as their reasons.
func (t *failedWrite) write(w *esjson.Writer, v esjson.Value) {
	switch {
	case v.Is(esjson.Object):
		w.BeginObject()
		for key, m := range v.Members() {
			w.Key(key)
			if key == "error" || key == "reason" {
				t.writeError(w, m, false)
			} else {
				t.write(w, m)
			}
		}
		w.EndObject()
	case v.Is(esjson.Array):
		w.BeginArray()
		for _, e := range v.Elements() {
			t.write(w, e)
		}
		w.EndArray()
	default:
		w.Value(v)
	}
}

// untoldFailure stands for reasons that are not kept.
const untoldFailure = "the cluster refused the document"

// writeError prints one error; ofValue tells that the error around it names a field of which
// this one says what is wrong with its value.
func (t *failedWrite) writeError(w *esjson.Writer, v esjson.Value, ofValue bool) {
	if !v.Is(esjson.Object) {
		w.Text(untoldFailure)
		return
	}
	reason, _ := v.Lookup("reason")
	text, kept, ofField := t.kept(reason, ofValue)
	w.BeginObject()
	for key, m := range v.Members() {
		switch {
		case key == "root_cause":
			w.Key(key)
			w.BeginArray()
			for _, e := range m.Elements() {
				t.writeError(w, e, false)
			}
			w.EndArray()
		case key == "caused_by":
			cause, _ := m.Lookup("reason")
			if _, known, _ := t.kept(cause, ofField); kept && known {
				w.Key(key)
				t.writeError(w, m, ofField)
			}
		case key == "reason" && kept && text == reason.String():
			w.Key(key)
			w.Value(m) // as it was written
		case key == "reason":
			w.Key(key)
			w.Text(text)
		case key == "shard" || slices.Contains(plainMembers, key):
			w.Key(key)
			w.Value(m)
		}
	}
	w.EndObject()
}

// failureForms are the reasons that may be kept. Each group is a field, by its full name,
// that has to be shown; in all other places stand words of the cluster, or what the client
// wrote in the document.
var failureForms = []*regexp.Regexp{
	regexp.MustCompile(`(?s)^(?:\[\d+:\d+\] )?failed to parse field \[([^\[\]]+)\] of type \[[^\[\]]*\](?: in document with id '.*')?(?:\. Preview of field's value: '.*')?$`),
	regexp.MustCompile(`^(?:\[\d+:\d+\] )?object mapping for \[([^\[\]]+)\] tried to parse field \[[^\[\]]*\] as object, but (?:found a concrete value|got EOF, has a concrete value been provided to it\?)$`),
	regexp.MustCompile(`^(?:\[\d+:\d+\] )?mapping set to strict, dynamic introduction of \[([^\[\]]+)\] within \[_doc\] is not allowed$`),
	regexp.MustCompile(`^mapper \[([^\[\]]+)\] cannot be changed from type \[[^\[\]]*\] to \[[^\[\]]*\]$`),
	regexp.MustCompile(`^failed to parse$`),
	regexp.MustCompile(`^no such index \[[^\[\]]*\]$`),
	regexp.MustCompile(`^index \[[^\[\]]*\] blocked by: \[[^\[\]]*\];$`),
	versionConflict, fieldLimit,
}

// versionConflict says that an id is taken, and by which version: that counts the changes of
// a document that may be hidden.
var versionConflict = regexp.MustCompile(`(?s)^\[.*\]: version conflict, document already exists( \(current version \[\d+\]\))?$`)

// fieldLimit tells how many fields there are, hidden ones among them.
var fieldLimit = regexp.MustCompile(`^Limit of total fields \[\d+\](?: in index \[[^\[\]]*\])? has been exceeded$`)

// valueForms say what is wrong with a value of a field that the error around them names.
var valueForms = []*regexp.Regexp{
	regexp.MustCompile(`(?s)^For input string: ".*"$`),
	regexp.MustCompile(`^(?:empty String|multiple points)$`),
	regexp.MustCompile(`(?s)^failed to parse date field \[.*\] with format \[[^\[\]]*\]$`),
	regexp.MustCompile(`(?s)^Failed to parse value \[.*\] as only \[true\] or \[false\] are allowed\.$`),
	regexp.MustCompile(`(?s)^'.*' is not an IP string literal\.$`),
	regexp.MustCompile(`(?s)^Value \[.*\] is out of range for an? [a-z]+$`),
	regexp.MustCompile(`(?s)^Text '.*' could not be parsed(?:, unparsed text found)? at index \d+$`),
}

// kept returns what of a reason may be told, and reports whether that is it, and whether it
// names a field.
func (t *failedWrite) kept(reason esjson.Value, ofValue bool) (text string, kept, ofField bool) {
	whole := reason.String()
	if !reason.Is(esjson.String) {
		return untoldFailure, false, false
	}
	for _, form := range failureForms {
		m := form.FindStringSubmatchIndex(whole)
		switch {
		case m == nil:
			continue
		case form == versionConflict && t.hides && m[2] >= 0:
			return whole[:m[2]], true, false
		case form == fieldLimit && (t.blind || len(t.views) > 0):
			return untoldFailure, false, false
		case form == versionConflict, len(m) == 2:
			return whole, true, false
		}
		if t.shows(whole[m[2]:m[3]]) {
			return whole, true, true
		}
		return untoldFailure, false, false
	}
	if ofValue && slices.ContainsFunc(valueForms, func(form *regexp.Regexp) bool { return form.MatchString(whole) }) {
		return whole, true, true
	}
	return untoldFailure, false, false
}

// shows reports whether every index that may take the document shows a field.
func (t *failedWrite) shows(field string) bool {
	return !t.blind && !slices.ContainsFunc(t.views, func(v *fls.View) bool { return !v.Shows(field) })
}
