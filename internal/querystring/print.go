package querystring

import (
	"strings"
)

// existsField is the name that asks whether a field exists.
const existsField = "_exists_"

// scope is which field the terms of a query are asked of.
type scope struct {
	kind scopeKind
	name string // of spread: the pattern or object
}

type scopeKind uint8

const (
	unnamed scopeKind = iota // zero value: the default fields
	printed                  // a field that was printed before the term
	spread                   // a pattern: each term gets its fields
	object                   // an object: it has no terms, and exists if a field of it does
	exists                   // the terms are names of fields
)

// printer prints a query with the fields that may be seen.
type printer struct {
	names Names
	Options
	out []byte
}

func (p *printer) text(s ...string) {
	for _, t := range s {
		p.out = append(p.out, t...)
	}
}

// query prints clauses with one space between them.
func (p *printer) query(q *query, in scope) error {
	for i := range q.clauses {
		if i > 0 {
			p.text(" ")
		}
		if err := p.clause(&q.clauses[i], in); err != nil {
			return err
		}
	}
	return nil
}

// words are what is printed for conjunctions and modifiers.
var words = map[kind]string{and: "AND ", or: "OR ", plus: "+", minus: "-", not: "NOT "}

func (p *printer) clause(c *clause, in scope) error {
	p.text(words[c.conj], words[c.mod])
	if c.hasField {
		var err error
		if in, err = p.field(c); err != nil {
			return err
		}
	}
	if c.sub == nil {
		return p.leaf(c, in)
	}
	p.text("(")
	if err := p.query(c.sub, in); err != nil {
		return err
	}
	p.text(")")
	p.suffix(c.suffix)
	return nil
}

// field prints the field of a clause, if one stands for it, and returns the scope of
// what it is asked.
func (p *printer) field(c *clause) (scope, error) {
	name, err := unescape(c.field)
	if err != nil {
		return scope{}, err
	}
	if name == existsField {
		return scope{kind: exists}, nil
	}
	if strings.Contains(name, "*") {
		return p.pattern(c, name)
	}
	shown, isObject, err := p.names.Field(name)
	if err != nil {
		return scope{}, err
	}
	if isObject {
		if c.asksAll() {
			return scope{kind: object, name: name}, nil
		}
		shown = p.names.StandIn(name)
	}
	p.text(escape(shown), ":")
	return scope{kind: printed}, nil
}

// pattern is field for a pattern. If it stands for one field it is that.
func (p *printer) pattern(c *clause, name string) (scope, error) {
	if c.asksAll() {
		return scope{kind: spread, name: name}, nil
	}
	fields, err := p.names.Expand(name, false)
	if err != nil {
		return scope{}, err
	}
	switch len(fields) {
	case 0:
		p.text(escape(p.names.StandIn(name)), ":")
	case 1:
		p.text(escape(fields[0]), ":")
	default:
		return scope{kind: spread, name: name}, nil
	}
	return scope{kind: printed}, nil
}

// asksAll reports whether a lone * is asked of the clause's own field.
func (c *clause) asksAll() bool {
	if c.sub == nil {
		return c.leaf[0].kind == star
	}
	for i := range c.sub.clauses {
		if inner := &c.sub.clauses[i]; !inner.hasField && inner.asksAll() {
			return true
		}
	}
	return false
}

func (p *printer) leaf(c *clause, in scope) error {
	all := c.leaf[0].kind == star
	if in.kind == unnamed && p.Default != "" && (all || compares(c.leaf[0])) {
		in = defaultScope(p.Default)
	}
	switch {
	case in.kind == exists:
		return p.exists(c)
	case in.kind == spread && all && in.name == "*":
		p.text("*:*")
		p.suffix(c.suffix)
		return nil
	case in.kind == spread && all:
		return p.existing(c, in.name, in.name)
	case in.kind == object && all:
		return p.existing(c, in.name+".*", in.name)
	case in.kind == spread:
		fields, err := p.names.Expand(in.name, false)
		if err != nil {
			return err
		}
		return p.any(c, fields, in.name, func(f string) { p.asked(c, f) })
	case in.kind == object:
		p.asked(c, p.names.StandIn(in.name))
		return nil
	}
	p.term(c)
	return p.checkLimit(c)
}

// defaultScope is the scope of a term that has to name the default fields.
func defaultScope(name string) scope {
	if strings.Contains(name, "*") {
		return scope{kind: spread, name: name}
	}
	return scope{kind: object, name: name}
}

// compares reports whether clusters read a word as a comparison, which they do only
// where it has a field.
func compares(t token) bool {
	word, err := unescape(t)
	return t.kind == term && err == nil && len(word) > 0 && (word[0] == '<' || word[0] == '>')
}

// term prints the tokens of a leaf as they were.
func (p *printer) term(c *clause) {
	for i, t := range c.leaf {
		if i > 0 && t.kind != rangeClose && c.leaf[i-1].kind != rangeOpen {
			p.text(" ")
		}
		p.text(t.text)
		if t.kind == bare {
			p.text(" ") // without it, it would bind to what follows
		}
	}
	p.suffix(c.suffix)
}

func (p *printer) suffix(tokens []token) {
	for _, t := range tokens {
		p.text(t.text)
	}
}

// asked prints field:term, in parentheses if it is several words.
func (p *printer) asked(c *clause, field string) {
	p.text(escape(field), ":")
	if c.leaf[0].kind == term && len(c.leaf) > 1 {
		p.text("(")
		p.term(c)
		p.text(")")
		return
	}
	p.term(c)
}

// exists prints _exists_ for the field that the leaf names.
func (p *printer) exists(c *clause) error {
	for _, t := range c.suffix {
		if t.kind == fuzzy {
			return unsupported(t.at, "a name after _exists_ cannot be fuzzy")
		}
	}
	name, err := existsName(c)
	if err != nil {
		return err
	}
	if strings.Contains(name, "*") {
		return p.existing(c, name, name)
	}
	shown, isObject, err := p.names.Field(name)
	if err != nil {
		return err
	}
	if isObject {
		return p.existing(c, name+".*", name)
	}
	p.existsOne(c, shown)
	return nil
}

// existsName returns the name that a leaf is: a word, several, or a text in quotes.
func existsName(c *clause) (string, error) {
	var parts []string
	for _, t := range c.leaf {
		switch t.kind {
		case term:
		case quoted:
			t.text = t.text[1 : len(t.text)-1]
		default:
			return "", unsupported(t.at, "want the name of a field after _exists_")
		}
		part, err := unescape(t)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " "), nil
}

func (p *printer) existsOne(c *clause, field string) {
	p.text(existsField, ":", escape(field))
	p.suffix(c.suffix)
}

// existing prints that one of the fields of a pattern exists.
func (p *printer) existing(c *clause, pattern, name string) error {
	fields, err := p.names.Expand(pattern, true)
	if err != nil {
		return err
	}
	return p.any(c, fields, name, func(f string) { p.existsOne(c, f) })
}

// any prints a disjunction over fields, or what asks for a field that does not exist.
func (p *printer) any(c *clause, fields []string, name string, one func(field string)) error {
	switch {
	case len(fields) == 0:
		one(p.names.StandIn(name))
		return nil
	case p.One && (len(fields) > 1 || len(c.leaf) > 1):
		return unsupported(c.leaf[0].at, "a pattern of fields beside type or minimum_should_match is not built yet")
	case len(fields) == 1:
		one(fields[0])
		return nil
	}
	p.text("(")
	for i, f := range fields {
		if i > 0 {
			p.text(" OR ")
		}
		one(f)
		if err := p.checkLimit(c); err != nil {
			return err
		}
	}
	p.text(")")
	return nil
}

func (p *printer) checkLimit(c *clause) error {
	if len(p.out) > p.Limit {
		return unsupported(c.leaf[0].at, "the text becomes too long when its patterns become fields")
	}
	return nil
}
