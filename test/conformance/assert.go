package conformance

import (
	"fmt"
	"strings"
)

type (
	match    struct{ place }
	length   struct{ place }
	contains struct{ place }
	set      struct{ place }
	order    struct {
		place
		kind string
	}
	isTrue struct {
		path string
		want bool
	}
)

func (s match) run(x *execution) error {
	got, want, err := s.both(x)
	if err != nil {
		if want, e := plain(s.value, x.kept); e == nil && want == nil {
			return nil // no value is a null
		}
		return err
	}
	if pattern, ok := literal(want); ok {
		return matches(withoutSpace(pattern), text(got))
	}
	if !equal(got, want) {
		return fmt.Errorf("%s is %.200v; want %.200v", s.path, got, want)
	}
	return nil
}

// equal compares parsed JSON; numbers by their value.
func equal(a, b any) bool {
	if n, ok := number(a); ok {
		m, ok := number(b)
		return ok && (a == b || n == m)
	}
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, v := range a {
			if w, has := b[key]; !has || !equal(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	default:
		return a == b
	}
}

func (s length) run(x *execution) error {
	got, want, err := s.both(x)
	if err != nil {
		return err
	}
	n := -1
	switch v := got.(type) {
	case string:
		n = len([]rune(v))
	case []any:
		n = len(v)
	case map[string]any:
		n = len(v)
	}
	if text(n) != text(want) {
		return fmt.Errorf("%s has length %d; want %v", s.path, n, want)
	}
	return nil
}

func (s contains) run(x *execution) error {
	got, want, err := s.both(x)
	if err != nil {
		return err
	}
	switch got := got.(type) {
	case string:
		if strings.Contains(got, text(want)) {
			return nil
		}
	case []any:
		for _, item := range got {
			if covers(item, want) {
				return nil
			}
		}
	}
	return fmt.Errorf("%s is %.200v; want %v in it", s.path, got, want)
}

// covers reports whether v is want, or an object with at least the members of want.
func covers(v, want any) bool {
	wanted, ok := want.(map[string]any)
	if !ok {
		return equal(v, want)
	}
	have, _ := v.(map[string]any)
	for key, w := range wanted {
		if got, ok := have[key]; !ok || !equal(got, w) {
			return false
		}
	}
	return true
}

func (s set) run(x *execution) error {
	got, err := x.kept.at(x.body, s.path)
	if err != nil {
		return err
	}
	x.kept[s.value.Value] = got
	return nil
}

func (s order) run(x *execution) error {
	got, want, err := s.both(x)
	if err != nil {
		return err
	}
	a, ok := number(got)
	b, also := number(want)
	if !ok || !also {
		return fmt.Errorf("%s is %v; want a number %s %v", s.path, got, s.kind, want)
	}
	if holds := map[string]bool{"gt": a > b, "gte": a >= b, "lt": a < b, "lte": a <= b}[s.kind]; !holds {
		return fmt.Errorf("%s is %v; want %s %v", s.path, got, s.kind, want)
	}
	return nil
}

func (s isTrue) run(x *execution) error {
	got, err := x.kept.at(x.body, s.path)
	if truth := err == nil && isSet(got); truth != s.want {
		return fmt.Errorf("%s is %.200v; want it to be %v", s.path, got, s.want)
	}
	return nil
}

// isSet reports whether a value counts as true: neither null, "", "false", false nor 0.
func isSet(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case map[string]any, []any:
		return true
	default:
		t := text(v)
		return t != "" && t != "false" && t != "0"
	}
}
