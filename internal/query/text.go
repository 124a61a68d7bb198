package query

import (
	"errors"
	"strings"

	"guard/internal/esjson"
	"guard/internal/querystring"
)

// textAround is what a query_string says beside its text.
type textAround struct {
	field   string // its default field, if that is a pattern, an object or all fields
	one     bool   // a term must stay one clause
	escaped bool   // the cluster escapes the text, so that it has no syntax
}

// fieldwise are the types of query_string under which a pattern of fields matches
// where one of its fields does.
var fieldwise = map[string]bool{"best_fields": true, "most_fields": true, "phrase": true, "phrase_prefix": true}

// readAround reads what the clause v says beside its text; none tells that
// it names no fields.
func (k *walker) readAround(v esjson.Value, none bool) (textAround, error) {
	var a textAround
	if none {
		a.field = "*"
	} else if d, given := v.Lookup("default_field"); given && d.Is(esjson.String) {
		if name := d.String(); isPattern(name) || k.rules.Fields.Field(name, Match) == Object {
			a.field = name
		}
	}
	if typ, given := v.Lookup("type"); given {
		a.one = !fieldwise[typ.String()]
	}
	if _, given := v.Lookup("minimum_should_match"); given {
		a.one = true
	}
	if escape, given := v.Lookup("escape"); given {
		on, err := escape.Bool()
		if err != nil {
			return a, badValue(escape, "escape", "want true or false")
		}
		a.escaped = on
	}
	return a, nil
}

// syntax are the bytes without which a text names no field, by itself or as *.
const syntax = `:*<>\`

// lucene prints a text of query_string with the fields that may be seen.
func (k *walker) lucene(v esjson.Value, key string) error {
	if !k.fieldRule() || !v.Is(esjson.String) || !strings.ContainsAny(v.String(), syntax) {
		return k.scalar(v, key, luceneText)
	}
	if k.around.escaped {
		if k.around.field != "" && strings.ContainsAny(v.String(), "<>") {
			return refuse(v, key, "an escaped comparison is not built yet%s", underFieldRule)
		}
		return k.scalar(v, key, luceneText)
	}
	text, err := querystring.Rewrite(v.String(), textNames{k, v}, querystring.Options{
		Default: k.around.field, One: k.around.one, Limit: maxGrown,
	})
	if err == nil {
		k.w.Text(text)
		return k.grow(v, key, len(text))
	}
	var unread *querystring.Error
	if !errors.As(err, &unread) {
		return err
	}
	if unread.Syntax {
		return &Refusal{Path: v.Path(), Construct: key, Why: unread.Error(), BadValue: true}
	}
	return refuse(v, key, "%v%s", unread, underFieldRule)
}

// textNames are the fields of the text v as the rules show them.
type textNames struct {
	k *walker
	v esjson.Value
}

func (n textNames) Field(name string) (shown string, object bool, err error) {
	if n.k.rules.Fields.Field(name, Match) == Object {
		return "", true, nil
	}
	shown, err = n.k.seen(n.v, name, Match)
	return shown, false, err
}

// Expand knows that clusters search a pattern in a text in fields of all types, and only
// that of all fields in those that they can search without failing.
func (n textNames) Expand(pattern string, existing bool) ([]string, error) {
	use := Rank
	if pattern == "*" && !existing {
		use = Match
	}
	return n.k.expand(n.v, pattern, use)
}

func (n textNames) StandIn(name string) string { return n.k.standIn(name) }
