package worlds

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"guard/internal/names"
	"guard/test/naive"
)

// Print prints a question so that Read reads it.
func Print(c naive.Case) string {
	text, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		panic(fmt.Sprintf("BUG: a question has no JSON form: %v", err))
	}
	return string(text)
}

// Read reads what Print printed.
func Read(text []byte) (c naive.Case, err error) {
	if err = json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("cannot read a question: %w", err)
	}
	return c, nil
}

// Shrink makes a question smaller as long as it fails, by leaving things out one by one.
func Shrink(c naive.Case, fails func(naive.Case) bool) naive.Case {
	for {
		next, found := shrinkOnce(c, fails)
		if !found {
			return c
		}
		c = next
	}
}

func shrinkOnce(c naive.Case, fails func(naive.Case) bool) (naive.Case, bool) {
	for i := 0; ; i++ {
		small := clone(c)
		s := shrinker{left: i}
		s.leaveOut(&small)
		if !s.done {
			return c, false // there is no i-th thing to leave out
		}
		if fails(clone(small)) {
			return small, true
		}
	}
}

func clone(c naive.Case) naive.Case {
	out, err := Read([]byte(Print(c)))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return out
}

// shrinker leaves one thing out: the left-th of all that could be.
type shrinker struct {
	left int
	done bool
}

// now reports whether it is the turn of the next thing.
func (s *shrinker) now() bool {
	s.left--
	s.done = s.done || s.left == -1
	return s.left == -1
}

func (s *shrinker) leaveOut(c *naive.Case) {
	shrinkList(s, &c.Ask.Exprs, nil)
	if len(c.Ask.Privileges) > 1 {
		shrinkList(s, &c.Ask.Privileges, nil)
	}
	shrinkMap(s, c.Policy.Roles, func(r naive.Role) naive.Role {
		shrinkList(s, &r.Entries, s.entry)
		shrinkList(s, &r.Cluster, nil)
		return r
	})
	shrinkMap(s, c.Policy.Mappings, nil)
	shrinkMap(s, c.Policy.Groups, nil)
	shrinkMap(s, c.Who.Attributes, nil)
	shrinkList(s, &c.Who.BackendRoles, nil)
	shrinkList(s, &c.Who.OwnRoles, nil)
	shrinkList(s, &c.Policy.System, nil)
	shrinkList(s, &c.Policy.Protected, nil)
	s.world(&c.World)
	for _, flag := range []*bool{&c.Policy.Reduces, &c.Policy.ReducesToNil, &c.Policy.EmptyFrees, &c.Policy.SystemOpens, &c.Ask.Single, &c.Ask.Fixed, &c.Ask.Opts.IgnoreUnavailable, &c.Ask.Opts.IgnoreAliases, &c.Ask.Opts.IgnoreDataStreams} {
		s.off(flag)
	}
	for _, text := range []*string{&c.Policy.BackendRoles, &c.Who.Address} {
		s.empty(text)
	}
	if !c.Ask.Opts.AllowNoIndices && s.now() {
		c.Ask.Opts.AllowNoIndices = true
	}
	if c.Ask.Opts.Expand != names.ExpandOpen && s.now() {
		c.Ask.Opts.Expand = names.ExpandOpen
	}
	if !c.Ask.Now.Equal(Noon) && s.now() {
		c.Ask.Now = Noon
	}
}

func (s *shrinker) entry(e naive.Entry) naive.Entry {
	shrinkList(s, &e.Patterns, nil)
	shrinkList(s, &e.Actions, nil)
	shrinkList(s, &e.FLS, nil)
	shrinkList(s, &e.Masks, nil)
	s.empty(&e.DLS)
	return e
}

// world leaves out names. A stream goes before its indices, which are then indices like others.
func (s *shrinker) world(w *naive.World) {
	shrinkList(s, &w.Streams, func(st naive.Stream) naive.Stream {
		s.off(&st.Hidden)
		if len(st.Indices) > 1 {
			shrinkList(s, &st.Indices, nil)
		}
		return st
	})
	for i := range w.Indices {
		x := &w.Indices[i]
		s.off(&x.Closed)
		s.off(&x.Hidden)
		shrinkList(s, &x.Aliases, func(a naive.Alias) naive.Alias {
			s.off(&a.Hidden)
			s.empty(&a.Filter)
			s.empty(&a.Routing)
			return a
		})
	}
	for i := range w.Indices {
		inStream := slices.ContainsFunc(w.Streams, func(st naive.Stream) bool { return slices.Contains(st.Indices, w.Indices[i].Name) })
		if !inStream && s.now() {
			w.Indices = slices.Delete(w.Indices, i, i+1)
			return
		}
	}
}

func (s *shrinker) off(flag *bool) {
	if *flag && s.now() {
		*flag = false
	}
}

func (s *shrinker) empty(text *string) {
	if *text != "" && s.now() {
		*text = ""
	}
}

// shrinkList leaves out one element, or something of one.
func shrinkList[T any](s *shrinker, list *[]T, inside func(T) T) {
	for i := range *list {
		if s.now() {
			*list = slices.Delete(*list, i, i+1)
			return
		}
	}
	for i := range *list {
		if inside != nil {
			(*list)[i] = inside((*list)[i])
		}
	}
}

// shrinkMap is shrinkList for a map.
func shrinkMap[T any](s *shrinker, m map[string]T, inside func(T) T) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch {
		case s.now():
			delete(m, key)
		case inside != nil:
			m[key] = inside(m[key])
		}
	}
}
