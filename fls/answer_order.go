package fls

import (
	"bytes"
	"slices"
)

// member is a member of an object that was kept: its key as it is written, and where it
// stands in the result.
type member struct {
	node     *node
	key      []byte
	from, to int
}

// arrangement is an order in which the members of some object came, and the order in
// which they are to be printed. Documents of an index have much the same keys in much
// the same order.
type arrangement struct {
	came   []*node
	sorted []int32 // places in came
}

func (a *arrangement) fits(members []member) bool {
	if a == nil || len(a.came) != len(members) {
		return false
	}
	for i := range members {
		if a.came[i] != members[i].node {
			return false
		}
	}
	return true
}

// arrange returns the order of members by their keys.
func (n *node) arrange(members []member) *arrangement {
	if a := n.arranged.Load(); a.fits(members) {
		return a
	}
	a := &arrangement{came: make([]*node, len(members)), sorted: make([]int32, len(members))}
	plain := true // every node is spelled as it mostly is, and stays
	for i, m := range members {
		a.came[i], a.sorted[i] = m.node, int32(i) //nolint:gosec // G115: an answer has less than 2 GiB
		plain = plain && m.node.kept && len(m.key) <= len(m.node.lexeme) && bytes.HasPrefix(m.node.lexeme, m.key)
	}
	slices.SortStableFunc(a.sorted, func(x, y int32) int { return bytes.Compare(members[x].key, members[y].key) })
	if plain && len(members) <= maxArranged {
		n.arranged.Store(a)
	}
	return a
}

// maxArranged bounds the members of an order that is remembered.
const maxArranged = 256

// out returns where src[i] stands in the result. It is told while nothing behind i is
// copied or cut.
func (f *filter) out(i int) int { return len(f.dst) + i - f.copied }

// sort puts the members of the object at n that ends at src[end] into the order of their
// keys. The clusters read a document that they filter into a hash table and print it in
// the order of that: it depends on the keys that were there, hidden ones among them.
func (f *filter) sort(n *node, end int, members []member) {
	if len(members) < 2 {
		return
	}
	order := n.arrange(members).sorted
	if slices.IsSorted(order) {
		return
	}
	f.cut(end, end) // from here on all of it stands in dst
	from, to := members[0].from, members[len(members)-1].to
	f.room = append(f.room[:0], f.dst[from:to]...)
	dst := f.dst[:from]
	for i, place := range order {
		if i > 0 { // what stands between two members stays where it is
			dst = append(dst, f.room[members[i-1].to-from:members[i].from-from]...)
		}
		m := &members[place]
		dst = append(dst, f.room[m.from-from:m.to-from]...)
	}
	if len(dst) != to {
		panic("BUG: sorting changed the length of an object")
	}
}
