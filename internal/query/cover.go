package query

import (
	"slices"
	"strings"
)

// cover is a list of include patterns of a source, made to be asked of many others: what a
// question costs does not depend on how many patterns there are.
type cover struct {
	all   bool
	exact map[string]bool // the patterns as they are written
	heads []string        // what stands before the one '*' at an end, sorted; none begins with another
}

func coverOf(patterns []string) cover {
	c := cover{exact: make(map[string]bool, len(patterns))}
	for _, p := range patterns {
		c.all = c.all || p == "*"
		c.exact[p] = true
		if head, star := strings.CutSuffix(p, "*"); star && !isPattern(head) {
			c.heads = append(c.heads, head)
		}
	}
	slices.Sort(c.heads)
	kept := c.heads[:0]
	for _, head := range c.heads {
		if len(kept) == 0 || !strings.HasPrefix(head, kept[len(kept)-1]) {
			kept = append(kept, head)
		}
	}
	c.heads = kept
	return c
}

// covers reports whether one pattern of c lets through all that q does: q itself, a field
// around it, or a prefix. It says no where it is not sure.
func (c *cover) covers(q string) bool {
	if c.all || c.exact[q] {
		return true
	}
	for i := 0; i < len(q) && q[i] != '*'; i++ {
		if q[i] == '.' && c.exact[q[:i]] {
			return true
		}
	}
	at, found := slices.BinarySearch(c.heads, q) // of all that sort before q only the last can begin it
	return found || at > 0 && strings.HasPrefix(q, c.heads[at-1])
}
