package source

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"guard/indexresolver"
	"guard/internal/esjson"
)

// kept holds what is equal in many indices once: 100,000 indices of one template have one
// mapping. It belongs to one reading.
type kept struct {
	mappings map[indexresolver.MappingID][]byte // by the hash of each form that came
	texts    map[string]string
	filters  map[string][]byte
	tape     esjson.Tape
	canon    []byte
}

// newKept returns one that holds the mappings of old already; old may be nil.
func newKept(old *indexresolver.State) *kept {
	k := &kept{mappings: map[indexresolver.MappingID][]byte{}, texts: map[string]string{}, filters: map[string][]byte{}}
	if !old.Empty() {
		for id, raw := range old.Mappings() {
			k.mappings[id] = raw
		}
	}
	return k
}

// mappingLimits admit what a cluster admits.
var mappingLimits = esjson.Limits{MaxDepth: 1024, MaxTokens: 1 << 24, HalfPairs: true}

// mapping returns the canonical form of a mapping: clusters give its keys in any order, and
// not in the same one each time. What has none, for a half of a surrogate pair in a name of
// a field, stays as it is: it is that index's own matter.
func (k *kept) mapping(raw []byte) ([]byte, error) {
	id := indexresolver.MappingID(sha256.Sum256(raw))
	if m, ok := k.mappings[id]; ok {
		return m, nil
	}
	k.canon = k.canon[:0]
	if v, err := esjson.Parse(&k.tape, raw, mappingLimits); err == nil {
		k.canon = esjson.AppendCanonical(k.canon, v)
	} else if json.Valid(raw) {
		k.canon = append(k.canon, raw...)
	} else {
		return nil, errors.New("a mapping is no JSON")
	}
	printed := indexresolver.MappingID(sha256.Sum256(k.canon))
	m, ok := k.mappings[printed]
	if !ok {
		m = slices.Clone(k.canon)
		k.mappings[printed] = m
	}
	k.mappings[id] = m
	return m, nil
}

// text returns a copy of s that all who have the same share. s may be part of an answer.
func (k *kept) text(s string) string {
	if t, ok := k.texts[s]; ok {
		return t
	}
	t := strings.Clone(s)
	k.texts[t] = t
	return t
}

// filter is text for a query.
func (k *kept) filter(raw []byte) []byte {
	if f, ok := k.filters[string(raw)]; ok {
		return f
	}
	f := slices.Clone(raw)
	k.filters[string(f)] = f
	return f
}
