package querystring

// query is clauses, one after the other.
type query struct{ clauses []clause }

// clause is a term or a query in parentheses, with what stands before and after it.
type clause struct {
	conj     kind // and, or; end where there is none
	mod      kind // plus, minus, not; end where there is none
	field    token
	hasField bool
	sub      *query
	// leaf is the tokens of a term: one; a range; or several words that clusters analyse
	// as one text.
	leaf   []token
	suffix []token // a boost and a fuzziness
}

// maxNesting bounds the parentheses, one inside the other.
const maxNesting = 64

type parser struct {
	tokens []token
	at     int
	nested int
}

func (p *parser) peek(n int) kind {
	if p.at+n >= len(p.tokens) {
		return end
	}
	return p.tokens[p.at+n].kind
}

func (p *parser) take() token {
	t := p.tokens[p.at]
	p.at++
	return t
}

// here returns the offset of what comes next.
func (p *parser) here() int { return p.tokens[min(p.at, len(p.tokens)-1)].at }

// top reads the whole text.
func (p *parser) top() (*query, error) {
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	if p.peek(0) != end {
		return nil, fail(p.here(), "found %q, want the end", p.tokens[p.at].text)
	}
	return q, nil
}

func (p *parser) query() (*query, error) {
	if p.nested++; p.nested > maxNesting {
		return nil, unsupported(p.here(), "parentheses nest too deep")
	}
	defer func() { p.nested-- }()
	q := &query{}
	for len(q.clauses) == 0 || p.peek(0) != end && p.peek(0) != closing {
		c, err := p.clause(len(q.clauses) == 0)
		if err != nil {
			return nil, err
		}
		q.clauses = append(q.clauses, c)
	}
	return q, nil
}

// clause reads one clause. The first of a query has no conjunction.
func (p *parser) clause(first bool) (clause, error) {
	var c clause
	if n := p.words(); n > 1 {
		c.leaf = p.tokens[p.at : p.at+n]
		p.at += n
		return c, nil
	}
	if k := p.peek(0); !first && (k == and || k == or) {
		c.conj = p.take().kind
	}
	if k := p.peek(0); k == plus || k == minus || k == not {
		c.mod = p.take().kind
	}
	if k := p.peek(0); (k == term || k == star) && p.peek(1) == colon {
		c.field, c.hasField = p.take(), true
		p.at++
	}
	if p.peek(0) == open {
		return c, p.group(&c)
	}
	return c, p.term(&c)
}

// words returns how many words stand here that clusters analyse as one text: all in a
// row, but for one that is a field or has something after it that binds to it.
func (p *parser) words() int {
	if p.peek(0) != term {
		return 0
	}
	n := 1
	for p.peek(n) == term {
		switch p.peek(n + 1) {
		case colon, star, fuzzy, caret, and, or:
			return n
		}
		n++
	}
	return n
}

func (p *parser) group(c *clause) error {
	begin := p.take()
	var err error
	if c.sub, err = p.query(); err != nil {
		return err
	}
	if p.peek(0) != closing {
		return fail(begin.at, "want a closing parenthesis")
	}
	p.at++
	if p.peek(0) == caret {
		c.suffix = p.boost()
	}
	return nil
}

// boost takes ^ and its number; the lexer gives none alone.
func (p *parser) boost() []token {
	p.at += 2
	return p.tokens[p.at-2 : p.at]
}

func (p *parser) term(c *clause) error {
	from := p.at
	switch p.peek(0) {
	case term, star, prefix, wild, regex, bare, quoted:
		p.at++
		c.leaf = p.tokens[from:p.at]
		c.suffix = p.bindings()
		return nil
	case rangeOpen:
		for i, want := range []kind{rangeOpen, rangeText, rangeTo, rangeText, rangeClose} {
			if got := p.peek(i); got != want && (got != rangeTo || want != rangeText) {
				return fail(p.here(), "want a range as [a TO b]")
			}
		}
		p.at += 5
		c.leaf = p.tokens[from:p.at]
		if p.peek(0) == caret {
			c.suffix = p.boost()
		}
		return nil
	case end:
		return fail(p.here(), "found the end, want a term")
	}
	return fail(p.here(), "found %q, want a term", p.tokens[p.at].text)
}

// bindings takes a boost and a fuzziness, in either order.
func (p *parser) bindings() []token {
	from := p.at
	switch p.peek(0) {
	case caret:
		p.at += 2
		if p.peek(0) == fuzzy {
			p.at++
		}
	case fuzzy:
		p.at++
		if p.peek(0) == caret {
			p.at += 2
		}
	}
	return p.tokens[from:p.at]
}
