package authz

import (
	"encoding/binary"
	"slices"
	"time"
)

// A coverage tells that an entry covers a name: the entry's number, doubled, and one
// more if that is not sure.
type coverage uint32

func sure(entry int) coverage   { return coverage(entry) << 1 }
func unsure(entry int) coverage { return coverage(entry)<<1 | 1 }
func (c coverage) entry() int   { return int(c >> 1) }
func (c coverage) unsure() bool { return c&1 != 0 }

// entryIndex finds the entries that cover a name, at a cost that does not depend
// on how many entries have names and prefixes.
type entryIndex struct {
	always   []coverage // by "*"
	exact    map[string][]coverage
	prefixes []prefixEntries // by length, shortest first
	rest     []entryPattern  // other globs, regular expressions, date math
}

type prefixEntries struct {
	length int
	texts  map[string][]coverage
}

type entryPattern struct {
	boundPattern
	coverage coverage
}

func newEntryIndex(entries []boundEntry) *entryIndex {
	x := &entryIndex{exact: make(map[string][]coverage)}
	lengths := make(map[int]map[string][]coverage)
	for i := range entries {
		for _, p := range entries[i].patterns {
			c := sure(i)
			if p.unknown {
				c = unsure(i)
			}
			name, exact := p.pattern.IsExact()
			prefix, isPrefix := prefixOf(p.pattern)
			switch {
			case p.date != nil:
				x.rest = append(x.rest, entryPattern{p, c})
			case p.pattern.IsNothing():
			case p.pattern.IsAll():
				x.always = append(x.always, c)
			case exact:
				x.exact[name] = append(x.exact[name], c)
			case isPrefix:
				texts := lengths[len(prefix)]
				if texts == nil {
					texts = make(map[string][]coverage)
					lengths[len(prefix)] = texts
				}
				texts[prefix] = append(texts[prefix], c)
			default:
				x.rest = append(x.rest, entryPattern{p, c})
			}
		}
	}
	for length, texts := range lengths {
		x.prefixes = append(x.prefixes, prefixEntries{length, texts})
	}
	slices.SortFunc(x.prefixes, func(a, b prefixEntries) int { return a.length - b.length })
	return x
}

// appendCovering appends the entries that cover one name, with repeats.
func (x *entryIndex) appendCovering(dst []coverage, name string, now time.Time) []coverage {
	dst = append(dst, x.always...)
	dst = append(dst, x.exact[name]...)
	for i := range x.prefixes {
		n := x.prefixes[i].length
		if n > len(name) {
			break
		}
		dst = append(dst, x.prefixes[i].texts[name[:n]]...)
	}
	for i := range x.rest {
		matched, sure := x.rest[i].at(now).Try(name)
		switch {
		case matched:
			dst = append(dst, x.rest[i].coverage)
		case !sure: // the expression ran out of time: it may match
			dst = append(dst, unsure(x.rest[i].coverage.entry()))
		}
	}
	return dst
}

// appendIndex appends the entries that cover an index: by its name, an alias, or
// its stream. They are sorted, each once, and sure if one of the ways is.
func (x *entryIndex) appendIndex(dst []coverage, c Cluster, index string, now time.Time) []coverage {
	dst = x.appendOwners(dst, c, index, now)
	slices.Sort(dst)
	return slices.CompactFunc(dst, func(a, b coverage) bool { return a.entry() == b.entry() }) // sure comes first
}

func (x *entryIndex) appendOwners(dst []coverage, c Cluster, name string, now time.Time) []coverage {
	dst = x.appendCovering(dst, name, now)
	for _, alias := range c.Aliases(name) {
		dst = x.appendCovering(dst, alias, now)
	}
	if stream := c.Stream(name); stream != "" && stream != name {
		dst = x.appendOwners(dst, c, stream, now)
	}
	return dst
}

// appendKey appends a text that is the same for the same coverages only.
func appendKey(dst []byte, list []coverage) []byte {
	for _, c := range list {
		dst = binary.BigEndian.AppendUint32(dst, uint32(c))
	}
	return dst
}
