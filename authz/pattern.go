package authz

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"guard/internal/ask"
	"guard/internal/names"
)

// indexPattern is a pattern of index_patterns in one of its three forms.
type indexPattern struct {
	static   names.Pattern
	template *template // holds ${…}: rendered for each principal
	date     string    // "<…>": resolved at the time of the request
}

// parseIndexPattern reads text. Date math is recognised first, by its brackets: a
// variable inside it would not be replaced by the plugin, so it is refused.
func parseIndexPattern(text string) (indexPattern, error) {
	switch {
	case strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">"):
		if isTemplate(text) {
			return indexPattern{}, fmt.Errorf("date math %q holds a variable; that is not supported", text)
		}
		_, err := resolveDate(text, time.Unix(0, 0))
		return indexPattern{date: text}, err
	case isTemplate(text):
		t, err := parseTemplate(text)
		if err != nil {
			return indexPattern{}, err
		}
		_, err = t.renderPattern(sampleValue) // a broken expression is found now
		return indexPattern{template: t}, err
	}
	p, err := names.ParsePattern(text)
	return indexPattern{static: p}, err
}

// resolveDate computes a date math pattern at a time, in UTC unless it says
// otherwise. The result is a pattern like any other.
func resolveDate(text string, now time.Time) (string, error) {
	e, err := names.Expr(text).DateMath(now)
	return string(e), err
}

// sampleValue stands for any value of a variable.
func sampleValue(segment) (Value, bool) { return Value{Texts: []string{"x"}}, true }

// notInNames are characters that no index, alias or data stream can have. A value
// with one of them names nothing, so it must not become part of a pattern: by a colon
// a user's name would choose another cluster, on whose indices nobody meant to grant.
const notInNames = "\\/*?\"<>|,#: \t\r\n"

// errNoName tells that a value cannot be part of a name.
var errNoName = errors.New("value cannot be part of a name")

// renderPattern makes the pattern for the values that look gives. They are taken
// literally, also inside a regular expression.
func (t *template) renderPattern(look valueFunc) (names.Pattern, error) {
	regex := strings.HasPrefix(t.text, "/") && strings.HasSuffix(t.text, "/") && len(t.text) > 1
	var b strings.Builder
	for _, s := range t.segments {
		if s.name == "" {
			b.WriteString(s.literal)
			continue
		}
		v, ok := look(s)
		switch {
		case !ok:
			return names.Pattern{}, fmt.Errorf("${%s}: %w", s.name, errMissing)
		case v.List || strings.ContainsAny(v.Texts[0], notInNames):
			return names.Pattern{}, fmt.Errorf("${%s}: %w", s.name, errNoName)
		case regex:
			b.WriteString(escapeRegex(v.Texts[0]))
		default:
			b.WriteString(v.Texts[0])
		}
	}
	return names.ParsePattern(b.String())
}

// escapeRegex puts a backslash before every ASCII character that is no letter and
// no digit: before others it would have a meaning of its own.
func escapeRegex(text string) string {
	var b strings.Builder
	for _, r := range text {
		alnum := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if r < 0x80 && !alnum {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// wildcarded is the widest pattern that t could become: each variable as "*".
func (t *template) wildcarded() names.Pattern {
	if strings.HasPrefix(t.text, "/") {
		return names.MustParsePattern("*")
	}
	var b strings.Builder
	for _, s := range t.segments {
		if s.name == "" {
			b.WriteString(s.literal)
		} else {
			b.WriteByte('*')
		}
	}
	p, err := names.ParsePattern(b.String())
	if err != nil {
		return names.MustParsePattern("*")
	}
	return p
}

// datePattern is a date math pattern of a principal with its last resolution.
type datePattern struct {
	text string
	last atomic.Pointer[resolvedDate]
}

type resolvedDate struct {
	at      time.Time
	pattern names.Pattern
}

// at returns the pattern at a time; one that can't be resolved matches nothing. A
// request asks many times with one time, so the last one is kept.
func (d *datePattern) at(now time.Time) names.Pattern {
	if last := d.last.Load(); last != nil && last.at.Equal(now) {
		return last.pattern
	}
	var p names.Pattern
	if text, err := resolveDate(d.text, now); err == nil {
		p, _ = names.ParsePattern(text) // an unreadable one matches nothing
	}
	d.last.Store(&resolvedDate{at: now, pattern: p})
	return p
}

// boundPattern is an index pattern of one principal.
type boundPattern struct {
	pattern names.Pattern
	date    *datePattern // instead of pattern
	// unknown tells that a variable has no value: pattern is the widest that it could
	// be. Such a pattern grants nothing, and what an entry with rules might cover by it
	// shows nothing.
	unknown bool
}

// bind renders p for who. A value that can't be part of a name gives a pattern that
// matches nothing.
func (p indexPattern) bind(who *ask.Principal) boundPattern {
	switch {
	case p.date != "":
		return boundPattern{date: &datePattern{text: p.date}}
	case p.template == nil:
		return boundPattern{pattern: p.static}
	}
	pattern, err := p.template.renderPattern(valuesOf(who))
	switch {
	case err == nil:
		return boundPattern{pattern: pattern}
	case errors.Is(err, errNoName):
		return boundPattern{}
	}
	return boundPattern{pattern: p.template.wildcarded(), unknown: true}
}

// at returns the pattern at a time.
func (b *boundPattern) at(now time.Time) names.Pattern {
	if b.date != nil {
		return b.date.at(now)
	}
	return b.pattern
}
