package authz

import (
	"slices"
	"strings"

	"guard/internal/names"
)

// nameSet is a list of patterns of which one is enough, laid out so that asking
// costs the same for one pattern and for thousands of names and prefixes.
type nameSet struct {
	all      bool
	exact    map[string]struct{}
	prefixes []prefixSet     // by length, shortest first
	rest     []names.Pattern // other globs and regular expressions
	list     []names.Pattern // all, for Covers
}

// prefixSet holds the prefixes of one length.
type prefixSet struct {
	length int
	texts  map[string]struct{}
}

func newNameSet(list []names.Pattern) nameSet {
	s := nameSet{exact: make(map[string]struct{})}
	lengths := make(map[int]map[string]struct{})
	for _, p := range list {
		name, exact := p.IsExact()
		prefix, isPrefix := prefixOf(p)
		switch {
		case p.IsNothing():
			continue
		case p.IsAll():
			s.all = true
		case exact:
			s.exact[name] = struct{}{}
		case isPrefix:
			if lengths[len(prefix)] == nil {
				lengths[len(prefix)] = make(map[string]struct{})
			}
			lengths[len(prefix)][prefix] = struct{}{}
		default:
			s.rest = append(s.rest, p)
		}
		s.list = append(s.list, p)
	}
	for length, texts := range lengths {
		s.prefixes = append(s.prefixes, prefixSet{length, texts})
	}
	slices.SortFunc(s.prefixes, func(a, b prefixSet) int { return a.length - b.length })
	return s
}

// prefixOf returns what stands before the '*' of a pattern such as "logs-*".
func prefixOf(p names.Pattern) (string, bool) {
	prefix, ok := strings.CutSuffix(p.String(), "*")
	return prefix, ok && !p.IsRegex() && !strings.ContainsAny(prefix, "*?")
}

func (s *nameSet) empty() bool { return len(s.list) == 0 }

func (s *nameSet) match(name string) bool {
	if s.all {
		return true
	}
	if _, ok := s.exact[name]; ok {
		return true
	}
	if s.hasPrefix(name) {
		return true
	}
	for i := range s.rest {
		if s.rest[i].Match(name) {
			return true
		}
	}
	return false
}

// hasPrefix reports whether text begins with one of the prefixes.
func (s *nameSet) hasPrefix(text string) bool {
	for i := range s.prefixes {
		n := s.prefixes[i].length
		if n > len(text) {
			break
		}
		if _, ok := s.prefixes[i].texts[text[:n]]; ok {
			return true
		}
	}
	return false
}

// covers reports whether a single pattern of s covers q.
func (s *nameSet) covers(q names.Pattern) bool {
	name, exact := q.IsExact()
	switch {
	case s.all && !q.IsNothing():
		return true
	case exact && s.match(name):
		return true
	case exact || q.IsRegex() || q.IsNothing():
		return false
	}
	// What q's names have in common is what stands before its first wildcard.
	if before := q.String()[:strings.IndexAny(q.String(), "*?")]; s.hasPrefix(before) {
		return true
	}
	return slices.ContainsFunc(s.rest, func(p names.Pattern) bool { return p.Covers(q) })
}
