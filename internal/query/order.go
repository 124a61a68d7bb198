package query

import (
	"fmt"
	"slices"
	"strings"

	"guard/internal/esjson"
)

// Documents that nothing else tells apart come in the order in which their shard keeps
// them: hits that nothing sorts, equal hits, what is looked at first, what is added up. That
// order can follow from values that a rule hides: of the fields by which an index is
// sorted, and of the newest document in a segment. Then hits are sorted, last of all, in the
// order in which they were written, and what depends on the order otherwise is refused.

// Order says what the order of documents in the shards of a search tells of what is hidden.
type Order uint8

// The orders. Each tells more than the one before it.
const (
	Untold      Order = iota // nothing
	OfSegments               // which segment holds the greatest value
	OfDocuments              // which document does
)

// Sorts says what is told of the sorts of hits. The zero value is: all.
type Sorts struct {
	// Cut tells that the hits of the search show the first Shown values of their sort.
	Cut   bool
	Shown int
	// Score, if it is set, is the score of each hit, and the greatest one: the cluster,
	// which was asked to sort, does not say it.
	Score string
	// Top and Inner are how many values other hits show: those of top_hits by the name of
	// the aggregation, and inner hits of a collapse by theirs. Hits without an entry show all.
	Top, Inner map[string]int
}

// Cuts reports whether less than all is told.
func (s *Sorts) Cuts() bool { return s.Cut || len(s.Top)+len(s.Inner) > 0 }

// decidesOrder reports whether a key of hits decides their order, or goes with it.
func decidesOrder(key string) bool {
	return key == "sort" || key == "track_scores" || key == "search_after"
}

// showsHits reports whether a search has hits: size in the URL wins over that in the body.
func showsHits(body esjson.Value, p *Params) bool {
	if size, inURL := find(p.Keep, "size"); inURL {
		return size.Value != "0"
	}
	size, given := body.Lookup("size")
	return !given || size.String() != "0"
}

// bodyInOrder prints what decides the order of the hits of a body.
func (k *walker) bodyInOrder(body esjson.Value, p *Params) error {
	ofBody, _ := body.Lookup("sort")
	ofURL, _ := p.over.Lookup("sort")
	scores, given := p.over.Lookup("track_scores")
	if !given {
		scores, _ = body.Lookup("track_scores")
	}
	score, flat := flatScore(k.asked)
	if _, picks := find(p.Keep, "filter_path"); picks {
		flat = false // the greatest score may be told without the hits that it is of
	}
	shown, err := k.inOrder(elements(ofBody, ofURL), scores, flat)
	if err != nil {
		return err
	}
	k.rules.Sorts.Cut, k.rules.Sorts.Shown = true, shown
	if shown == 0 && flat {
		k.rules.Sorts.Score = score
	}
	return k.after(body, shown)
}

// hitsInOrder prints what decides the order of the hits of a top_hits or of a collapse.
func (k *walker) hitsInOrder(v esjson.Value) error {
	sort, _ := v.Lookup("sort")
	scores, _ := v.Lookup("track_scores")
	shown, err := k.inOrder(elements(sort), scores, false)
	if err != nil {
		return err
	}
	of, name := &k.rules.Sorts.Inner, k.aggregated
	if k.topHits {
		of = &k.rules.Sorts.Top
	} else {
		named, _ := v.Lookup("name")
		name = named.String()
	}
	if *of == nil {
		*of = map[string]int{}
	}
	if other, taken := (*of)[name]; taken && other != shown {
		return refuse(v, name, "other hits of this name have another number of sorts; want different names%s", underOrder)
	}
	(*of)[name] = shown
	return nil
}

// inOrder prints the sort of hits: what the client asked for and, last, the order in which
// they were written. It returns how many values of it the client asked for. The scores of
// unsorted hits are told as before; flat says that they are all equal, so that sorting by
// them would cost for nothing.
func (k *walker) inOrder(list []esjson.Value, scores esjson.Value, flat bool) (shown int, err error) {
	k.w.Key("sort")
	k.w.BeginArray()
	switch {
	case !isUnsorted(list):
		if shown, err = k.sorts(list); err != nil {
			return 0, err
		}
	case !flat:
		k.w.Text(byScore)
	}
	k.w.Text(byWrite)
	k.w.EndArray()
	switch {
	case shown == 0 && !flat:
		k.w.Key("track_scores")
		k.w.Bool(true)
	case shown > 0 && !scores.Is(esjson.Invalid):
		k.w.Key("track_scores")
		return shown, k.scalar(scores, "track_scores", scalar)
	}
	return shown, nil
}

// sorts prints the elements of a sort and returns how many sorts they are.
func (k *walker) sorts(list []esjson.Value) (n int, err error) {
	if err := k.orderLast(list...); err != nil {
		return 0, err
	}
	for _, e := range list {
		if err := k.sort(e); err != nil {
			return 0, err
		}
		if n++; e.Is(esjson.Object) {
			n += e.Len() - 1 // one for each member
		}
	}
	return n, nil
}

// isUnsorted reports whether the clusters take a list of sorts for none: they leave out
// objects without a member, and the sort by score alone.
func isUnsorted(list []esjson.Value) bool {
	list = slices.DeleteFunc(slices.Clone(list), func(e esjson.Value) bool { return e.Is(esjson.Object) && e.Len() == 0 })
	if len(list) != 1 {
		return len(list) == 0
	}
	if list[0].Is(esjson.String) {
		return list[0].String() == byScore
	}
	order, ok := list[0].Lookup(byScore)
	if !ok || list[0].Len() != 1 {
		return false
	}
	if inner, given := order.Lookup("order"); given && order.Len() == 1 {
		order = inner
	}
	return order.Is(esjson.Object) && order.Len() == 0 || order.Is(esjson.String) && strings.EqualFold(order.String(), "desc")
}

// lastWrite is greater than the number of any document.
const lastWrite = "9223372036854775807"

// after prints search_after for a search with one more sort: behind all that are equal to
// the hit before, as the clusters have it.
func (k *walker) after(body esjson.Value, shown int) error {
	v, given := body.Lookup("search_after")
	if !given {
		return nil
	}
	if _, collapses := body.Lookup("collapse"); collapses {
		return refuse(v, "search_after", "the cluster takes it beside collapse only with a single sort%s", underOrder)
	}
	if !v.Is(esjson.Array) || v.Len() != shown || shown == 0 {
		why := fmt.Sprintf("want a list with a value for each sort; there are %d", shown)
		return &Refusal{Path: v.Path(), Construct: "search_after", Why: why, BadValue: true}
	}
	k.w.Key("search_after")
	k.w.BeginArray()
	for _, e := range v.Elements() {
		if err := k.scalar(e, "search_after", scalar); err != nil {
			return err
		}
	}
	k.w.Raw([]byte(lastWrite))
	k.w.EndArray()
	return nil
}

// flatScore returns the score of all hits of a query, if it is known to be the same.
func flatScore(q esjson.Value) (score string, flat bool) {
	if q.Is(esjson.Invalid) {
		return "1.0", true
	}
	for name, m := range q.Members() {
		switch _, boosted := m.Lookup("boost"); {
		case name == "match_all", name == "constant_score":
			return "1.0", !boosted
		case name == "bool":
			return "0.0", onlyFilters(m)
		}
	}
	return "", false
}

// onlyFilters reports whether a bool has clauses that filter, and nothing else.
func onlyFilters(v esjson.Value) bool {
	clauses := 0
	for key, m := range v.Members() {
		switch key {
		case "filter", "must_not", "mustNot":
			clauses += len(elements(m))
		case "_name":
		default:
			return false
		}
	}
	return clauses > 0
}
