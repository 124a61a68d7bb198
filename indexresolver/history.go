package indexresolver

import (
	"slices"
	"strings"
	"sync/atomic"

	"guard/internal/ask"
)

// A State knows in what it differs from those before it, so that what was concluded from
// one of them is kept as long as nothing has changed that it rests on.

// maxHistory is how many states a State looks back on, maxAffected how many names may
// differ between two of them: past that everything is concluded anew.
const (
	maxHistory  = 64
	maxAffected = 1024
)

// serials counts the states of this process. None has the number 0.
var serials atomic.Uint64

// change is the step from one state to the next.
type change struct {
	since    uint64   // serial of the former
	affected []string // names that may mean something else, sorted
}

// Serial tells s from all other states of this process.
func (s *State) Serial() uint64 { return s.serial }

// Unaffected reports whether s came from the state called since and all that any of the
// names means, for which concerns is true, is what it was: which of them exist, their
// kinds and facts, those of their members, and the aliases and the stream of each. False
// is also the answer where that is not known.
func (s *State) Unaffected(since uint64, concerns func(name string) bool) bool {
	if since == s.serial {
		return true
	}
	from := slices.IndexFunc(s.history, func(c change) bool { return c.since == since })
	if from < 0 {
		return false
	}
	for _, c := range s.history[from:] {
		if slices.ContainsFunc(c.affected, concerns) {
			return false
		}
	}
	return true
}

// follow numbers s and notes how it differs from prev.
func (s *State) follow(prev *State) {
	s.serial = serials.Add(1)
	if prev.Empty() || prev.ClusterUUID != s.ClusterUUID || prev.Engine != s.Engine {
		return
	}
	affected, ok := affected(prev, s)
	if !ok {
		return
	}
	past := prev.history[max(0, len(prev.history)-maxHistory+1):]
	s.history = append(slices.Clone(past), change{prev.serial, affected})
}

// affected returns the names whose meaning may differ between two states, if they are few.
func affected(prev, next *State) ([]string, bool) {
	changed, ok := changed(prev, next)
	if !ok {
		return nil, false
	}
	set := make(map[string]struct{}, 4*len(changed))
	for _, name := range changed {
		for _, s := range []*State{prev, next} {
			if e, ok := s.entries[name]; ok && !e.reach(set) {
				return nil, false
			}
		}
	}
	list := make([]string, 0, len(set))
	for name := range set {
		list = append(list, name)
	}
	slices.Sort(list)
	return list, true
}

// reach adds the names whose meaning rests on that of e: its own, those of the groups that
// it is in, and where it is a stream those of its indices, which are granted through it. It
// reports whether these are not too many.
func (e *entry) reach(set map[string]struct{}) bool {
	set[e.name] = struct{}{}
	if e.kind == ask.DataStream {
		for _, m := range e.members {
			m.reachGroups(set)
		}
	}
	e.reachGroups(set)
	return len(set) <= maxAffected
}

func (e *entry) reachGroups(set map[string]struct{}) {
	set[e.name] = struct{}{}
	if e.index != nil {
		for i := range e.index.Aliases {
			set[e.index.Aliases[i].Alias] = struct{}{}
		}
	}
	if e.stream != nil {
		set[e.stream.name] = struct{}{}
	}
}

// changed returns the names that only one of two states has, or that are not the same in
// both, if they are few.
func changed(prev, next *State) (list []string, ok bool) {
	a, b := prev.sorted, next.sorted
	for len(a)+len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = strings.Compare(a[0].name, b[0].name)
		}
		switch {
		case order < 0:
			list, a = append(list, a[0].name), a[1:]
		case order > 0:
			list, b = append(list, b[0].name), b[1:]
		default:
			if a[0] != b[0] && !a[0].same(b[0]) {
				list = append(list, a[0].name)
			}
			a, b = a[1:], b[1:]
		}
		if len(list) > maxAffected {
			return nil, false
		}
	}
	return list, true
}
