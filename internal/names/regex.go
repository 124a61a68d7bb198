package names

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// regexTimeout bounds one match. Policies are written by the owner, but a
// backtracking expression on a long name must not hold a request. It is long enough
// that a busy machine does not make a match fail.
const regexTimeout = 250 * time.Millisecond

// regex is a Java regular expression that matches whole names.
type regex struct {
	linear *regexp.Regexp  // nil: the expression needs the other engine
	re     *regexp2.Regexp // backtracks, for look-around
}

// compileRegex compiles text, which is in Java's syntax. The engine's is .NET's;
// with its RE2 option \d, \w and \s are ASCII, as in Java. What the two read
// differently is refused, so that no pattern can grant more than its author meant.
func compileRegex(text string) (*regex, error) {
	translated, err := fromJava(text)
	if err != nil {
		return nil, err
	}
	// On its own first: "a)|(b" would be valid inside the group that anchors it.
	if _, err := regexp2.Compile(translated, regexp2.RE2); err != nil {
		return nil, fmt.Errorf("cannot compile regular expression: %w", err)
	}
	re, err := regexp2.Compile(`\A(?:`+translated+`)\z`, regexp2.RE2)
	if err != nil {
		return nil, fmt.Errorf("cannot compile regular expression: %w", err)
	}
	re.MatchTimeout = regexTimeout
	return &regex{linear: compileLinear(translated), re: re}, nil
}

// match reports whether name as a whole matches, as far as is known.
func (r *regex) match(name string) bool {
	matched, _ := r.try(name)
	return matched
}

// try is match, and reports whether that is sure. The only error that the engine knows
// at this point is its time limit.
func (r *regex) try(name string) (matched, sure bool) {
	if r.linear != nil {
		return r.linear.MatchString(name), true
	}
	matched, err := r.re.MatchString(name)
	if err != nil {
		return false, false
	}
	return matched, true
}

// posix are Java's POSIX classes, as they stand inside brackets.
var posix = map[string]string{
	"Lower": "a-z", "Upper": "A-Z", "Alpha": "a-zA-Z", "Digit": "0-9",
	"Alnum": "a-zA-Z0-9", "XDigit": "0-9a-fA-F", "ASCII": `\x00-\x7f`,
}

// javaReader walks over a Java regular expression and writes the engine's form.
type javaReader struct {
	in    string
	pos   int
	out   strings.Builder
	class bool // between '[' and ']'
}

func fromJava(text string) (string, error) {
	r := javaReader{in: text}
	for r.pos < len(r.in) {
		if err := r.step(); err != nil {
			return "", fmt.Errorf("%w at offset %d", err, r.pos)
		}
	}
	if r.class {
		return "", errors.New("unclosed '['")
	}
	return r.out.String(), nil
}

func (r *javaReader) step() error {
	rest := r.in[r.pos:]
	switch {
	case rest[0] == '\\':
		return r.escape()
	case r.class:
		return r.inClass(rest)
	case rest[0] == '[':
		return r.openClass(rest)
	case strings.HasPrefix(rest, "(?"):
		return r.group(rest)
	}
	r.copy(1)
	return nil
}

// copy moves n bytes from in to out as they are.
func (r *javaReader) copy(n int) {
	r.out.WriteString(r.in[r.pos : r.pos+n])
	r.pos += n
}

func (r *javaReader) openClass(rest string) error {
	n := 1
	if strings.HasPrefix(rest, "[^") {
		n = 2
	}
	if strings.HasPrefix(rest[n:], "]") {
		return errors.New("']' right after '['; escape it")
	}
	r.class = true
	r.copy(n)
	return nil
}

// inClass refuses Java's unions and intersections of classes: the engine takes
// their brackets and ampersands literally.
func (r *javaReader) inClass(rest string) error {
	switch {
	case rest[0] == '[':
		return errors.New("'[' inside a character class is not supported; escape it or write the class out")
	case strings.HasPrefix(rest, "&&"):
		return errors.New("intersection '&&' of character classes is not supported")
	case rest[0] == ']':
		r.class = false
	}
	r.copy(1)
	return nil
}

// group lets the forms pass that both syntaxes share.
func (r *javaReader) group(rest string) error {
	for _, open := range []string{"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"} {
		if strings.HasPrefix(rest, open) {
			r.copy(len(open))
			return nil
		}
	}
	if n := namedGroup(rest); n > 0 {
		r.copy(n)
		return nil
	}
	flags := rest[2:]
	n := len(flags) - len(strings.TrimLeft(flags, "ims-"))
	if n == 0 || n == len(flags) || (flags[n] != ':' && flags[n] != ')') {
		return fmt.Errorf("group %q is not supported", rest[:min(len(rest), 4)])
	}
	r.copy(2 + n + 1)
	return nil
}

// namedGroup returns the length of "(?<name>", or 0.
func namedGroup(rest string) int {
	if !strings.HasPrefix(rest, "(?<") {
		return 0
	}
	for i := 3; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == '>' && i > 3:
			return i + 1
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9' && i > 3:
		default:
			return 0
		}
	}
	return 0
}

// escapes are the letters and digits that mean the same in both syntaxes.
const escapes = `dDwWsSbBAzZtnrfaexuck123456789`

func (r *javaReader) escape() error {
	rest := r.in[r.pos:]
	if len(rest) < 2 {
		return errors.New("'\\' at the end")
	}
	switch c := rest[1]; {
	case c == 'Q':
		return r.quote(rest)
	case c == 'p' || c == 'P':
		return r.property(rest)
	case isAlnum(c) && !strings.ContainsRune(escapes, rune(c)):
		return fmt.Errorf("escape %q is not supported", rest[:2])
	}
	r.copy(2)
	return nil
}

// quote writes \Q…\E with every character escaped; without \E it runs to the end.
func (r *javaReader) quote(rest string) error {
	body, _, closed := strings.Cut(rest[2:], `\E`)
	r.out.WriteString(regexp2.Escape(body))
	if r.class && strings.ContainsAny(body, "]-^&") {
		return errors.New(`\Q…\E with ']', '-', '^' or '&' in a character class is not supported`)
	}
	r.pos += 2 + len(body)
	if closed {
		r.pos += 2
	}
	return nil
}

// property translates Java's POSIX classes and lets Unicode categories pass.
func (r *javaReader) property(rest string) error {
	end := strings.IndexByte(rest, '}')
	if end < 0 || rest[2] != '{' {
		return fmt.Errorf(`%q needs a name in braces`, rest[:2])
	}
	set, ok := posix[rest[3:end]]
	switch {
	case !ok:
		r.copy(end + 1)
		return nil
	case r.class && rest[1] == 'P':
		return fmt.Errorf("%q in a character class is not supported", rest[:end+1])
	case r.class:
		r.out.WriteString(set)
	case rest[1] == 'P':
		r.out.WriteString("[^" + set + "]")
	default:
		r.out.WriteString("[" + set + "]")
	}
	r.pos += end + 1
	return nil
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
