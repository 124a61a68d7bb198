package fls

import "guard/internal/esjson"

// Answer filters answers that carry documents: a second barrier behind the request
// that asked for visible fields only. For every answer:
//
//   - the result is valid JSON, and holds no value at a hidden path;
//   - what is kept keeps its bytes and its order;
//   - filtering the result again changes nothing;
//   - what is not understood (an unknown key beside the documents, an index that
//     was not asked for) is an error, never passed on.
//
// Each hit is judged by its own "_index". All methods append to dst and return it;
// after an error they return nil and what was appended is to be thrown away. The
// result does not alias src. Nothing is allocated if dst is large enough.
type Answer struct {
	// Visible returns what may be shown of an index, nil if the request was not
	// allowed to reach it. index holds only during the call.
	Visible func(index []byte) *Projection
	// Default is used for hits that do not say their index (filter_path can take it
	// out): only to be set where all indices of the request share a projection.
	Default *Projection
	// Explanation lets score explanations pass. They name the clauses that ran, an
	// added filter among them.
	Explanation bool
}

func (a *Answer) filter(dst, src []byte) filter { return filter{Answer: a, src: src, dst: dst} }

// AppendSearch filters the answer of a search, a scroll or one slot of a multi-search.
func (a *Answer) AppendSearch(dst, src []byte) ([]byte, error) {
	f := a.filter(dst, src)
	end, _, err := f.search(esjson.SkipSpace(src, 0))
	return f.finish(end, err)
}

// AppendMultiSearch filters the answer of a multi-search.
func (a *Answer) AppendMultiSearch(dst, src []byte) ([]byte, error) {
	f := a.filter(dst, src)
	end, _, err := f.object(esjson.SkipSpace(src, 0), func(key []byte, i int) (int, bool, error) {
		switch string(key) {
		case "responses":
			end, _, err := f.array(i, func(_ []byte, i int) (int, bool, error) { return f.search(i) })
			return end, true, err
		case "took", "error", "status":
			end, err := f.skip(i)
			return end, true, err
		}
		return i, false, fault(i, "found unknown key %s in a multi-search", quote(key))
	})
	return f.finish(end, err)
}

// AppendGet filters the answer of a get by id.
func (a *Answer) AppendGet(dst, src []byte) ([]byte, error) {
	f := a.filter(dst, src)
	end, _, err := f.oneHit(esjson.SkipSpace(src, 0), f.getMember)
	return f.finish(end, err)
}

// AppendMultiGet filters the answer of a multi-get.
func (a *Answer) AppendMultiGet(dst, src []byte) ([]byte, error) {
	f := a.filter(dst, src)
	end, _, err := f.object(esjson.SkipSpace(src, 0), func(key []byte, i int) (int, bool, error) {
		switch string(key) {
		case "docs":
			end, _, err := f.array(i, func(_ []byte, i int) (int, bool, error) { return f.oneHit(i, f.getMember) })
			return end, true, err
		case "error", "status":
			end, err := f.skip(i)
			return end, true, err
		}
		return i, false, fault(i, "found unknown key %s in a multi-get", quote(key))
	})
	return f.finish(end, err)
}

// AppendSource filters a bare document, as the source endpoint answers it.
func (a *Answer) AppendSource(dst, src []byte, p *Projection) ([]byte, error) {
	f := a.filter(dst, src)
	f.hit.projection = p
	end, _, err := f.hitSource(esjson.SkipSpace(src, 0))
	return f.finish(end, err)
}

// getMember passes over one member of a get answer: a hit, or why there is none.
func (f *filter) getMember(key []byte, i int) (end int, keep bool, err error) {
	switch string(key) {
	case "found", "error", "status":
		end, err = f.skip(i)
		return end, true, err
	}
	return f.hitMember(key, i)
}

// search passes over one search answer. The list of keys is closed; "profile" is
// not in it, since it prints the queries that ran.
func (f *filter) search(i int) (end int, keep bool, err error) {
	end, _, err = f.object(i, func(key []byte, i int) (int, bool, error) {
		switch string(key) {
		case "hits":
			return f.hits(i)
		case "aggregations":
			return f.aggregations(i)
		case "suggest":
			return f.suggestions(i)
		case "took", "timed_out", "terminated_early", "num_reduce_phases", "phase_took", "_scroll_id", "pit_id",
			"_shards", "_clusters", "status", "error":
			end, err := f.skip(i)
			return end, true, err
		}
		return i, false, fault(i, "found unknown key %s in a search answer", quote(key))
	})
	return end, true, err
}
