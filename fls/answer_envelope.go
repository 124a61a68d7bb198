package fls

import (
	"bytes"
	"fmt"
	"strconv"
)

// The envelopes around hits. Their lists of keys are closed.

// search passes over one search answer. "profile" is not in the list, since it
// prints the queries that ran.
func (f *filter) search(i int) (end int, keep bool, err error) {
	end, _, err = f.object(i, func(key []byte, i int) (int, bool, error) {
		switch string(key) {
		case "hits":
			return f.hits(i, listOf{cutsTotal: f.CutTotal, main: true, sorts: f.mainSorts(), score: f.Sorts.Score})
		case "aggregations":
			return f.aggregations(i, allSorts, allSorts)
		case "suggest":
			return f.suggestions(i)
		case "_shards", "_clusters":
			return f.counts(i)
		case "error":
			f.failures = true
			return f.keep(i)
		case "terminated_early":
			// No search that is filtered is asked to end early. OpenSearch 3 says so of shards
			// that could count hits by their statistics, which hidden documents and nested
			// fields decide (measured on 3.4).
			end, err := f.skip(i)
			return end, false, err
		case "took", "timed_out", "num_reduce_phases", "phase_took", "_scroll_id", "pit_id", "status":
			return f.keep(i)
		}
		return i, false, fault(i, "found unknown key %s in a search answer", quote(key))
	})
	return end, true, err
}

// counts passes over how many shards or clusters took part. Whatever is no number
// there is about those that failed.
func (f *filter) counts(i int) (end int, keep bool, err error) {
	end, _, err = f.object(i, func(_ []byte, i int) (int, bool, error) {
		if c := f.at(i); c < '0' || c > '9' {
			f.failures = true
		}
		return f.keep(i)
	})
	return end, true, err
}

// getDocument passes over the answer of a get: a hit, or why there is none.
func (f *filter) getDocument(i int) (end int, keep bool, err error) {
	return f.oneHit(i, listOf{sorts: allSorts}, (*filter).getMember)
}

func (f *filter) getMember(key []byte, i int) (end int, keep bool, err error) {
	switch string(key) {
	case "found", "error", "status":
		return f.keep(i)
	}
	return f.hitMember(key, i)
}

// hitsEnvelope passes over {"hits":{"total":…,"max_score":…,"hits":[…]}}, whose hits show
// so many values of their sort.
func (f *filter) hitsEnvelope(i, sorts int) (end int, keep bool, err error) {
	return f.left(i)(f.object(i, func(key []byte, i int) (int, bool, error) {
		if string(key) != "hits" {
			return i, false, fault(i, "found unknown key %s around hits", quote(key))
		}
		return f.hits(i, listOf{sorts: sorts})
	}))
}

// listOf says what is shown of a list of hits.
type listOf struct {
	cutsTotal bool
	main      bool   // the hits are those of the search itself
	sorts     int    // so many values of the sort of a hit, or allSorts
	score     string // see query.Sorts
}

// hits passes over {"total":…,"max_score":…,"hits":[…]}.
func (f *filter) hits(i int, of listOf) (end int, keep bool, err error) {
	some := false
	return f.left(i)(f.object(i, func(key []byte, i int) (int, bool, error) {
		switch string(key) {
		case "hits":
			return f.hitList(i, of)
		case "total":
			end, err := f.skip(i)
			some = err == nil && bytes.ContainsAny(f.src[i:end], "123456789")
			if of.cutsTotal {
				return f.cutTotal(i)
			}
			return end, true, err
		case "max_score":
			if of.score != "" && (some || f.hitsFollow(i)) {
				return f.score(i, of.score)
			}
			return f.keep(i)
		}
		return i, false, fault(i, "found unknown key %s around hits", quote(key))
	}))
}

// cutTotal passes over the total of the hits, {"value":…,"relation":"eq"} or a number,
// and tells no more of it than was asked. A number stands for a total that is not known
// as -1, as the clusters have it.
func (f *filter) cutTotal(i int) (end int, keep bool, err error) {
	if f.at(i) != '{' {
		if end, err = f.skip(i); err == nil && f.TotalMost < 0 {
			f.replace(i, end, []byte("-1"))
		}
		return end, true, err
	}
	over := false
	end, _, err = f.object(i, func(key []byte, i int) (int, bool, error) {
		end, err := f.skip(i)
		if n, bad := strconv.ParseInt(string(f.src[i:min(end, len(f.src))]), 10, 64); string(key) == "value" && err == nil && (bad != nil || n >= f.TotalMost) {
			over = true
		}
		return end, true, err
	})
	switch {
	case err != nil || f.TotalMost < 0:
		return end, false, err
	case over:
		f.replace(i, end, fmt.Appendf(nil, `{"value":%d,"relation":"gte"}`, f.TotalMost))
	}
	return end, true, nil
}

// aggregations passes over results of aggregations: what they count was decided
// with the request; only top hits hold documents, at any depth, always as an array
// called "hits". An array of that name which is something else is an error. Such hits stand
// in {name: {"hits": {"hits": […]}}}: around and here are how many values of their sort
// they show by the names of the object around the one at i, and of itself.
func (f *filter) aggregations(i, around, here int) (end int, keep bool, err error) {
	switch f.at(i) {
	case '{':
		return f.left(i)(f.object(i, func(key []byte, i int) (int, bool, error) {
			switch {
			case string(key) == "hits" && f.at(i) == '[':
				return f.hitList(i, listOf{sorts: around})
			case string(key) == "meta":
				return f.meta(i)
			}
			return f.aggregations(i, here, f.topSorts(key))
		}))
	case '[':
		return f.left(i)(f.array(i, func(i int) (int, bool, error) { return f.aggregations(i, allSorts, allSorts) }))
	default:
		return f.keep(i)
	}
}

// meta passes over what the client said of an aggregation. An empty one is left out: the
// clusters add it to an aggregation by queries if one of them fits no document of a shard,
// as a range of dates beyond all of them, and hidden documents decide that.
func (f *filter) meta(i int) (end int, keep bool, err error) {
	end, err = f.skip(i)
	return end, f.at(i) != '{' || !f.empty(i), err
}

// suggestions passes over {name: [{"text":…,"options":[…]}]}; the options of a
// completion are hits.
func (f *filter) suggestions(i int) (end int, keep bool, err error) {
	entry := func(key []byte, i int) (int, bool, error) {
		switch string(key) {
		case "text", "offset", "length":
			return f.keep(i)
		case "options":
			return f.left(i)(f.array(i, func(i int) (int, bool, error) { return f.oneHit(i, listOf{sorts: allSorts}, (*filter).optionMember) }))
		}
		return i, false, fault(i, "found unknown key %s in a suggestion", quote(key))
	}
	return f.left(i)(f.object(i, func(_ []byte, i int) (int, bool, error) {
		return f.left(i)(f.array(i, func(i int) (int, bool, error) { return f.left(i)(f.object(i, entry)) }))
	}))
}

func (f *filter) optionMember(key []byte, i int) (end int, keep bool, err error) {
	switch string(key) {
	case "text", "score", "freq", "highlighted", "collate_match", "contexts":
		return f.keep(i)
	}
	return f.hitMember(key, i)
}
