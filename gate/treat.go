package gate

import (
	"bytes"
	"fmt"
	"slices"

	"guard/fls"
	"guard/internal/esjson"
	"guard/internal/query"
)

// treatSearch returns how the answer of a search under b is treated; nil if nothing
// binds it.
func (b *binding) treatSearch(form searchForm) Treatment {
	switch {
	case b.free() && b.checked && form.on == query.Search:
		return hitsTreatment{b.answer()}
	case b.free():
		return nil
	case form.on == query.Count:
		return countTreatment{told: b.told()}
	}
	answer := b.answer()
	if total, sorts := b.rules.Total, b.rules.Sorts; total.Cut || sorts.Cuts() {
		cut := *answer
		cut.CutTotal, cut.TotalMost, cut.Sorts = total.Cut, total.Most, sorts
		answer = &cut
	} else if b.found != nil && b.rules.Replaced == nil {
		return b.found
	}
	return searchTreatment{answer: answer, told: b.told()}
}

// answer returns the filter for answers that carry documents: each by its index.
func (b *binding) answer() *fls.Answer {
	if b.hits != nil {
		return b.hits
	}
	return &fls.Answer{Visible: b.visible, Default: b.single(), KeepEmpty: b.narrowed}
}

// everything is shared: it keeps no state.
var everything = fls.ShowEverything()

// visible returns what may be shown of an index; nil if the request was not allowed
// to reach it.
func (b *binding) visible(index []byte) *fls.Projection {
	if v := b.views[string(index)]; v != nil {
		return v.Projection()
	}
	if b.views == nil && b.reaches(string(index)) {
		return everything
	}
	return nil
}

// reaches reports whether index is among those that were decided.
func (b *binding) reaches(index string) bool {
	_, ok := slices.BinarySearch(b.indices, index)
	return ok
}

// single returns the projection that all indices share, or nil.
func (b *binding) single() *fls.Projection {
	if b.views == nil {
		if len(b.indices) > 0 {
			return everything
		}
		return nil
	}
	var one *fls.View
	for _, v := range b.views {
		if one != nil && v != one {
			return nil
		}
		one = v
	}
	if one == nil {
		return nil
	}
	return one.Projection()
}

// hitsTreatment passes on an answer that holds no hit of an index that was not decided.
type hitsTreatment struct{ answer *fls.Answer }

// Treat looks at the hits.
func (t hitsTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 {
		return a, nil
	}
	_, _, err := t.answer.Search(a.Body)
	return a, err
}

// searchTreatment filters a search answer hit by hit.
type searchTreatment struct {
	answer *fls.Answer
	told   told
}

// Treat filters the hits; an error of the cluster keeps what the user may know of it.
func (t searchTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 {
		return t.told.error(a)
	}
	body, failures, err := t.answer.Search(a.Body)
	if err != nil {
		return Answer{}, err
	}
	a.Body = hideSkipped(body)
	if !failures {
		return a, nil
	}
	return t.told.failures(a)
}

// countTreatment passes a count on, without what failures tell of the filter.
type countTreatment struct{ told told }

// countMembers are those of a count.
var countMembers = []string{"count", "_shards", "terminated_early"}

// Treat cleans errors and failures of shards.
func (t countTreatment) Treat(a Answer) (Answer, error) {
	if a.Status >= 400 {
		return t.told.error(a)
	}
	a.Body = hideSkipped(a.Body)
	var tape esjson.Tape
	v, err := parseAnswer(&tape, a)
	if err != nil {
		return Answer{}, err
	}
	if !v.Is(esjson.Object) {
		return Answer{}, fmt.Errorf("cannot read the cluster's answer: found %s, want an object", v.Kind())
	}
	for key, m := range v.Members() { // filter_path may have left out any
		if !slices.Contains(countMembers, key) || key == "count" && !m.Is(esjson.Number) {
			return Answer{}, fmt.Errorf("cannot read the cluster's answer: %q has no place in a count", key)
		}
	}
	if !bytes.Contains(a.Body, []byte(`"failures"`)) {
		return a, nil
	}
	c := t.told.cleaner()
	a.Body = c.print(v, len(a.Body))
	return t.told.restored(a), nil
}

func (t searchTreatment) tells() told { return t.told }

// teller is a treatment that knows what may be told of an error.
type teller interface{ tells() told }

// told is what may be told of a search that went wrong.
type told struct {
	filter   query.Filter
	replaced *query.Names // nil if no name could be
}

func (b *binding) told() told { return told{filter: b.rules.Filter, replaced: b.rules.Replaced} }

// error keeps of an error what the user may know, in the user's own words; beside are the
// members that it may have with it.
func (t told) error(a Answer, beside ...string) (Answer, error) {
	a, err := cleanErrorUnder(a, t.filter, beside...)
	return t.restored(a), err
}

// restored puts the client's names back where the cluster names their stand-ins.
func (t told) restored(a Answer) Answer {
	if t.replaced != nil && t.replaced.Len() > 0 {
		a.Body = t.replaced.AppendRestored(make([]byte, 0, len(a.Body)), a.Body)
	}
	return a
}

// failures rewrites an answer that lists failures of shards, which can print the query
// that failed, an added filter among it.
func (t told) failures(a Answer) (Answer, error) {
	a, err := cleanReasons(a, t.cleaner())
	return t.restored(a), err
}

func (t told) cleaner() cleaner { return cleaner{secrets: filterTexts(t.filter)} }

// failure rewrites what is said of failures alone.
func (t told) failure(v esjson.Value) []byte {
	c := cleaner{secrets: filterTexts(t.filter)}
	c.value(v, true)
	return t.restored(Answer{Body: c.w.Bytes()}).Body
}
