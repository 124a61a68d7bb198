package fls

import "bytes"

// allSorts stands for all values of the sort of a hit.
const allSorts = -1

// mainSorts returns how many values of their sort the hits of the search show.
func (f *filter) mainSorts() int {
	if !f.Sorts.Cut {
		return allSorts
	}
	return f.Sorts.Shown
}

// topSorts returns that of top hits by the name of their aggregation, which has its type
// before it if the client asked for that.
func (f *filter) topSorts(name []byte) int {
	if len(f.Sorts.Top) == 0 {
		return allSorts
	}
	if n, ok := f.Sorts.Top[string(bytes.TrimPrefix(name, []byte("top_hits#")))]; ok {
		return n
	}
	return allSorts
}

// innerSorts returns that of the inner hits called name, if the hit around them is one of
// the search itself: a collapse has no others.
func (f *filter) innerSorts(main bool, name []byte) int {
	if n, ok := f.Sorts.Inner[string(name)]; ok && main {
		return n
	}
	return allSorts
}

// hitSort passes over the sort of a hit and keeps the values that are shown.
func (f *filter) hitSort(i int) (end int, keep bool, err error) {
	shown := f.hit.of.sorts
	if shown == allSorts {
		return f.keep(i)
	}
	at := 0
	end, _, err = f.array(i, func(i int) (int, bool, error) {
		end, err := f.skip(i)
		at++
		return end, at <= shown, err
	})
	return end, shown > 0, err
}

// score passes over the score of a hit, which is known if the cluster does not say it.
func (f *filter) score(i int, known string) (end int, keep bool, err error) {
	if end, err = f.skip(i); err == nil && known != "" && f.at(i) == 'n' {
		f.replace(i, end, []byte(known))
	}
	return end, true, err
}

// hitsFollow reports whether a list of hits that is not empty stands behind the value at i.
func (f *filter) hitsFollow(i int) bool {
	end, err := f.skip(i)
	if err != nil {
		return false
	}
	const enough = 64
	return bytes.HasPrefix(bytes.Map(noSpace, f.src[end:min(end+enough, len(f.src))]), []byte(`,"hits":[{`))
}

// noSpace drops what a pretty answer has between its tokens.
func noSpace(r rune) rune {
	switch r {
	case ' ', '\n', '\r', '\t':
		return -1
	}
	return r
}
