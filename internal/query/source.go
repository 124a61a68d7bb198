package query

import (
	"slices"
	"strings"

	"guard/internal/esjson"
)

// sourceWish is what _source asks for.
type sourceWish struct {
	off                bool
	includes, excludes []string
}

// source prints _source, narrowed by the rules' patterns.
func (k *walker) source(v esjson.Value) error {
	wish, err := readSource(v)
	if err != nil {
		return err
	}
	if !k.narrowsSource() || wish.off {
		k.w.Value(v)
		return nil
	}
	return k.printSource(v, wish)
}

// addSource prints a _source option where the client gave none, unless there is
// none to show: with stored fields the cluster leaves it out unless it is listed.
func (k *walker) addSource(v, stored esjson.Value) error {
	if !k.narrowsSource() || !stored.Is(esjson.Invalid) && !lists(stored, "_source") {
		return nil
	}
	k.w.Key("_source")
	return k.printSource(v, sourceWish{})
}

func (k *walker) narrowsSource() bool {
	return k.fieldRule() && len(k.rules.SourceIncludes)+len(k.rules.SourceExcludes) > 0
}

func lists(v esjson.Value, name string) bool {
	if v.Is(esjson.String) {
		return v.String() == name
	}
	for _, e := range v.Elements() {
		if e.Is(esjson.String) && e.String() == name {
			return true
		}
	}
	return false
}

func (k *walker) printSource(v esjson.Value, wish sourceWish) error {
	includes := wish.includes
	if rule := k.rules.SourceIncludes; len(rule) > 0 {
		var err error
		if includes, err = k.common(v, includes, rule); err != nil {
			return err
		}
	}
	if err := k.grow(v, "_source", size(includes)+size(k.rules.SourceExcludes)); err != nil {
		return err
	}
	k.w.BeginObject()
	k.sourceList("includes", includes)
	k.sourceList("excludes", append(slices.Clip(wish.excludes), k.rules.SourceExcludes...))
	k.w.EndObject()
	return nil
}

func (k *walker) sourceList(key string, patterns []string) {
	if len(patterns) == 0 {
		return
	}
	k.w.Key(key)
	k.w.Texts(patterns)
}

// common returns patterns for what both asked and rule let through. Where two
// patterns only overlap, the visible fields that asked matches stand for the rest.
func (k *walker) common(v esjson.Value, asked, rule []string) ([]string, error) {
	if len(asked) == 0 {
		return rule, nil
	}
	var out, wider []string
	seen := map[string]bool{}
	add := func(p string) {
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	ruled, met := coverOf(rule), map[string]bool{}
	for _, a := range asked {
		switch {
		case met[a]:
		case isPattern(a) && len(a) > MaxName:
			return nil, k.countPattern(v, a)
		case len(a) > MaxName || strings.Count(a, ".") > MaxAbove: // such fields are hidden
		case ruled.covers(a):
			add(a)
		default:
			wider = append(wider, a)
		}
		met[a] = true
	}
	wide := coverOf(wider)
	for _, r := range rule {
		if wide.covers(r) {
			add(r)
		}
	}
	for _, a := range wider {
		if err := k.countPattern(v, a); err != nil {
			return nil, err
		}
		for _, p := range []string{a, a + ".*"} {
			names, _ := k.rules.Fields.Expand(p, Source)
			for _, n := range names {
				add(n)
			}
		}
	}
	if len(out) == 0 {
		add(k.standIn(asked[0])) // no list would mean everything
	}
	return out, nil
}

// readSource reads the forms of _source.
func readSource(v esjson.Value) (sourceWish, error) {
	switch v.Kind() {
	case esjson.Bool:
		on, err := v.Bool()
		return sourceWish{off: !on}, err
	case esjson.String, esjson.Array:
		includes, err := readPatterns(v)
		return sourceWish{includes: includes}, err
	case esjson.Object:
		var wish sourceWish
		for key, m := range v.Members() {
			patterns, err := readPatterns(m)
			if err != nil {
				return wish, err
			}
			switch key {
			case "includes", "include":
				wish.includes = append(wish.includes, patterns...)
			case "excludes", "exclude":
				wish.excludes = append(wish.excludes, patterns...)
			default:
				return wish, refuse(m, key, "unknown key")
			}
		}
		return wish, nil
	default:
		return sourceWish{}, refuse(v, "_source", "found %s, want a boolean, patterns or an object with them", v.Kind())
	}
}

func readPatterns(v esjson.Value) ([]string, error) {
	if v.Is(esjson.String) {
		return []string{v.String()}, nil
	}
	if !v.Is(esjson.Array) {
		return nil, refuse(v, "_source", "found %s, want patterns of fields", v.Kind())
	}
	out := make([]string, 0, v.Len())
	for _, e := range v.Elements() {
		if !e.Is(esjson.String) {
			return nil, refuse(e, "_source", "found %s, want a pattern of fields", e.Kind())
		}
		out = append(out, e.String())
	}
	return out, nil
}
