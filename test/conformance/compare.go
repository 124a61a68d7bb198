package conformance

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A Difference is a fault of guard: what the node itself does not do.
type Difference struct {
	Case    string
	Request string // empty: the outcome of the case
	What    string
}

func (d Difference) String() string { return d.Case + "\n    " + d.Request + "\n    " + d.What }

// Compare returns how a run through guard differs from all runs on the node itself.
// Where these differ among each other, only the form is compared.
func Compare(c *Case, direct []*Run, guard *Run) []Difference {
	var found []Difference
	if what := outcome(direct, guard); what != "" {
		found = append(found, Difference{Case: c.ID(), What: what})
	}
	for i, got := range guard.Answers {
		var want []*Answer
		for _, run := range direct {
			if i < len(run.Answers) { // one that failed earlier has fewer
				want = append(want, run.Answers[i])
			}
		}
		if len(want) == 0 {
			break // the outcome differs
		}
		for _, what := range differences(want, got) {
			found = append(found, Difference{Case: c.ID(), Request: got.Request + " " + got.Sent, What: what})
		}
	}
	return found
}

// outcome returns how a case ended otherwise than it ever did on the node itself.
func outcome(direct []*Run, guard *Run) string {
	same := func(d *Run) bool {
		return d.Failed == guard.Failed && d.Step == guard.Step && len(d.Answers) == len(guard.Answers)
	}
	if slices.ContainsFunc(direct, same) {
		return ""
	}
	return fmt.Sprintf("the case ends at the node with %s, through guard with %s", direct[0].end(), guard.end())
}

// end says how a run ended.
func (r *Run) end() string {
	if !r.Failed {
		return fmt.Sprintf("success after %d answers", len(r.Answers))
	}
	return fmt.Sprintf("a failure in step %d: %s", r.Step, r.Why)
}

// differences returns how an answer differs from all of those wanted.
func differences(want []*Answer, got *Answer) []string {
	var found []string
	report := func(what string, args ...any) { found = append(found, fmt.Sprintf(what, args...)) }
	if !slices.ContainsFunc(want, func(w *Answer) bool { return w.Status == got.Status && w.Reason == got.Reason }) {
		report("status is %s at the node, %s through guard", want[0].Reason, got.Reason)
	}
	v := &variants{report: report}
	var headers []any
	for _, w := range want {
		headers = append(headers, headerValue(w))
	}
	v.compare("header", headers, headerValue(got))
	if !listsTasks(got.Request) {
		v.bodies(want, got)
	}
	return found
}

// listsTasks reports whether an answer lists what the node is doing at this moment. The
// reads by which guard follows the state of the cluster come and go in it, beside the
// runs on the node itself as well.
func listsTasks(request string) bool {
	_, target, _ := strings.Cut(request, " ")
	path, _, _ := strings.Cut(target, "?")
	return path == "/_tasks" || path == "/_cat/tasks"
}

// headerValue returns the headers as a JSON value, what was sent by us made equal.
func headerValue(a *Answer) any {
	object := map[string]any{}
	for name, lines := range a.Header {
		var list []any
		for _, line := range lines {
			list = append(list, strings.ReplaceAll(line, a.ID, sameID))
		}
		object[name] = list
	}
	// Behind HEAD the length is all there is of a body. Elsewhere it follows from the
	// body, which is compared itself: here it counts that there is one.
	if length := object["Content-Length"]; length != nil && !strings.HasPrefix(a.Request, http.MethodHead+" ") {
		object["Content-Length"] = []any{fmt.Sprint("right: ", a.Header.Get("Content-Length") == fmt.Sprint(len(a.Body)))}
	}
	return object
}

// sameID stands for the X-Opaque-Id that was sent. It has the length of one.
const sameID = "conformance-the-same!"

// bodies compares the bodies: byte for byte, unless they differ at the node itself.
func (v *variants) bodies(want []*Answer, got *Answer) {
	text := func(a *Answer) []byte {
		return bytes.ReplaceAll(withoutPublished(withoutThreads(a.Request, withoutMoments(a.Body))), []byte(a.ID), []byte(sameID))
	}
	g := text(got)
	var texts [][]byte
	var parsed []any
	for _, w := range want {
		t := text(w)
		if bytes.Equal(t, g) {
			return
		}
		texts = append(texts, t)
		parsed = append(parsed, bodyValue(w, t))
	}
	before := v.found
	v.compare("body", parsed, bodyValue(got, g))
	steady := !slices.ContainsFunc(texts, func(t []byte) bool { return !bytes.Equal(t, texts[0]) })
	if steady && v.found == before {
		v.note("body: the same value is written otherwise: %.300q at the node, %.300q through guard", texts[0], g)
	}
}

// bodyValue returns a body as a JSON value: JSON parsed, lines of columns for other text.
func bodyValue(a *Answer, body []byte) any {
	if isJSON(a) {
		if v, err := parseJSON(body); err == nil {
			return v
		}
	}
	var lines []any
	for line := range strings.Lines(string(body)) {
		var columns []any
		for column := range strings.FieldsSeq(line) {
			columns = append(columns, column)
		}
		lines = append(lines, columns)
	}
	return lines
}
