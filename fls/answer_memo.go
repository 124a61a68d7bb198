package fls

import (
	"maps"
	"sync"
	"sync/atomic"

	"guard/internal/esjson"
	"guard/internal/query"
)

// memo keeps the verdicts on paths. Reading takes no lock: the map that is read
// never changes, and is replaced by a larger one after enough misses.
type memo struct {
	root node // above all paths; has no path and no verdict
	read atomic.Pointer[map[string]*node]

	mu     sync.Mutex // guards fresh and misses
	fresh  map[string]*node
	misses int
}

// node is a path with its verdict. Documents of an index have much the same keys in
// much the same order, so a node remembers which key came next: a guess, right or
// wrong, that saves building the path and looking it up.
type node struct {
	parent  *node
	lexeme  []byte // how the member of parent is mostly spelled: "key":
	path    string
	verdict Verdict
	kept    bool // is in the memo; others are not to be remembered

	arranged atomic.Pointer[arrangement]

	first atomic.Pointer[node] // a member of this node
	next  atomic.Pointer[node] // a member of the same parent, or of another one
}

// guess returns the member of n that came after before (nil: the first) in some
// document, if there was one. The same path can be reached by other keys ("a" and
// "b.c", "a.b" and "c"), so what came next may be the member of another parent: that
// is no guess.
func (n *node) guess(before *node) *node {
	g := n.first.Load()
	if before != nil {
		g = before.next.Load()
	}
	if g == nil || g.parent != n {
		return nil
	}
	return g
}

// remember notes that m came after before.
func (n *node) remember(before, m *node) {
	switch {
	case !m.kept || m.parent != n:
	case before == nil:
		n.first.Store(m)
	case before.kept:
		before.next.Store(m)
	}
}

// A memo is bounded, since documents choose their keys: verdicts beyond the bounds
// are found anew each time.
const (
	maxMemo     = 8192
	maxMemoPath = 256
)

// Judging a path costs a try of each entry for each object around it. Paths beyond
// these bounds are hidden: the clusters index none deeper than 20 by default, so
// they are of objects that are not indexed.
const (
	maxPath  = query.MaxName
	maxAbove = query.MaxAbove
)

// isTooLong reports whether path is beyond the bounds.
func isTooLong[T []byte | string](path T) bool {
	if len(path) > maxPath {
		return true
	}
	dots := 0
	for i := range len(path) {
		if path[i] == '.' {
			dots++
		}
	}
	return dots > maxAbove
}

// at returns the node of path, reached from parent by key.
func (m *memo) at(p *Projection, parent *node, key, path []byte) *node {
	if n := m.lookup(path); n != nil {
		return n
	}
	n := &node{parent: parent, path: string(path)}
	if isTooLong(path) {
		return n
	}
	judged := 0
	if parent.verdict != Drop {
		judged = len(parent.path)
	}
	if m == &p.named {
		n.verdict = p.judgeName(n.path, judged)
	} else {
		n.verdict = p.judge(n.path, judged)
	}
	n.lexeme = append(esjson.AppendString(nil, string(key)), ':')
	m.put(n)
	return n
}

func (m *memo) lookup(path []byte) *node {
	known := m.read.Load()
	if known != nil {
		if n := (*known)[string(path)]; n != nil {
			return n
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.fresh[string(path)]
	if n != nil {
		if m.misses++; m.misses > len(*known)/8 {
			m.promote()
		}
	}
	return n
}

func (m *memo) put(n *node) {
	if len(n.path) > maxMemoPath {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := 0
	if p := m.read.Load(); p != nil {
		known = len(*p)
	}
	if known+len(m.fresh) >= maxMemo {
		return
	}
	if m.fresh == nil {
		m.fresh = map[string]*node{}
	}
	n.kept = true
	m.fresh[n.path] = n
	if len(m.fresh) > known/8 { // copy seldom once the map is large
		m.promote()
	}
}

// promote makes what is fresh readable without the lock.
func (m *memo) promote() {
	next := maps.Clone(m.fresh)
	if known := m.read.Load(); known != nil {
		maps.Copy(next, *known)
	}
	m.read.Store(&next)
	m.fresh, m.misses = nil, 0
}
