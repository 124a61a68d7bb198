package querystring

import (
	"strings"
	"unicode/utf8"
)

// kind is what a token is to the grammar.
type kind uint8

const (
	end        kind = iota
	and             // AND, &&
	or              // OR, ||
	not             // NOT, !
	plus            // +
	minus           // -
	bare            // + - or ! before a space: a term
	open            // (
	closing         // )
	colon           // :
	star            // * alone
	caret           // ^
	number          // after ^
	quoted          // "..."
	term            // a word
	fuzzy           // ~ and what follows
	prefix          // word*
	wild            // w?rd
	regex           // /.../
	rangeOpen       // [ or {
	rangeClose      // ] or }
	rangeTo         // TO between them
	rangeText       // a bound
)

// token is one token, printed as it was read: its text has one meaning only.
type token struct {
	kind kind
	text string
	at   int
}

// lexer reads tokens as the clusters' do: the longest that fits.
type lexer struct {
	text   string
	at     int
	tokens []token
}

// lex splits text into tokens; the last one is end.
func lex(text string) ([]token, error) {
	if !utf8.ValidString(text) {
		return nil, fail(0, "it is no valid UTF-8")
	}
	l := lexer{text: text}
	for {
		l.skipSpace()
		if l.at == len(text) {
			l.add(end, 0)
			return l.tokens, nil
		}
		if err := l.next(); err != nil {
			return nil, err
		}
	}
}

func (l *lexer) add(k kind, length int) {
	l.tokens = append(l.tokens, token{k, l.text[l.at : l.at+length], l.at})
	l.at += length
}

func (l *lexer) rest() string { return l.text[l.at:] }

// wideSpace is the only space beyond ASCII that the syntax knows.
const wideSpace = "\u3000"

// space returns the length of the white space that s begins with.
func space(s string) int {
	switch {
	case s == "":
		return 0
	case strings.IndexByte(" \t\n\r", s[0]) >= 0:
		return 1
	case strings.HasPrefix(s, wideSpace):
		return len(wideSpace)
	}
	return 0
}

func (l *lexer) skipSpace() {
	for n := space(l.rest()); n > 0; n = space(l.rest()) {
		l.at += n
	}
}

// single are the tokens of one byte.
var single = map[byte]kind{'(': open, ')': closing, ':': colon, '+': plus, '-': minus, '!': not}

// next reads one token, which may bring a boost or a whole range with it.
func (l *lexer) next() error {
	s := l.rest()
	switch c := s[0]; c {
	case '+', '-', '!':
		if space(s[1:]) > 0 {
			l.add(bare, 1)
			return nil
		}
		l.add(single[c], 1)
		return nil
	case '(', ')', ':':
		l.add(single[c], 1)
		return nil
	case '^':
		return l.boost()
	case '~':
		return l.fuzzy()
	case '"':
		return l.quoted()
	case '/':
		return l.regex()
	case '[', '{':
		return l.span()
	case ']', '}':
		return fail(l.at, "found %q without its beginning", c)
	}
	return l.word()
}

// boost reads ^ and its number, which stand together.
func (l *lexer) boost() error {
	l.add(caret, 1)
	n := decimals(l.rest())
	if n == 0 {
		return fail(l.at, "want a number after ^")
	}
	l.add(number, n)
	return nil
}

// decimals returns the length of the number that s begins with.
func decimals(s string) int {
	n := digits(s)
	if n > 0 && n < len(s) && s[n] == '.' {
		if more := digits(s[n+1:]); more > 0 {
			return n + 1 + more
		}
	}
	return n
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// fuzzy reads ~ with or without a number. Lucene 8 lets a word that follows at once
// begin a new term, Lucene 9 takes it as a part of this one.
func (l *lexer) fuzzy() error {
	n := 1 + decimals(l.rest()[1:])
	if more, _ := l.wordChar(l.at + n); more > 0 {
		return unsupported(l.at+n, "want a space or a boost after ~ and its number")
	}
	l.add(fuzzy, n)
	return nil
}

func (l *lexer) quoted() error {
	s := l.rest()
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			l.add(quoted, i+1)
			return nil
		}
	}
	return fail(l.at, "want a second quote")
}

// regex reads /.../, in which \/ does not end it.
func (l *lexer) regex() error {
	s := l.rest()
	for i := 1; i < len(s); i++ {
		if s[i] == '/' && s[i-1] != '\\' {
			l.add(regex, i+1)
			return nil
		}
	}
	return fail(l.at, "want a second /")
}

// special are the bytes that a word has only after a backslash; - and + may stand in
// it but not begin it, * and ? make it a pattern.
const special = " \t\n\r+-!():^[]\"{}~*?\\/"

// wordChar returns the length of what may stand in a word at i, and whether it is * or ?.
func (l *lexer) wordChar(i int) (n int, wildcard bool) {
	s := l.text[i:]
	switch {
	case s == "" || space(s) > 0:
		return 0, false
	case s[0] == '*' || s[0] == '?':
		return 1, true
	case s[0] == '\\':
		_, n := utf8.DecodeRuneInString(s[1:])
		if n == 0 {
			return 0, false
		}
		return 1 + n, false
	case s[0] == '-' || s[0] == '+' || strings.IndexByte(special, s[0]) < 0:
		_, n := utf8.DecodeRuneInString(s)
		return n, false
	}
	return 0, false
}

// word reads a word or a pattern. - and + were read before, so none begins one.
func (l *lexer) word() error {
	i, stars, marks := l.at, 0, 0
	for {
		n, wildcard := l.wordChar(i)
		if n == 0 {
			break
		}
		if wildcard {
			if marks++; l.text[i] == '*' {
				stars = i
			}
		}
		i += n
	}
	length := i - l.at
	switch word := l.text[l.at:i]; {
	case length == 0:
		return fail(l.at, "found %q at the end", l.rest())
	case word == "AND" || word == "&&":
		l.add(and, length)
	case word == "OR" || word == "||":
		l.add(or, length)
	case word == "NOT":
		l.add(not, length)
	case word == "*":
		l.add(star, length)
	case marks == 0:
		l.add(term, length)
	case marks == 1 && stars == i-1 && l.text[i-1] == '*':
		l.add(prefix, length)
	default:
		l.add(wild, length)
	}
	return nil
}

// span reads a whole range.
func (l *lexer) span() error {
	l.add(rangeOpen, 1)
	for {
		for l.at < len(l.text) && l.text[l.at] == ' ' {
			l.at++
		}
		s := l.rest()
		switch {
		case s == "":
			return fail(l.at, "want ] or } at the end of a range")
		case s[0] == ']' || s[0] == '}':
			l.add(rangeClose, 1)
			return nil
		}
		n, err := l.bound()
		if err != nil {
			return err
		}
		if s[:n] == "TO" {
			l.add(rangeTo, n)
		} else {
			l.add(rangeText, n)
		}
	}
}

// bound returns the length of the bound that stands here. A space that is not ASCII's
// 0x20 is one to the clusters' lexers or not, depending on what stands before it.
func (l *lexer) bound() (int, error) {
	s := l.rest()
	n := strings.IndexAny(s, " ]}")
	if s[0] == '"' {
		i := 1
		for i < len(s) && (s[i] != '"' || s[i-1] == '\\') {
			i++
		}
		if i >= len(s)-1 || i == 1 || strings.IndexByte(" ]}", s[i+1]) < 0 {
			return 0, unsupported(l.at, "want a quoted bound with a space or the end of the range after it")
		}
		n = i + 1
	}
	if n < 0 {
		return 0, fail(l.at, "want ] or } at the end of a range")
	}
	if strings.ContainsAny(s[:n], "\t\n\r"+wideSpace) && s[0] != '"' {
		return 0, unsupported(l.at, "want plain spaces in a range")
	}
	return n, nil
}
