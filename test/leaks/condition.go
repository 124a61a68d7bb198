package leaks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Condition is something that is true of an answer or not.
type Condition func(*Answer) bool

// refused are the statuses by which a request is refused.
var refused = []int{400, 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 417, 422, 431, 501, 505}

var (
	jsonCondition   = regexp.MustCompile(`^(\$\.[^=!<>]+?)\s*(==|!=|>=|<=|>|<)(.*)$`)
	existsCondition = regexp.MustCompile(`^(\$\.\S+) exists$`)
	statusCondition = regexp.MustCompile(`^status(==|!=)(\S+)$`)
	headerCondition = regexp.MustCompile(`^header:([^~]+)~(.*)$`)
)

// ParseCondition reads the text of a condition. What has no other form is a text
// that the body holds.
func ParseCondition(text string) (Condition, error) {
	if text == "REFUSED" {
		return func(a *Answer) bool { return slices.Contains(refused, a.Status) }, nil
	}
	if m := statusCondition.FindStringSubmatch(text); m != nil {
		return func(a *Answer) bool { return (strconv.Itoa(a.Status) == m[2]) == (m[1] == "==") }, nil
	}
	if pattern, ok := strings.CutPrefix(text, "body~"); ok {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("cannot read the condition %q: %w", text, err)
		}
		return func(a *Answer) bool { return re.Match(a.Body) }, nil
	}
	if m := headerCondition.FindStringSubmatch(text); m != nil {
		re, err := regexp.Compile(m[2])
		if err != nil {
			return nil, fmt.Errorf("cannot read the condition %q: %w", text, err)
		}
		return func(a *Answer) bool { return slices.ContainsFunc(a.Header.Values(m[1]), re.MatchString) }, nil
	}
	if strings.HasPrefix(text, "$.") {
		return parsePath(text)
	}
	if text == "" {
		return nil, fmt.Errorf("a condition is empty")
	}
	return func(a *Answer) bool { return bytes.Contains(a.Body, []byte(text)) }, nil
}

func parsePath(text string) (Condition, error) {
	if m := existsCondition.FindStringSubmatch(text); m != nil {
		if key, ok := strings.CutPrefix(m[1], "$.."); ok {
			return func(a *Answer) bool { return hasKey(a.JSON(), key) }, nil
		}
		return func(a *Answer) bool { return at(a.JSON(), m[1]) != nil }, nil
	}
	m := jsonCondition.FindStringSubmatch(text)
	if m == nil {
		return nil, fmt.Errorf("cannot read the condition %q; want a path with a comparison or exists", text)
	}
	var want any
	if err := decode([]byte(m[3]), &want); err != nil {
		want = m[3]
	}
	return func(a *Answer) bool { return compare(at(a.JSON(), m[1]), m[2], want) }, nil
}

// decode is json.Unmarshal of a whole text, with numbers as they are written.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if d.More() {
		return fmt.Errorf("text after the JSON")
	}
	return nil
}

// compare is false for values that are absent or of different types.
func compare(got any, op string, want any) bool {
	switch want := want.(type) {
	case json.Number:
		n, ok := got.(json.Number)
		if !ok {
			return false
		}
		return ordered(mustFloat(n), op, mustFloat(want))
	case string:
		s, ok := got.(string)
		return ok && ordered(s, op, want)
	case bool:
		b, ok := got.(bool)
		return ok && (b == want) == (op == "==")
	}
	return false
}

// mustFloat reads a number that the decoder has already taken for one.
func mustFloat(n json.Number) float64 {
	f, _ := n.Float64() // too large a number becomes infinite
	return f
}

func ordered[T float64 | string](a T, op string, b T) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "<":
		return a < b
	case "<=":
		return a <= b
	}
	return false
}

// at returns the value at a path such as $.a.b[0].c, nil if there is none.
func at(value any, path string) any {
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "$."), ".") {
		key, rest, _ := strings.Cut(step, "[")
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[key]
		for rest != "" {
			var number string
			number, rest, _ = strings.Cut(rest, "]")
			rest = strings.TrimPrefix(rest, "[")
			list, ok := value.([]any)
			i, err := strconv.Atoi(number)
			if !ok || err != nil || i < 0 || i >= len(list) {
				return nil
			}
			value = list[i]
		}
	}
	return value
}

// hasKey reports whether an object at any depth has the key.
func hasKey(value any, key string) bool {
	switch value := value.(type) {
	case map[string]any:
		if _, ok := value[key]; ok {
			return true
		}
		for _, member := range value {
			if hasKey(member, key) {
				return true
			}
		}
	case []any:
		for _, member := range value {
			if hasKey(member, key) {
				return true
			}
		}
	}
	return false
}
