package fls

import (
	"sync"

	"guard/internal/esjson"
	"guard/internal/query"
)

// Answer filters answers that carry documents: a second barrier behind the request
// that asked for visible fields only. For every answer:
//
//   - the result is valid JSON, and holds no value at a hidden path;
//   - what is kept keeps its bytes, and its order but for the members of an object that
//     could hold hidden ones: these are sorted by their keys;
//   - filtering the result again changes nothing;
//   - what is not understood (an unknown key beside the documents, an index that
//     was not asked for) is an error, never passed on.
//
// Each hit is judged by its own "_index". All methods append to dst and return it;
// after an error they return nil and what was appended is to be thrown away. The
// result does not alias src, but where it is said. Nothing is allocated if dst is large
// enough.
type Answer struct {
	// Visible returns what may be shown of an index, nil if the request was not
	// allowed to reach it. index holds only during the call.
	Visible func(index []byte) *Projection
	// Default is used for hits that do not say their index (filter_path can take it
	// out): only to be set where all indices of the request share a projection.
	Default *Projection
	// KeepEmpty keeps the objects and arrays of a source that show nothing. It may be
	// set only where the cluster was asked to leave out all that is hidden: what is
	// emptied here would tell, beside what the client chose of the source, in which
	// documents something is hidden.
	KeepEmpty bool
	// CutTotal cuts the total of a search's hits to TotalMost, or leaves it out if that is
	// below 0: the client did not ask for more.
	CutTotal  bool
	TotalMost int64
	// Sorts says what is shown of the sorts of hits.
	Sorts query.Sorts
}

// filters keeps the small buffers of passes that have ended.
var filters = sync.Pool{New: func() any { return new(filter) }}

// What is kept is bounded: one odd answer must not pin memory.
const (
	maxPooled        = 16 << 10 // 16 KiB
	maxPooledMembers = 256
)

// pass makes one pass over src by run, which returns where the answer ends.
func (a *Answer) pass(dst, src []byte, run func(f *filter, i int) (end int, keep bool, err error)) ([]byte, error) {
	f := a.begin(dst, src)
	defer f.end()
	end, _, err := run(f, esjson.SkipSpace(src, 0))
	return f.finish(end, err)
}

func (a *Answer) begin(dst, src []byte) *filter {
	f := filters.Get().(*filter)
	f.Answer, f.src, f.dst = a, src, dst
	return f
}

// end keeps the buffers of f for the next pass.
func (f *filter) end() {
	if cap(f.path)+cap(f.key)+cap(f.nested)+cap(f.index)+cap(f.room) <= maxPooled && cap(f.order) <= maxPooledMembers {
		clear(f.order[:cap(f.order)]) // its keys hold the answer
		*f = filter{
			path: f.path[:0], key: f.key[:0], nested: f.nested[:0], index: f.index[:0],
			room: f.room[:0], order: f.order[:0],
		}
		filters.Put(f)
	}
}

// Search is AppendSearch for an answer that is most likely shown whole, because the
// cluster left out what is hidden: then body is src itself, and nothing is copied.
// failures reports whether the answer says why a part of it failed, in texts that may
// repeat the query that ran.
func (a *Answer) Search(src []byte) (body []byte, failures bool, err error) {
	f := a.begin(nil, src)
	defer f.end()
	f.shares = true
	end, _, err := f.search(esjson.SkipSpace(src, 0))
	body, err = f.finish(end, err)
	return body, f.failures, err
}

// AppendSearch filters the answer of a search, a scroll or one slot of a multi-search.
func (a *Answer) AppendSearch(dst, src []byte) ([]byte, error) {
	return a.pass(dst, src, (*filter).search)
}

// AppendGet filters the answer of a get by id.
func (a *Answer) AppendGet(dst, src []byte) ([]byte, error) {
	return a.pass(dst, src, (*filter).getDocument)
}
