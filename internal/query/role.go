package query

import (
	"guard/internal/esjson"
)

// Syntax is what a string of a role's query is read as, so that a value filled in
// can be made literal there.
type Syntax uint8

// The syntaxes of a string.
const (
	Literal     Syntax = iota // a value
	Bound                     // a bound of a range, which can be date math
	Prefix                    // prefix
	Wildcard                  // wildcard
	Regexp                    // regexp
	QueryString               // query_string
	SimpleQuery               // simple_query_string
	Name                      // the name of a field, as a key or a value
	Code                      // the text of a script
)

// Fill says what a string of a role's query stands for: the JSON of one value, or
// of several if the string names a list. Strings without a variable come back as
// they are.
type Fill func(text string, s Syntax) (values []string, list bool, err error)

// AppendRole appends a role's own query, which it checks against the table: every
// clause that has a row and needs no other document. What is filled in by fill
// stays the value that it is. Names of clauses are dropped (they would show in
// answers), inner hits are refused. Any error is a *Refusal.
func AppendRole(dst []byte, q esjson.Value, fill Fill) ([]byte, error) {
	k := walker{rules: &Rules{Filter: Free}, role: true, fill: fill}
	k.w.Reset(dst)
	if err := k.query(q); err != nil {
		return dst, err
	}
	return k.w.Bytes(), nil
}

var syntaxOf = map[kind]Syntax{
	scalar: Literal, scalars: Literal, rangeText: Bound, prefixText: Prefix, wildcardText: Wildcard, regexpText: Regexp,
	luceneText: QueryString, simpleText: SimpleQuery, scriptCode: Code,
}

// filled prints what the string v stands for. Within an array a list becomes so
// many elements, alone in a place of several it becomes an array.
func (k *walker) filled(v esjson.Value, key string, as kind, alone bool) error {
	values, list, err := k.fill(v.String(), syntaxOf[as])
	if err != nil {
		return refuse(v, key, "%v", err)
	}
	switch {
	case !list:
		k.w.Raw([]byte(values[0]))
		return nil
	case as != scalars:
		return refuse(v, key, "a list of values cannot stand here")
	case !alone:
		for _, s := range values {
			k.w.Raw([]byte(s))
		}
		return nil
	}
	k.w.BeginArray()
	for _, s := range values {
		k.w.Raw([]byte(s))
	}
	k.w.EndArray()
	return nil
}

// filledName returns the name that a string with variables stands for.
func (k *walker) filledName(v esjson.Value, name string) (string, error) {
	values, list, err := k.fill(name, Name)
	if err != nil {
		return "", refuse(v, name, "%v", err)
	}
	if list {
		return "", refuse(v, name, "a list of values cannot stand here")
	}
	var tape esjson.Tape
	s, err := esjson.Parse(&tape, []byte(values[0]), esjson.RequestLimits())
	if err != nil || !s.Is(esjson.String) {
		return "", refuse(v, name, "it is no name")
	}
	return s.String(), nil
}
