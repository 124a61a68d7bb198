package fls

import (
	"bytes"
	"fmt"

	"guard/internal/esjson"
)

// hitList passes over an array of hits.
func (f *filter) hitList(i int, of listOf) (end int, keep bool, err error) {
	return f.left(i)(f.array(i, func(i int) (int, bool, error) { return f.oneHit(i, of, (*filter).hitMember) }))
}

// oneHit passes over a hit or a document with member, which knows nothing of the hit yet.
func (f *filter) oneHit(i int, of listOf, member func(f *filter, key []byte, i int) (int, bool, error)) (end int, keep bool, err error) {
	outer, verdicts, nested := f.hit, f.verdicts, len(f.nested)
	f.hit = hit{projection: f.Default, of: of}
	end, keep, err = f.left(i)(f.object(i, func(key []byte, i int) (int, bool, error) { return member(f, key, i) }))
	f.hit, f.verdicts, f.nested = outer, verdicts, f.nested[:nested]
	return end, keep, err
}

// hitMember passes over one member of a hit. The list of keys is closed: what is
// not known may hold anything, so it is an error. So is an explanation, which names
// the clauses that ran, an added filter among them.
func (f *filter) hitMember(key []byte, i int) (end int, keep bool, err error) {
	switch string(key) {
	case "_index":
		return f.hitIndex(i)
	case "_nested":
		return f.hitNested(i)
	case "_source":
		return f.hitSource(i)
	case "fields", "highlight", "ignored_field_values":
		return f.hitNames(i)
	case "_ignored":
		return f.hitIgnored(i)
	case "inner_hits":
		main := f.hit.of.main
		return f.left(i)(f.object(i, func(key []byte, i int) (int, bool, error) { return f.hitsEnvelope(i, f.innerSorts(main, key)) }))
	case "sort":
		return f.hitSort(i)
	case "_score":
		return f.score(i, f.hit.of.score)
	case "_id", "_type", "_version", "_seq_no", "_primary_term", "_routing",
		"matched_queries", "_shard", "_node", "_rank":
		return f.keep(i)
	case "_parent", "_size", "_doc_count", "_tier": // fields of documents in some versions
		if err := f.judging(i); err != nil {
			return i, false, err
		}
		end, err = f.skip(i)
		return end, f.hit.projection.JudgeName(key) != Drop, err
	}
	return i, false, fault(i, "found unknown key %s in a hit", quote(key))
}

// hitIndex finds the projection of the hit's index. An index that the request was
// not allowed to reach must not be in the answer at all.
func (f *filter) hitIndex(i int) (end int, keep bool, err error) {
	name, end, err := f.text(i)
	if err != nil {
		return end, false, err
	}
	if f.hit.judged {
		return i, false, fault(i, "found the index of a hit behind its fields")
	}
	if f.projected == nil || !bytes.Equal(name, f.index) {
		p := f.Visible(name)
		if p == nil {
			return i, false, &AnswerError{Offset: i, Msg: fmt.Sprintf("found a hit of index %s, which was not asked for", quote(name)), Err: ErrOtherIndex}
		}
		f.index, f.projected = append(f.index[:0], name...), p
	}
	f.hit.projection = f.projected
	return end, true, nil
}

// judging returns an error unless it is known whose fields are judged; from here on
// that cannot change.
func (f *filter) judging(i int) error {
	if f.hit.projection == nil {
		return fault(i, "found fields of a hit before its index")
	}
	f.hit.judged = true
	return nil
}

// hitNested reads which nested object the hit is, {"field":…,"offset":…,
// "_nested":{…}}; inner names are relative. Its source starts there.
func (f *filter) hitNested(i int) (end int, keep bool, err error) {
	if f.hit.judged {
		return i, false, fault(i, "found the nested path of a hit behind its fields")
	}
	from := len(f.nested)
	end, err = f.nestedPath(i, from)
	f.hit.nested = f.nested[from:]
	return end, true, err
}

// nestedPath appends the path to f.nested[from:].
func (f *filter) nestedPath(i, from int) (end int, err error) {
	inner := 0
	end, _, err = f.object(i, func(key []byte, i int) (int, bool, error) {
		switch string(key) {
		case "field":
			if inner > 0 {
				return i, false, fault(i, "found a nested path behind an inner one")
			}
			name, end, err := f.text(i)
			if len(f.nested) > from {
				f.nested = append(f.nested, '.')
			}
			f.nested = append(f.nested, name...)
			return end, true, err
		case "offset":
			return f.keep(i)
		case "_nested":
			inner++
			end, err := f.nestedPath(i, from)
			return end, true, err
		}
		return i, false, fault(i, "found unknown key %s in a nested path", quote(key))
	})
	return end, err
}

// hitSource passes over a document. The object itself stays, even if empty.
func (f *filter) hitSource(i int) (end int, keep bool, err error) {
	if err := f.judging(i); err != nil {
		return i, false, err
	}
	if f.at(i) == 'n' || f.hit.projection.everything { // null: the index keeps no source
		return f.keep(i)
	}
	p := f.hit.projection
	f.verdicts, f.sparse = &p.source, !f.KeepEmpty
	at := &p.source.root
	if len(f.hit.nested) > 0 {
		at = p.source.at(p, at, f.hit.nested, f.hit.nested)
	}
	end, _, err = f.members(i, at)
	return end, true, err
}

// hitNames passes over an object whose keys are full names of fields.
func (f *filter) hitNames(i int) (end int, keep bool, err error) {
	if err := f.judging(i); err != nil {
		return i, false, err
	}
	if f.hit.projection.everything {
		return f.keep(i)
	}
	// The clusters list no field without values, at any depth.
	f.verdicts, f.sparse = &f.hit.projection.named, true
	return f.left(i)(f.members(i, &f.verdicts.root))
}

// left tells of the object or array at i, after a pass over it, that it is kept unless the
// pass took out all that it held. The clusters leave out what filter_path leaves empty, so
// what is emptied here has to go as well, with what is around it: there may be nothing in
// it but what is hidden.
func (f *filter) left(i int) func(end, kept int, err error) (int, bool, error) {
	return func(end, kept int, err error) (int, bool, error) {
		return end, kept > 0 || err == nil && f.empty(i), err
	}
}

// empty reports whether the object or array at i holds nothing: what the filter has
// emptied goes as a whole, since an empty one tells that something was there.
func (f *filter) empty(i int) bool {
	c := f.at(esjson.SkipSpace(f.src, i+1))
	return c == '}' || c == ']'
}

// hitIgnored passes over the names of fields whose values were malformed.
func (f *filter) hitIgnored(i int) (end int, keep bool, err error) {
	if err := f.judging(i); err != nil {
		return i, false, err
	}
	shown := func(i int) (int, bool, error) {
		name, end, err := f.text(i)
		if err != nil && f.at(i) == '"' { // half of a surrogate pair: no name that can be judged
			end, err = f.skip(i)
			return end, false, err
		}
		return end, err == nil && f.hit.projection.JudgeName(name) != Drop, err
	}
	if f.at(i) == '"' {
		return shown(i)
	}
	return f.left(i)(f.array(i, shown))
}
