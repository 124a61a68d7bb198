package dls

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"guard/internal/esjson"
	"guard/internal/query"
)

// filler fills the strings of a rule with one caller's values.
type filler struct{ values Values }

// piece is a part of a string: a text of the rule, or a variable.
type piece struct {
	text string // of the rule, or the variable's reference
	name string // of the variable; empty for a text
	def  string // what stands for the variable if the caller has none
	any  bool   // there is a def
}

// fill is query.Fill: it returns the JSON of what a string stands for.
func (f filler) fill(text string, s query.Syntax) (values []string, list bool, err error) {
	rest, isBare := strings.CutPrefix(text, bare)
	if !isBare && !strings.Contains(text, "${") {
		return []string{quote(text)}, false, nil
	}
	pieces, err := split(rest)
	if err != nil {
		return nil, false, err
	}
	if len(pieces) == 1 && pieces[0].name != "" {
		return f.alone(pieces[0], isBare, s)
	}
	var b strings.Builder
	for _, p := range pieces {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		texts, isList, err := f.lookup(p)
		if err != nil {
			return nil, false, err
		}
		if isList {
			return nil, false, fmt.Errorf("the list ${%s} cannot stand inside a text", p.name)
		}
		value, err := literal(texts[0], s)
		if err != nil {
			return nil, false, fmt.Errorf("the value of ${%s} cannot stand here: %w", p.name, err)
		}
		b.WriteString(value)
	}
	return []string{quote(b.String())}, false, nil
}

// alone fills a string that is one variable and nothing else.
func (f filler) alone(p piece, isBare bool, s query.Syntax) (values []string, list bool, err error) {
	texts, isList, err := f.lookup(p)
	if err != nil {
		return nil, false, err
	}
	if isBare && !isList && (s == query.Literal || s == query.Bound) {
		if values, list, ok := scalars(texts[0]); ok {
			return values, list, nil
		}
	}
	for _, t := range texts {
		t, err := literal(t, s)
		if err != nil {
			return nil, false, fmt.Errorf("the value of ${%s} cannot stand here: %w", p.name, err)
		}
		values = append(values, quote(t))
	}
	return values, isList, nil
}

func (f filler) lookup(p piece) (texts []string, list bool, err error) {
	if texts, list, ok := f.values(p.name); ok && (list || len(texts) == 1) {
		for _, t := range texts {
			if !utf8.ValidString(t) { // two of them could be printed as one
				return nil, false, fmt.Errorf("the value of ${%s} is no valid UTF-8", p.name)
			}
		}
		return texts, list, nil
	}
	if p.any {
		return []string{p.def}, false, nil
	}
	return nil, false, fmt.Errorf("the caller has no variable %q", p.name)
}

// split cuts a text at its variables. "$${x}" is the text "${x}".
func split(text string) ([]piece, error) {
	var out []piece
	for text != "" {
		i := strings.Index(text, "${")
		if i < 0 {
			return append(out, piece{text: text}), nil
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			return nil, fmt.Errorf("unclosed %q", "${")
		}
		end += i
		if i > 0 && text[i-1] == '$' {
			out = append(out, piece{text: text[:i-1] + text[i:end+1]})
			text = text[end+1:]
			continue
		}
		if i > 0 {
			out = append(out, piece{text: text[:i]})
		}
		name, def, any := strings.Cut(text[i+2:end], ":-")
		if name == "" || strings.Contains(text[i+2:end], "${") {
			return nil, fmt.Errorf("%q is no variable; want ${name} or ${name:-default} without another variable inside", text[i:end+1])
		}
		out = append(out, piece{text: text[i : end+1], name: name, def: def, any: any})
		text = text[end+1:]
	}
	return out, nil
}

// scalars reads a value that stood without quotes: a number, boolean, string or an
// array of those keeps its type. An object never does: it could be a query.
func scalars(text string) (values []string, list, ok bool) {
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(text), esjson.RequestLimits())
	if err != nil {
		return nil, false, false
	}
	if !v.Is(esjson.Array) {
		return []string{string(esjson.AppendValue(nil, v))}, false, single(v)
	}
	for _, e := range v.Elements() {
		if !single(e) {
			return nil, false, false
		}
		values = append(values, string(esjson.AppendValue(nil, e)))
	}
	return values, true, true
}

func single(v esjson.Value) bool {
	return v.Is(esjson.Number) || v.Is(esjson.Bool) || v.Is(esjson.String)
}

func quote(s string) string { return string(esjson.AppendString(nil, s)) }

// literal returns value as it has to be written to mean itself in a syntax.
func literal(value string, s query.Syntax) (string, error) {
	switch s {
	case query.Literal:
		return value, nil
	case query.Prefix:
		return value, notEmpty(value)
	case query.Bound:
		if strings.Contains(value, "||") || isNow(value) {
			return "", fmt.Errorf("%q would be read as date math", value)
		}
		return value, nil
	case query.Name:
		if strings.ContainsAny(value, "*^") || value == "" {
			return "", fmt.Errorf("%q is no name of one field", value)
		}
		return value, nil
	case query.Wildcard:
		return escape(value, func(r rune) bool { return r == '*' || r == '?' || r == '\\' }), notEmpty(value)
	case query.Regexp, query.SimpleQuery:
		return escape(value, special), notEmpty(value)
	case query.QueryString:
		return queryText(value)
	default:
		return "", fmt.Errorf("a variable cannot be part of a script")
	}
}

// notEmpty refuses the empty value, which as part of a pattern widens it.
func notEmpty(value string) error {
	if value == "" {
		return fmt.Errorf("it is empty")
	}
	return nil
}

// isNow reports whether a bound would be read as a point in time from now.
func isNow(value string) bool {
	rest, ok := strings.CutPrefix(value, "now")
	return ok && (rest == "" || strings.ContainsRune("+-/|", rune(rest[0])))
}

// special reports whether a rune may have a meaning in a pattern or text query.
// Escaping one that has none is harmless; a letter is never escaped, since \d and
// \u have a meaning.
func special(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

func escape(value string, needs func(rune) bool) string {
	var b strings.Builder
	for _, r := range value {
		if needs(r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// queryText escapes a value for query_string. < and > cannot be escaped there, and
// a value that is one of the operators has its first letter escaped.
func queryText(value string) (string, error) {
	if strings.ContainsAny(value, "<>") {
		return "", fmt.Errorf("%q holds < or >, which cannot be escaped in query_string", value)
	}
	switch value {
	case "AND", "OR", "NOT", "TO":
		return `\` + value, nil
	}
	return escape(value, special), notEmpty(value)
}
