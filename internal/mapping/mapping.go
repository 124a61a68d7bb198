// Package mapping knows the fields of an index: what a path names, and where else
// the value of a field can be read. A rule that hides a field is only as good as
// the list of its other names (multi-fields, aliases, copies, keys of opaque
// objects, scripted fields), so what this package does not know in a mapping is
// an error, and what it cannot rule out counts as carrying the value.
package mapping

import (
	"crypto/sha256"
	"iter"
	"slices"
	"strings"
)

// Kind says what a path of a mapping is.
type Kind uint8

// The kinds of a field. Missing, the zero value, is the kind of no field.
const (
	Missing    Kind = iota
	Leaf            // holds values of its own in the source
	Object          // holds other fields
	Nested          // an object whose elements are documents of their own
	MultiField      // the value of its parent, indexed once more
	Alias           // another name for a field
	Runtime         // computed at search time: "runtime" or "derived"
)

var kindNames = [...]string{"missing", "leaf", "object", "nested", "multi-field", "alias", "runtime"}

// String returns the name that messages give the kind.
func (k Kind) String() string { return kindNames[k] }

// Field is one path of a mapping. It is a value; its slices are read-only.
type Field struct {
	Path string
	Kind Kind
	Type string // as in the mapping: "keyword", "flattened"; "object" where none is given

	// Parent is the object or, for a multi-field, the field it belongs to; empty at
	// the top. An object with "subobjects": false is the parent of dotted names.
	Parent string
	// NestedPath is the innermost nested object around the field, if any.
	NestedPath string
	AliasOf    string   // the target of an alias
	CopyTo     []string // the targets of copy_to
	Contexts   []string // the fields whose values a completion keeps with its own

	// Opaque fields have no list of what is below them: flattened objects, objects
	// that are not enabled, fields that index parts of their value under names of
	// their own. Every path below one counts as the field.
	Opaque bool
	// Parts are the names below the field that its type brings, in documents or in the
	// index, where they are a closed list: the field shows the values of them all. An
	// opaque field without parts can have any.
	Parts []string
	// Positions tells of a text that it keeps the places of its words. It says nothing of
	// what is below it.
	Positions bool
	// Unindexed fields are kept, if at all, as values of their documents alone.
	Unindexed bool
	// Analysis are the analysers that read a text that is looked for in the field, and such
	// a phrase, by name; empty where the index says it.
	Analysis struct{ Text, Phrase string }
	// Thinned tells of a text that its words are loaded by how many documents hold them.
	Thinned bool
	// Scripted fields are computed and may show the value of any other field.
	Scripted bool

	// SubKey is set by Lookup and Expand when the path asked for lies below an
	// opaque field: what follows the field's own path.
	SubKey string
}

// Hash identifies the content of a mapping.
type Hash [sha256.Size]byte

// Mapping holds the fields of one index. It is immutable; indices with equal mappings
// can share one.
type Mapping struct {
	hash   Hash
	fields []Field        // sorted by path
	index  map[string]int // path -> position in fields

	dynamic string
	copies  []string // of templates
	flow    flow
}

// Hash returns the hash of the mapping's canonical bytes.
func (m *Mapping) Hash() Hash { return m.hash }

// Dynamic returns the setting for fields that the mapping lacks, at the top level:
// "true" (also if it is absent), "false", "strict", "runtime" and the like.
func (m *Mapping) Dynamic() string { return m.dynamic }

// TemplateCopies returns where fields that the mapping lacks may be copied to, once they
// are made by its dynamic templates: names, maybe with placeholders in braces.
func (m *Mapping) TemplateCopies() []string { return m.copies }

// All yields every field, sorted by path.
func (m *Mapping) All() iter.Seq[Field] { return slices.Values(m.fields) }

// Lookup returns what path names: a field of the mapping, or the opaque field
// that it lies below, with SubKey set. It does not follow aliases.
func (m *Mapping) Lookup(path string) (Field, bool) {
	if i, ok := m.index[path]; ok {
		return m.fields[i], true
	}
	// A join field indexes the ids of parents as "name#relation".
	if i := strings.LastIndexByte(path, '#'); i > 0 {
		if f, ok := m.exact(path[:i]); ok && f.Type == "join" {
			f.SubKey = path[i+1:]
			return f, true
		}
	}
	for i := strings.LastIndexByte(path, '.'); i > 0; i = strings.LastIndexByte(path[:i], '.') {
		f, ok := m.exact(path[:i])
		if !ok {
			continue
		}
		if !f.Opaque {
			return Field{}, false
		}
		f.SubKey = path[i+1:]
		return f, true
	}
	return Field{}, false
}

func (m *Mapping) exact(path string) (Field, bool) {
	i, ok := m.index[path]
	if !ok {
		return Field{}, false
	}
	return m.fields[i], true
}

// Below yields every field whose path starts with path and a dot.
func (m *Mapping) Below(path string) iter.Seq[Field] {
	prefix := path + "."
	from, _ := slices.BinarySearchFunc(m.fields, prefix, func(f Field, s string) int { return strings.Compare(f.Path, s) })
	return func(yield func(Field) bool) {
		for _, f := range m.fields[from:] {
			if !strings.HasPrefix(f.Path, prefix) || !yield(f) {
				return
			}
		}
	}
}

// Expand yields what a pattern with '*' selects where clusters expand field
// names: leaves, multi-fields, aliases and computed fields, not objects. A pattern
// that reaches below an opaque field yields that field, with SubKey set. Without
// a '*' it is Lookup.
func (m *Mapping) Expand(pattern string) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		if !strings.Contains(pattern, "*") {
			if f, ok := m.Lookup(pattern); ok {
				yield(f)
			}
			return
		}
		for f := range m.candidates(pattern[:strings.IndexByte(pattern, '*')]) {
			if m.selects(pattern, &f) && !yield(f) {
				return
			}
		}
	}
}

// candidates yields the fields that a pattern beginning with head can select, in the
// order of their paths: those that head lies below, and those that begin with it.
func (m *Mapping) candidates(head string) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for i := range len(head) {
			if head[i] != '.' {
				continue
			}
			if f, ok := m.exact(head[:i]); ok && !yield(f) {
				return
			}
		}
		from, _ := slices.BinarySearchFunc(m.fields, head, func(f Field, s string) int { return strings.Compare(f.Path, s) })
		for _, f := range m.fields[from:] {
			if !strings.HasPrefix(f.Path, head) || !yield(f) {
				return
			}
		}
	}
}

func (m *Mapping) selects(pattern string, f *Field) bool {
	if f.Kind != Object && f.Kind != Nested || f.Opaque {
		if match(pattern, f.Path) {
			return true
		}
	}
	if !f.Opaque {
		return false
	}
	rest, ok := matchBelow(pattern, f.Path)
	if ok {
		f.SubKey = rest
	}
	return ok
}

// match reports whether s matches pattern, in which '*' stands for any text.
func match(pattern, s string) bool {
	head, tail, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	s = s[len(head):]
	for {
		head, rest, star := strings.Cut(tail, "*")
		if !star {
			return strings.HasSuffix(s, head)
		}
		i := strings.Index(s, head)
		if i < 0 {
			return false
		}
		s, tail = s[i+len(head):], rest
	}
}

// matchBelow reports whether pattern, which holds a '*', can match some path below
// path, and returns the part of it that the rest of such a path has to match.
func matchBelow(pattern, path string) (rest string, ok bool) {
	prefix := path + "."
	star := strings.IndexByte(pattern, '*')
	if star <= len(prefix) {
		return pattern[star:], strings.HasPrefix(prefix, pattern[:star]) // the '*' takes what is left of prefix
	}
	return pattern[len(prefix):], strings.HasPrefix(pattern, prefix)
}
