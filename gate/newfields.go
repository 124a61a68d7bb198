package gate

import (
	"strings"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/mapping"
	"guard/internal/query"
)

// checkBending refuses a document that would make a field by which a document rule of its
// writer tells documents apart: the first value decides what the field is, and so what the
// rule shows of the documents that others write later. In an index that is made by the
// document any field that the rule names is new, unless a template knows it.
func (pl *plan) checkBending(j *judged, doc esjson.Value) *ask.Rejection {
	rule := pl.ruledBy(j)
	if rule.None() {
		return nil
	}
	if !pl.newFields(j, doc, rule.Meets) {
		return nil
	}
	if j.Allowed[0].Kind == ask.Missing {
		return restricted("the document would make an index with a field that your document rule depends on; an administrator has to create the index with its mapping first")
	}
	return restricted("the document would make a field that your document rule depends on; an administrator has to add the field to the mapping of the index first")
}

// ruledBy returns the fields that the document rules of j's indices name.
func (pl *plan) ruledBy(j *judged) query.Named {
	if !isRuled(j) {
		return query.Named{}
	}
	if j.ruledBy != nil {
		return *j.ruledBy
	}
	var all query.Named
	for _, g := range j.Groups {
		f, err := pl.s.filter(g.Rules)
		if err != nil {
			f = query.None
		}
		all = all.And(pl.s.fieldsOf(f))
	}
	j.ruledBy = &all
	return all
}

// fieldsOf is query.FieldsOf, remembered.
func (s *Snapshot) fieldsOf(f query.Filter) query.Named {
	named, ok := s.memo.named.Get(f)
	if !ok {
		named = query.FieldsOf(f)
		s.memo.named.Add(f, named)
	}
	return named
}

// addsField reports whether doc holds a field that an index of j lacks.
func (pl *plan) addsField(j *judged, doc esjson.Value) bool {
	return pl.newFields(j, doc, anyField)
}

func anyField(string) bool { return true }

// newFields reports whether doc holds a field that an index of j lacks and that meets takes.
func (pl *plan) newFields(j *judged, doc esjson.Value, meets func(path string) bool) bool {
	if j.Allowed[0].Kind == ask.Missing {
		return newFields(nil, "", doc, meets)
	}
	for _, index := range j.Allowed[0].Members {
		m, err := pl.s.mappingOf(index)
		if err != nil || newFields(m, "", doc, meets) {
			return true
		}
	}
	return false
}

// newFields reports whether doc, which stands at path, holds a field that m lacks and would
// take in, and that meets takes by its path. A nil mapping lacks them all. A mapping that
// ignores or refuses unknown fields takes none at its top; objects below may have a setting
// of their own, so there it errs towards yes.
func newFields(m *mapping.Mapping, path string, doc esjson.Value, meets func(path string) bool) bool {
	closed := path == "" && isClosed(m)
	for key, v := range doc.Members() {
		if v.Is(esjson.Null) || v.Is(esjson.Array) && v.Len() == 0 {
			continue // nothing is made of it
		}
		name := fieldName(path, key)
		f, known := lookupIn(m, name)
		switch {
		case !known && closed && !startsInObject(m, key):
		case !known:
			if meetsNew(m, name, meets) {
				return true
			}
		case f.Kind != mapping.Object && f.Kind != mapping.Nested || f.Opaque:
			// A value of its own, whatever its form: a point, a range, a shape.
			if copiesNew(m, f.CopyTo, meets) {
				return true
			}
		case newBelow(m, name, v, meets):
			return true
		}
	}
	return false
}

// fieldName is the path of what stands under a key in an object. The clusters split keys as
// Java splits texts: dots at the end mean nothing (measured on OpenSearch 2.19).
func fieldName(path, key string) string {
	key = strings.TrimRight(key, ".")
	if path == "" {
		return key
	}
	return path + "." + key
}

// isClosed reports whether m takes in no new field at its top.
func isClosed(m *mapping.Mapping) bool {
	return m != nil && (m.Dynamic() == "false" || m.Dynamic() == "strict")
}

func lookupIn(m *mapping.Mapping, path string) (mapping.Field, bool) {
	if m == nil {
		return mapping.Field{}, false
	}
	return m.Lookup(path)
}

// meetsNew reports whether meets takes a new field called path, by that name or one of the
// others that come with it.
func meetsNew(m *mapping.Mapping, path string, meets func(path string) bool) bool {
	if meets(path) {
		return true
	}
	if m == nil {
		return false
	}
	// The fields of a passthrough object have names without its path too.
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if f, known := m.Lookup(path[:i]); known && f.Type == "passthrough" && meets(path[i+1:]) {
			return true
		}
	}
	return copiesNew(m, m.TemplateCopies(), meets)
}

// copiesNew reports whether a copy to one of targets would make a field that meets takes. A
// target with a placeholder may be any field.
func copiesNew(m *mapping.Mapping, targets []string, meets func(path string) bool) bool {
	for _, target := range targets {
		if _, known := m.Lookup(target); known || isClosed(m) && !startsInObject(m, target) {
			continue
		}
		if strings.Contains(target, "{") || meets(target) {
			return true
		}
	}
	return false
}

// startsInObject reports whether a key with dots leads into an object of m.
func startsInObject(m *mapping.Mapping, key string) bool {
	first, _, dotted := strings.Cut(key, ".")
	if !dotted {
		return false
	}
	_, known := m.Lookup(first)
	return known
}

func newBelow(m *mapping.Mapping, name string, v esjson.Value, meets func(path string) bool) bool {
	if v.Is(esjson.Object) {
		return newFields(m, name, v, meets)
	}
	for _, e := range v.Elements() {
		if newBelow(m, name, e, meets) {
			return true
		}
	}
	return false
}
