package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A do sends a request.
type do struct {
	line     int
	call     string
	values   []place           // parts of the path and parameters
	body     *yaml.Node        // nil: none
	headers  map[string]string // the case's own
	ignore   []string          // statuses that are no failure
	catch    string            // how it has to fail; empty: not at all
	warnings []string          // that have to come
}

func parseDo(n *yaml.Node) (step, error) {
	d := do{line: n.Line, headers: map[string]string{}}
	for key, value := range members(n) {
		switch key.Value {
		case "catch":
			d.catch = value.Value
		case "warnings":
			d.warnings = texts(value)
		case "headers":
			for name, v := range members(value) {
				d.headers[name.Value] = v.Value
			}
		case "allowed_warnings", "node_selector":
			// Unlisted warnings fail nothing here, since a node sends some once only;
			// they are compared instead. And there is one node to select.
		default:
			d.call = key.Value // of two, the makers' runner as well takes the last
			d.values, d.body, d.ignore = nil, nil, nil
			d.setValues(value)
		}
	}
	if d.call == "" {
		return nil, errors.New("do has no call")
	}
	return d, nil
}

func (d *do) setValues(n *yaml.Node) {
	for key, value := range members(n) {
		switch key.Value {
		case "body":
			d.body = value
		case "ignore":
			d.ignore = texts(value)
		default:
			d.values = append(d.values, place{key.Value, value})
		}
	}
}

func (d do) run(x *execution) error {
	req, body, err := d.build(x)
	var param *errParam
	if errors.As(err, &param) && d.catch == "param" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.call, err)
	}
	a, err := x.send(req, body, d.headers)
	if err != nil {
		return fmt.Errorf("%s: %w", d.call, err)
	}
	x.remember(a)
	failed := a.Status >= http.StatusBadRequest
	if x.suite.calls[d.call].isHead() {
		// Yes or no is the answer.
		failed = failed && a.Status != http.StatusNotFound
		x.body = a.Status < http.StatusBadRequest
	}
	if slices.Contains(d.ignore, fmt.Sprint(a.Status)) {
		failed = false
	}
	if err := d.judge(a, failed); err != nil {
		return fmt.Errorf("%s: %w", d.call, err)
	}
	return d.warned(a)
}

// build makes the request and its body.
func (d do) build(x *execution) (request, []byte, error) {
	values := map[string]string{}
	for _, v := range d.values {
		value, err := plain(v.value, x.kept)
		if err != nil {
			return request{}, nil, err
		}
		values[v.path] = text(value)
	}
	req, err := x.suite.request(d.call, values, d.body != nil, fmt.Sprintf("%s:%d", x.file, d.line))
	if err != nil || d.body == nil {
		return req, nil, err
	}
	body, err := d.bytes(x.kept)
	return req, body, err
}

// bytes returns the body: an object, or lines of objects and texts.
func (d do) bytes(kept stash) ([]byte, error) {
	if d.body.Kind == yaml.ScalarNode {
		return []byte(strings.TrimRight(text(kept.resolve(d.body.Value)), "\n") + "\n"), nil
	}
	if d.body.Kind != yaml.SequenceNode {
		return appendJSON(nil, d.body, kept)
	}
	var body []byte
	for _, line := range d.body.Content {
		var err error
		if line = target(line); line.Kind == yaml.ScalarNode {
			body = append(body, strings.TrimRight(text(kept.resolve(line.Value)), "\n")...)
		} else if body, err = appendJSON(body, line, kept); err != nil {
			return nil, err
		}
		body = append(body, '\n')
	}
	return body, nil
}

// caught are the statuses behind the words of catch.
var caught = map[string]int{
	"bad_request": http.StatusBadRequest, "unauthorized": http.StatusUnauthorized, "forbidden": http.StatusForbidden,
	"missing": http.StatusNotFound, "request_timeout": http.StatusRequestTimeout, "conflict": http.StatusConflict,
	"unavailable": http.StatusServiceUnavailable,
}

// judge returns an error if the call did not end as the case wants.
func (d do) judge(a *Answer, failed bool) error {
	if d.catch == "" && failed {
		return fmt.Errorf("status %d: %.300s", a.Status, a.Body)
	}
	if d.catch == "" {
		return nil
	}
	if pattern, ok := literal(d.catch); ok {
		if !failed {
			return fmt.Errorf("status %d; want an error that matches %q", a.Status, pattern)
		}
		return matches(pattern, spoken(a.Body))
	}
	want, fixed := caught[d.catch]
	switch {
	case fixed && a.Status != want:
		return fmt.Errorf("status %d; want %d", a.Status, want)
	case d.catch == "request" && !failed:
		return fmt.Errorf("status %d; want an error", a.Status)
	case !fixed && d.catch != "request":
		return fmt.Errorf("status %d; want %q", a.Status, d.catch)
	}
	return nil
}

// spoken returns the error in an answer as the makers' runner has it: a Java map
// printed, so that a pattern may name members as in "type=x, reason=y".
func spoken(body []byte) string {
	v, err := parseJSON(body)
	if err != nil {
		return string(body)
	}
	if answer, ok := v.(map[string]any); ok && answer["error"] != nil {
		v = answer["error"]
	}
	return javaText(v)
}

func javaText(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var list []string
		for _, key := range javaOrder(v) {
			list = append(list, key+"="+javaText(v[key]))
		}
		return "{" + strings.Join(list, ", ") + "}"
	case []any:
		var list []string
		for _, item := range v {
			list = append(list, javaText(item))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case nil:
		return "null"
	default:
		return fmt.Sprint(v)
	}
}

// javaOrder returns the members of an error in the order in which a node writes the first ones.
func javaOrder(m map[string]any) []string {
	keys := sortedKeys(m)
	slices.SortStableFunc(keys, func(a, b string) int {
		first := []string{"type", "root_cause"}
		return slices.Index(first, b) - slices.Index(first, a)
	})
	return keys
}

// warning is the form of a Warning header; the text has its quotes escaped.
var warning = regexp.MustCompile(`^299 \S+ "((?:[^"\\]|\\.)*)"`)

// warned returns an error unless each wanted warning has come.
func (d do) warned(a *Answer) error {
	var have []string
	for _, line := range a.Header.Values("Warning") {
		if m := warning.FindStringSubmatch(line); m != nil {
			line = strings.ReplaceAll(m[1], `\"`, `"`)
		}
		have = append(have, line)
	}
	for _, want := range d.warnings {
		if !slices.Contains(have, want) {
			return fmt.Errorf("%s: warnings are %q; want %q", d.call, have, want)
		}
	}
	return nil
}

// isJSON reports whether an answer is a whole JSON value.
func isJSON(a *Answer) bool {
	return strings.Contains(a.Header.Get("Content-Type"), "json") && len(bytes.TrimSpace(a.Body)) > 0
}
