package names

import "strings"

// maxProof bounds the states that one proof of inclusion may visit: a client writes
// one of the two patterns. Past it the answer is "not proven".
const maxProof = 4096

// maxTokens is the longest pattern that a proof takes, in characters.
const maxTokens = 255

// Covers reports whether every name that q can match is also matched by p. It
// errs to false only for patterns too long to prove. A regular expression covers
// nothing and is covered by "*" alone (law 3); a pattern that matches nothing
// covers nothing and is not covered.
func (p Pattern) Covers(q Pattern) bool {
	switch {
	case p.kind == kindNothing || q.kind == kindNothing:
		return false
	case p.kind == kindAll:
		return true
	case p.kind == kindRegex || q.kind == kindRegex || q.kind == kindAll:
		return false
	case q.kind == kindExact:
		return p.Match(q.glob)
	case p.kind == kindExact:
		return false
	case !strings.HasPrefix(q.literalPrefix(), p.literalPrefix()):
		return false // q goes on with any character where p wants its own
	case p.kind == kindPrefix:
		return true
	}
	return included(q.tokens(), nil, p.tokens())
}

// literalPrefix is what stands before the first wildcard.
func (p Pattern) literalPrefix() string {
	if i := strings.IndexAny(p.glob, "*?"); p.kind == kindGlob && i >= 0 {
		return p.glob[:i]
	}
	return p.glob
}

// Intersect returns the pattern that matches exactly the names that both p and q
// match, and whether there is one of this form that is proven. A regular
// expression takes no part.
func Intersect(p, q Pattern) (Pattern, bool) {
	switch {
	case p.kind == kindRegex || q.kind == kindRegex:
		return Pattern{}, false
	case p.kind == kindNothing || q.kind == kindNothing:
		return Pattern{}, true
	case p.Covers(q):
		return q, true
	case q.Covers(p):
		return p, true
	case p.kind == kindExact || q.kind == kindExact:
		return Pattern{}, true // the other one does not match it
	}
	return intersectGlobs(p, q)
}

// intersectGlobs proposes candidates and returns the first that is proven to be
// neither wider nor narrower than what both match.
func intersectGlobs(p, q Pattern) (Pattern, bool) {
	a, b := p.tokens(), q.tokens()
	if included(a, b, []token{}) {
		return Pattern{}, true // no name is matched by both
	}
	head := longer(firstRun(p.globText()), firstRun(q.globText()))
	tail := longer(lastRun(p.globText()), lastRun(q.globText()))
	for _, middle := range []string{"*", p.middle(), q.middle()} {
		c := parseGlob(head + middle + tail)
		if p.Covers(c) && q.Covers(c) && included(a, b, c.tokens()) {
			return c, true
		}
	}
	return Pattern{}, false
}

// globText is the canonical text with the '*' of a prefix in place.
func (p Pattern) globText() string {
	if p.kind == kindPrefix {
		return p.glob + "*"
	}
	return p.glob
}

// firstRun and lastRun are what stands before the first and behind the last '*'.
func firstRun(glob string) string {
	head, _, _ := strings.Cut(glob, "*")
	return head
}

func lastRun(glob string) string {
	return glob[strings.LastIndexByte(glob, '*')+1:]
}

// middle is what stands between the first and the last '*', both included.
func (p Pattern) middle() string {
	g := p.globText()
	first, last := strings.IndexByte(g, '*'), strings.LastIndexByte(g, '*')
	if first < 0 {
		return ""
	}
	return g[first : last+1]
}

func longer(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}

// token is a character of a glob, or one of the two wildcards.
type token rune

const (
	tokenStar  token = -1
	tokenAny   token = -2 // '?'
	tokenFresh token = -3 // a character that no pattern names
)

func (p Pattern) tokens() []token {
	out := make([]token, 0, len(p.glob)+1)
	for _, r := range p.glob {
		switch {
		case p.kind == kindGlob && r == '*':
			out = append(out, tokenStar)
		case p.kind == kindGlob && r == '?':
			out = append(out, tokenAny)
		default:
			out = append(out, token(r))
		}
	}
	if p.kind == kindPrefix || p.kind == kindAll {
		out = append(out, tokenStar)
	}
	return out
}

// included reports whether every name matched by both a and b is matched by c, as
// far as maxProof steps can tell. A nil b stands for "*".
//
// It looks for a counterexample: it walks through a and b one position each and
// through all positions of c at once. Where neither a nor b names the next
// character it takes one that no pattern names: c can do no better with another.
func included(a, b, c []token) bool {
	if b == nil {
		b = []token{tokenStar}
	}
	if len(a) > maxTokens || len(b) > maxTokens || len(c) > maxTokens {
		return false
	}
	p := proof{a: a, b: b, c: c, seen: make(map[proofState]struct{})}
	start := proofState{}
	start.c.add(0)
	p.visit(proofState{c: p.slide(start.c)})
	for len(p.todo) > 0 {
		s := p.todo[len(p.todo)-1]
		p.todo = p.todo[:len(p.todo)-1]
		if len(p.seen) > maxProof || p.counterexample(s) {
			return false
		}
		p.expand(s)
	}
	return true
}

// proofState is a position in a and in b and the set of positions in c that one
// name can lead to.
type proofState struct {
	a, b int
	c    positions
}

type positions [4]uint64

func (s *positions) add(i int)     { s[i>>6] |= 1 << (i & 63) }
func (s positions) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

type proof struct {
	a, b, c []token
	seen    map[proofState]struct{}
	todo    []proofState
}

func (p *proof) visit(s proofState) {
	if _, ok := p.seen[s]; !ok {
		p.seen[s] = struct{}{}
		p.todo = append(p.todo, s)
	}
}

// counterexample reports whether a and b are at their ends and c is not.
func (p *proof) counterexample(s proofState) bool {
	return s.a == len(p.a) && s.b == len(p.b) && !s.c.has(len(p.c))
}

func (p *proof) expand(s proofState) {
	if s.a < len(p.a) && p.a[s.a] == tokenStar { // it may stand for nothing more
		p.visit(proofState{s.a + 1, s.b, s.c})
	}
	if s.b < len(p.b) && p.b[s.b] == tokenStar {
		p.visit(proofState{s.a, s.b + 1, s.c})
	}
	if s.a == len(p.a) || s.b == len(p.b) {
		return
	}
	next := tokenFresh
	switch x, y := p.a[s.a], p.b[s.b]; {
	case x >= 0 && y >= 0 && x != y:
		return
	case x >= 0:
		next = x
	case y >= 0:
		next = y
	}
	p.visit(proofState{behind(p.a, s.a), behind(p.b, s.b), p.read(s.c, next)})
}

// behind is the position after one character: a '*' keeps it.
func behind(glob []token, i int) int {
	if glob[i] == tokenStar {
		return i
	}
	return i + 1
}

// read moves each position of c over the character x.
func (p *proof) read(from positions, x token) positions {
	var to positions
	for i, t := range p.c {
		if !from.has(i) {
			continue
		}
		switch t {
		case tokenStar:
			to.add(i)
		case tokenAny, x:
			to.add(i + 1)
		}
	}
	return p.slide(to)
}

// slide adds the positions behind each '*', which may stand for nothing.
func (p *proof) slide(s positions) positions {
	for i, t := range p.c {
		if t == tokenStar && s.has(i) {
			s.add(i + 1)
		}
	}
	return s
}
