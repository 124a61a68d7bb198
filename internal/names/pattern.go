package names

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// kind is the form of a pattern. The order is that of cost.
type kind uint8

const (
	kindNothing kind = iota // zero value: matches no name
	kindExact
	kindAll
	kindPrefix // a literal, then one '*'
	kindGlob
	kindRegex
)

// Pattern is one compiled name pattern of a policy: an exact name, a glob with '*'
// and '?', or a Java regular expression between slashes. Matching is
// case-sensitive and always of the whole name. The zero value matches nothing.
//
// There is no negation: "-foo" and "!foo" are literal globs, as in the security
// plugin, whose lists of patterns only ever add.
type Pattern struct {
	kind kind
	text string // as written
	// glob is the canonical form of text: in each run of wildcards the '?' come first
	// and one '*' is left. For a prefix it ends before the '*'.
	glob  string
	regex *regex
}

// ParsePattern compiles text. Blank text matches nothing and is no error; a regular
// expression that does not compile, or that means something else here than in Java,
// is one.
func ParsePattern(text string) (Pattern, error) {
	if isRegex(text) {
		re, err := compileRegex(text[1 : len(text)-1])
		if err != nil {
			return Pattern{}, fmt.Errorf("cannot parse pattern %q: %w", text, err)
		}
		return Pattern{kind: kindRegex, text: text, regex: re}, nil
	}
	if !utf8.ValidString(text) {
		return Pattern{}, fmt.Errorf("cannot parse pattern %q: it is not valid UTF-8", text)
	}
	return parseGlob(text), nil
}

// MustParsePattern is ParsePattern for patterns written in the source.
func MustParsePattern(text string) Pattern {
	p, err := ParsePattern(text)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return p
}

func isRegex(text string) bool {
	return len(text) >= 2 && text[0] == '/' && text[len(text)-1] == '/'
}

func parseGlob(text string) Pattern {
	if strings.TrimSpace(text) == "" {
		return Pattern{}
	}
	glob := canonicalGlob(text)
	p := Pattern{kind: kindGlob, text: text, glob: glob}
	switch wild := strings.IndexAny(glob, "*?"); {
	case wild < 0:
		p.kind = kindExact
	case glob == "*":
		p.kind = kindAll
	case glob[wild] == '*' && wild == len(glob)-1:
		p.kind, p.glob = kindPrefix, glob[:wild]
	}
	return p
}

// canonicalGlob orders each run of wildcards: "a*?*b" means "a?*b".
func canonicalGlob(text string) string {
	if !strings.Contains(text, "**") && !strings.Contains(text, "*?") {
		return text
	}
	var b strings.Builder
	star := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '*':
			star = true
		case c == '?':
			b.WriteByte(c)
		default:
			if star {
				b.WriteByte('*')
				star = false
			}
			b.WriteByte(c)
		}
	}
	if star {
		b.WriteByte('*')
	}
	return b.String()
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// IsAll reports whether p matches every name.
func (p Pattern) IsAll() bool { return p.kind == kindAll }

// IsNothing reports whether p matches no name.
func (p Pattern) IsNothing() bool { return p.kind == kindNothing }

// IsRegex reports whether p is a regular expression.
func (p Pattern) IsRegex() bool { return p.kind == kindRegex }

// IsExact reports whether p matches exactly one name, and which.
func (p Pattern) IsExact() (name string, ok bool) {
	return p.glob, p.kind == kindExact
}

// Match reports whether p matches name. A regular expression that runs into its
// time limit does not match; Try tells that.
func (p Pattern) Match(name string) bool {
	switch p.kind {
	case kindExact:
		return p.glob == name
	case kindAll:
		return true
	case kindPrefix:
		return strings.HasPrefix(name, p.glob)
	case kindGlob:
		return matchGlob(p.glob, name)
	case kindRegex:
		return p.regex.match(name)
	default:
		return false
	}
}

// MayMatch is Match for what hides: a regular expression that runs into its time limit
// may match.
func (p Pattern) MayMatch(name string) bool {
	matched, sure := p.Try(name)
	return matched || !sure
}

// Try is Match, and reports whether that is sure: it is not where a regular expression
// ran into its time limit.
func (p Pattern) Try(name string) (matched, sure bool) {
	if p.kind != kindRegex {
		return p.Match(name), true
	}
	return p.regex.try(name)
}

// Sure reports whether Try always is: only an expression that backtracks is not.
func (p Pattern) Sure() bool { return p.kind != kindRegex || p.regex.linear != nil }

// matchGlob matches what stands between two '*' as early in the name as it can, which is
// enough because a later '*' can do what an earlier one could. Clients choose patterns, and
// the names of their own indices: no pair of them may take longer than both are long.
func matchGlob(glob, name string) bool {
	first, rest, wild := strings.Cut(glob, "*")
	n, ok := matchLiteral(first, name)
	if !ok || !wild {
		return ok && n == len(name)
	}
	name = name[n:]
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return endsWith(part, name)
		}
		if n = indexOf(part, name); n < 0 {
			return false
		}
		name, rest = name[n:], after
	}
}

// matchLiteral reports whether name starts with what part matches, which holds no '*', and
// how long that is. '?' steps by whole characters.
func matchLiteral(part, name string) (n int, ok bool) {
	for {
		text, after, more := strings.Cut(part, "?")
		if !strings.HasPrefix(name[n:], text) {
			return 0, false
		}
		if n += len(text); !more {
			return n, true
		}
		if n == len(name) {
			return 0, false
		}
		n += runeLen(name[n:])
		part = after
	}
}

// indexOf returns the end of the first place in name that part matches, or -1.
func indexOf(part, name string) int {
	if !strings.Contains(part, "?") {
		if i := strings.Index(name, part); i >= 0 {
			return i + len(part)
		}
		return -1
	}
	for at := 0; at <= len(name); {
		if n, ok := matchLiteral(part, name[at:]); ok {
			return at + n
		}
		if at == len(name) {
			break
		}
		at += runeLen(name[at:])
	}
	return -1
}

// endsWith reports whether name ends with what part matches.
func endsWith(part, name string) bool {
	if !strings.Contains(part, "?") {
		return strings.HasSuffix(name, part)
	}
	for at := 0; at <= len(name); {
		if n, ok := matchLiteral(part, name[at:]); ok && at+n == len(name) {
			return true
		}
		if at == len(name) {
			break
		}
		at += runeLen(name[at:])
	}
	return false
}

func runeLen(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// Patterns is an immutable list of patterns of which one match is enough. The zero
// value matches nothing.
type Patterns struct {
	all   bool
	exact map[string]struct{}
	rest  []Pattern // neither exact nor all
	list  []Pattern // as given
}

// NewPatterns collects list.
func NewPatterns(list ...Pattern) Patterns {
	ps := Patterns{list: slices.Clone(list)}
	for _, p := range list {
		switch p.kind {
		case kindNothing:
		case kindAll:
			ps.all = true
		case kindExact:
			if ps.exact == nil {
				ps.exact = make(map[string]struct{})
			}
			ps.exact[p.glob] = struct{}{}
		default:
			ps.rest = append(ps.rest, p)
		}
	}
	return ps
}

// ParsePatterns compiles each of texts; the first that fails ends it.
func ParsePatterns(texts ...string) (Patterns, error) {
	list := make([]Pattern, 0, len(texts))
	for _, t := range texts {
		p, err := ParsePattern(t)
		if err != nil {
			return Patterns{}, err
		}
		list = append(list, p)
	}
	return NewPatterns(list...), nil
}

// List returns the patterns as they were given. The caller must not change it.
func (ps Patterns) List() []Pattern { return ps.list }

// IsAll reports whether one of ps matches every name.
func (ps Patterns) IsAll() bool { return ps.all }

// Names reports whether one of ps is name itself, without a wildcard.
func (ps Patterns) Names(name string) bool {
	_, ok := ps.exact[name]
	return ok
}

// Match reports whether any of ps matches name.
func (ps Patterns) Match(name string) bool { return ps.any(name, Pattern.Match) }

// MayMatch is Match for what hides; see [Pattern.MayMatch].
func (ps Patterns) MayMatch(name string) bool { return ps.any(name, Pattern.MayMatch) }

func (ps Patterns) any(name string, matches func(Pattern, string) bool) bool {
	if ps.all {
		return true
	}
	if _, ok := ps.exact[name]; ok {
		return true
	}
	for i := range ps.rest {
		if matches(ps.rest[i], name) {
			return true
		}
	}
	return false
}
