package authz

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errMissing tells that a variable of a template has no value for this principal.
var errMissing = errors.New("variable without a value")

// checkJSON notes which variables of a document rule stand inside a JSON string.
// A list inside quotes can never be JSON: refused.
func (t *template) checkJSON() error {
	quoted := false
	for i := range t.segments {
		s := &t.segments[i]
		if s.name == "" {
			quoted = scanQuotes(s.literal, quoted)
			continue
		}
		s.quoted = quoted
		if v, _ := lookup(nobody, *s); quoted && v.List {
			return fmt.Errorf("list ${%s} inside quotes; want [${%s}]", s.name, s.name)
		}
	}
	return nil
}

// scanQuotes reports whether a JSON string is open behind text, if one was open
// before it or not.
func scanQuotes(text string, open bool) bool {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			open = !open
		case text[i] == '\\' && open:
			i++
		}
	}
	return open
}

// renderJSON puts the values that look gives into a document rule. Every value is one JSON
// value or a part of one string: none can close a brace of the rule.
func (t *template) renderJSON(look valueFunc) (string, map[string]Value, error) {
	if len(t.segments) == 1 { // no variable: every principal shares the text
		return t.segments[0].literal, nil, nil
	}
	var b strings.Builder
	var values map[string]Value
	for _, s := range t.segments {
		if s.name == "" {
			b.WriteString(s.literal)
			continue
		}
		v, ok := look(s)
		if !ok {
			return "", nil, fmt.Errorf("${%s}: %w", s.name, errMissing)
		}
		if values == nil {
			values = make(map[string]Value)
		}
		values[s.name] = v
		if err := appendJSON(&b, s, v); err != nil {
			return "", nil, err
		}
	}
	return b.String(), values, nil
}

func appendJSON(b *strings.Builder, s segment, v Value) error {
	switch {
	case v.List:
		for i, text := range v.Texts {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(text))
		}
		return nil
	case s.quoted:
		q := quote(v.Texts[0])
		b.WriteString(q[1 : len(q)-1])
		return nil
	}
	bare, err := bareValue(v.Texts[0])
	if err != nil {
		return fmt.Errorf("${%s}: %w", s.name, err)
	}
	b.WriteString(bare)
	return nil
}

// bareValue is what a text may become outside quotes: a number, true, false, or a
// list of such and of strings (an array claim of a token arrives as its JSON text).
// An object is none: it could turn a list of terms into a lookup.
func bareValue(text string) (string, error) {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil || !json.Valid([]byte(text)) { // Valid: nothing may follow
		return "", fmt.Errorf("value %q is not JSON; put the variable into quotes", text)
	}
	list, ok := v.([]any)
	if !ok {
		if _, text := v.(string); text || !isScalar(v) {
			return "", errors.New("value is neither a number, a boolean nor a list; put the variable into quotes")
		}
		return printScalar(v), nil
	}
	parts := make([]string, 0, len(list))
	for _, item := range list {
		if !isScalar(item) {
			return "", errors.New("list holds something else than texts, numbers and booleans")
		}
		parts = append(parts, printScalar(item))
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, json.Number, bool:
		return true
	}
	return false
}

func printScalar(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	panic(fmt.Sprintf("BUG: %T is no scalar", v))
}

// quote returns text as a JSON string; '<', '>' and '&' stay as they are.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(fmt.Sprintf("BUG: a string has no JSON form: %v", err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
