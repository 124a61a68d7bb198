package mapping

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"guard/internal/esjson"
)

// maxFields bounds one mapping; the clusters' own default is 1,000.
const maxFields = 100_000

// ErrTooMany means that a mapping has more fields than guard keeps.
var ErrTooMany = errors.New("too many fields")

// Parse reads the mapping of one index, as the cluster prints it: with or without
// the "mappings" envelope and the name of a type around it.
func Parse(v esjson.Value) (*Mapping, error) {
	root, err := unwrap(v)
	if err != nil {
		return nil, err
	}
	b := builder{m: &Mapping{dynamic: "true", hash: contentHash(root)}, index: map[string]int{}}
	if err := b.root(root); err != nil {
		return nil, err
	}
	return b.finish(), nil
}

func contentHash(root esjson.Value) Hash {
	return sha256.Sum256(esjson.AppendCanonical(nil, root))
}

// unwrap finds the object that holds "properties" and its siblings.
func unwrap(v esjson.Value) (esjson.Value, error) {
	if !v.Is(esjson.Object) {
		return v, fmt.Errorf("cannot read mapping: %s is %s; want an object", v.Path(), v.Kind())
	}
	if inner, ok := v.Lookup("mappings"); ok && v.Len() == 1 {
		return unwrap(inner)
	}
	// Clusters that still know types print one around the root; its name is free,
	// but it is never one of the root's own keys.
	if v.Len() == 1 {
		for name, inner := range v.Members() {
			if !knownRoot(name) && inner.Is(esjson.Object) {
				return inner, nil
			}
		}
	}
	return v, nil
}

type builder struct {
	m       *Mapping
	index   map[string]int
	through []passthrough
}

// passthrough is an object whose fields also have names without its path.
type passthrough struct {
	path     string
	priority int64 // 0 if none is given
}

// rootKeys are the keys of a mapping that name no field.
var rootKeys = []string{
	"date_detection", "dynamic_date_formats", "dynamic_templates", "numeric_detection", "enabled", "subobjects",
	"_meta", "_routing", "_size", "_field_names", "_data_stream_timestamp", "data_stream", "_all", "_parent", "_index", "_id", "_tier",
}

func knownRoot(key string) bool {
	switch key {
	case "properties", "dynamic", "_source", "runtime", "derived", "composite":
		return true
	}
	return slices.Contains(rootKeys, key)
}

// root reads the top level. A key that is not known could bring fields of its own,
// as runtime, derived and composite did when they were new: it is an error.
func (b *builder) root(v esjson.Value) error {
	for key, m := range v.Members() {
		var err error
		switch key {
		case "properties":
			err = b.properties(m, "", "")
		case "dynamic":
			b.m.dynamic = strings.Clone(m.String()) // true, false or a word, quoted or not
		case "runtime", "derived":
			err = b.runtime(m, "")
		case "dynamic_templates":
			b.m.copies, err = appendCopies(nil, m)
		case "_source": // it brings no fields
		case "composite": // star trees: sums of fields that the mapping has anyway
		default:
			if !knownRoot(key) {
				err = fmt.Errorf("cannot read mapping: unknown key %q at offset %d; want properties, runtime or a setting that brings no fields", key, m.Offset())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// appendCopies appends the targets of every copy_to in v.
func appendCopies(dst []string, v esjson.Value) ([]string, error) {
	for key, m := range v.Members() {
		var err error
		if key == "copy_to" && !m.Is(esjson.Object) { // an object is a template of that name
			var targets []string
			targets, err = texts(m)
			dst = append(dst, targets...)
		} else {
			dst, err = appendCopies(dst, m)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, e := range v.Elements() {
		var err error
		if dst, err = appendCopies(dst, e); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// boolean reads true and false as old mappings have them, also in quotes.
func boolean(v esjson.Value) (bool, error) {
	switch v.String() {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("cannot read mapping: %s is %s; want true or false", v.Path(), v.Kind())
}

func (b *builder) properties(v esjson.Value, parent, nested string) error {
	if !v.Is(esjson.Object) {
		return notObject(v)
	}
	for name, def := range v.Members() {
		if err := b.field(join(parent, name), parent, nested, def); err != nil {
			return err
		}
	}
	return nil
}

func notObject(v esjson.Value) error {
	return fmt.Errorf("cannot read mapping: %s is %s; want an object", v.Path(), v.Kind())
}

func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// field reads one entry of "properties".
func (b *builder) field(path, parent, nested string, def esjson.Value) error {
	if !def.Is(esjson.Object) {
		return notObject(def)
	}
	f := Field{Path: path, Parent: parent, NestedPath: nested, Kind: Leaf, Type: "object"}
	if t, ok := def.Lookup("type"); ok {
		f.Type = t.String()
	}
	children, hasChildren := def.Lookup("properties")
	switch {
	case f.Type == "alias":
		f.Kind = Alias
	case f.Type == "nested":
		f.Kind = Nested
	case f.Type == "object", f.Type == "passthrough", hasChildren:
		f.Kind = Object
	}
	f.setParts()
	if err := b.params(&f, def); err != nil {
		return err
	}
	if err := b.add(f); err != nil {
		return err
	}
	if f.Type == "passthrough" {
		priority, _ := def.Lookup("priority")
		n, _ := priority.Int() // the cluster wants one; without it the object comes last
		b.through = append(b.through, passthrough{f.Path, n})
	}
	if !hasChildren {
		return nil
	}
	if f.Kind == Nested {
		nested = path
	}
	return b.properties(children, path, nested)
}

// indexedParts are the names below a field under which its type indexes parts of the
// value, and which no mapping lists; nil means any name at all.
var indexedParts = map[string][]string{
	"flattened":               nil, // every key of the object
	"flat_object":             nil,
	"rank_features":           nil, // every feature
	"sparse_vector":           nil,
	"semantic_text":           nil, // .inference.chunks
	"join":                    nil, // name#relation
	"percolator":              nil, // .extracted_terms and others; its value is a query
	"search_as_you_type":      {"_2gram", "_3gram", "_4gram", "_index_prefix"},
	"aggregate_metric_double": {"min", "max", "sum", "value_count"},
}

// prefixParts are those of a text with index_prefixes or index_phrases.
var prefixParts = []string{"_index_prefix", "_index_phrase"}

// documentParts are the keys that a value of a type has in documents alone: the clusters
// know no field of such a name.
var documentParts = map[string][]string{
	"histogram":     {"values", "counts"},
	"completion":    {"input", "weight", "contexts"},
	"geo_point":     pointParts,
	"point":         pointParts,
	"xy_point":      pointParts,
	"geo_shape":     shapeParts,
	"shape":         shapeParts,
	"xy_shape":      shapeParts,
	"integer_range": rangeParts,
	"long_range":    rangeParts,
	"float_range":   rangeParts,
	"double_range":  rangeParts,
	"date_range":    rangeParts,
	"ip_range":      rangeParts,
}

var (
	pointParts = []string{"lat", "lon", "x", "y", "z", "geohash", "type", "coordinates"}
	shapeParts = []string{"type", "coordinates", "geometries", "radius", "orientation"}
	rangeParts = []string{"gte", "gt", "lte", "lt", "from", "to", "include_lower", "include_upper"}
)

// setParts notes what the type of f brings.
func (f *Field) setParts() {
	f.Positions = f.Type == "text"
	f.Parts = documentParts[f.Type]
	if parts, indexes := indexedParts[f.Type]; indexes {
		f.Opaque, f.Parts = true, parts
	}
}

// params reads the parts of a definition that say where values go.
func (b *builder) params(f *Field, def esjson.Value) error {
	for key, v := range def.Members() {
		var err error
		switch key {
		case "path":
			if f.Kind == Alias {
				f.AliasOf, err = v.Text()
			}
		case "copy_to":
			f.CopyTo, err = texts(v)
		case "contexts":
			f.Contexts = contextPaths(v)
		case "enabled":
			var on bool
			if on, err = boolean(v); err == nil && !on && f.Kind != Leaf {
				f.Opaque, f.Parts = true, nil // kept in the source and not indexed
			}
		case "script":
			f.Scripted = true
		case "fielddata_frequency_filter":
			f.Thinned = true
		case "index", "index_options":
			f.Positions = f.Positions && slices.Contains([]string{"true", "positions", "offsets"}, v.String())
			f.Unindexed = f.Unindexed || key == "index" && v.String() == "false"
		case "analyzer", "search_analyzer", "search_quote_analyzer":
			f.setAnalysis(def)
		case "index_prefixes", "index_phrases":
			if !f.Opaque && v.String() != "false" {
				f.Opaque, f.Parts = true, prefixParts
			}
		case "fields":
			err = b.multiFields(f, v)
		case "runtime", "derived":
			err = b.runtime(v, f.Path)
		}
		if err != nil {
			return fmt.Errorf("cannot read mapping: field %q: %w", f.Path, err)
		}
	}
	if f.Kind == Alias && f.AliasOf == "" {
		return fmt.Errorf("cannot read mapping: field %q is an alias without a path", f.Path)
	}
	return nil
}

// setAnalysis notes what reads texts that are looked for in f: what is said of phrases
// counts before what is said of all of them, and that before what made the words.
func (f *Field) setAnalysis(def esjson.Value) {
	f.Analysis.Text, f.Analysis.Phrase = "", ""
	for _, key := range []string{"analyzer", "search_analyzer", "search_quote_analyzer"} {
		v, given := def.Lookup(key)
		if !given {
			continue
		}
		f.Analysis.Phrase = strings.Clone(v.String())
		if key != "search_quote_analyzer" {
			f.Analysis.Text = f.Analysis.Phrase
		}
	}
}

// texts reads a string or an array of strings.
func texts(v esjson.Value) ([]string, error) {
	if v.Is(esjson.String) {
		s, err := v.Text()
		return []string{strings.Clone(s)}, err
	}
	var out []string
	for _, e := range v.Elements() {
		s, err := e.Text()
		if err != nil {
			return nil, err
		}
		out = append(out, strings.Clone(s))
	}
	if !v.Is(esjson.Array) {
		return nil, fmt.Errorf("%s is %s; want a string or an array of strings", v.Path(), v.Kind())
	}
	return out, nil
}

// contextPaths returns the fields that contexts read, of which one can stand by itself.
func contextPaths(v esjson.Value) []string {
	var out []string
	if path, ok := v.Lookup("path"); ok {
		out = append(out, strings.Clone(path.String()))
	}
	for _, e := range v.Elements() {
		out = append(out, contextPaths(e)...)
	}
	return out
}

func (b *builder) multiFields(main *Field, v esjson.Value) error {
	if !v.Is(esjson.Object) {
		return notObject(v)
	}
	for name, def := range v.Members() {
		if !def.Is(esjson.Object) {
			return notObject(def)
		}
		f := Field{Path: join(main.Path, name), Kind: MultiField, Parent: main.Path, NestedPath: main.NestedPath}
		if t, ok := def.Lookup("type"); ok {
			f.Type = t.String()
		}
		f.setParts()
		if err := b.params(&f, def); err != nil {
			return err
		}
		if err := b.add(f); err != nil {
			return err
		}
	}
	return nil
}

// runtime reads fields that are computed at search time. One without a script
// reads the source at its own path, and nothing else.
func (b *builder) runtime(v esjson.Value, parent string) error {
	if !v.Is(esjson.Object) {
		return notObject(v)
	}
	for name, def := range v.Members() {
		if !def.Is(esjson.Object) {
			return notObject(def)
		}
		f := Field{Path: join(parent, name), Kind: Runtime, Parent: parent}
		if t, ok := def.Lookup("type"); ok {
			f.Type = t.String()
		}
		_, f.Scripted = def.Lookup("script")
		// A derived object has fields of any name; a composite lists its own; a lookup
		// reads other indices. None of them is understood further: any value may show.
		if f.Type == "object" || f.Type == "composite" || f.Type == "lookup" {
			f.Opaque, f.Scripted = true, true
		}
		if err := b.add(f); err != nil {
			return err
		}
	}
	return nil
}

// add keeps f, whose strings must not share memory with the text that was parsed.
// A computed field may have the path of a mapped one and then stands before it in
// searches: both meanings are kept.
func (b *builder) add(f Field) error {
	f.Path, f.Parent, f.NestedPath = strings.Clone(f.Path), strings.Clone(f.Parent), strings.Clone(f.NestedPath)
	f.Type, f.AliasOf = strings.Clone(f.Type), strings.Clone(f.AliasOf)
	if i, ok := b.index[f.Path]; ok {
		old := &b.m.fields[i]
		if f.Kind != Runtime && old.Kind != Runtime {
			return fmt.Errorf("cannot read mapping: field %q is defined twice, as %s and as %s", f.Path, old.Kind, f.Kind)
		}
		if old.Kind == Runtime {
			f, *old = *old, f
		}
		if f.Opaque {
			old.Opaque, old.Parts = true, nil
		}
		old.Scripted = old.Scripted || f.Scripted
		return nil
	}
	if len(b.m.fields) >= maxFields {
		return fmt.Errorf("cannot read mapping: %w; want at most %d", ErrTooMany, maxFields)
	}
	b.index[f.Path] = len(b.m.fields)
	b.m.fields = append(b.m.fields, f)
	return nil
}

func (b *builder) finish() *Mapping {
	b.addPassthroughNames()
	m := b.m
	slices.SortFunc(m.fields, func(x, y Field) int { return cmp.Compare(x.Path, y.Path) })
	m.index = b.index
	for i := range m.fields {
		m.index[m.fields[i].Path] = i
	}
	m.openAliases()
	m.flow = newFlow(m)
	return m
}

// addPassthroughNames gives the fields of passthrough objects their second names.
// A name that two objects offer belongs to the one of higher priority, and a field
// of that name to nobody else.
func (b *builder) addPassthroughNames() {
	slices.SortFunc(b.through, func(x, y passthrough) int { return cmp.Compare(y.priority, x.priority) })
	for _, p := range b.through {
		for _, f := range b.m.fields {
			name, below := strings.CutPrefix(f.Path, p.path+".")
			if _, taken := b.index[name]; !below || taken || f.Kind == Object || f.Kind == Nested {
				continue
			}
			b.index[name] = len(b.m.fields)
			b.m.fields = append(b.m.fields, Field{Path: name, Kind: Alias, Type: "alias", AliasOf: f.Path, NestedPath: f.NestedPath})
		}
	}
}

// openAliases makes the aliases of opaque fields opaque: the clusters take "alias.key" for
// a key of the field.
func (m *Mapping) openAliases() {
	for i := range m.fields {
		f := &m.fields[i]
		if target, ok := m.Lookup(f.AliasOf); ok && f.Kind == Alias && target.Opaque {
			f.Opaque, f.Parts = true, target.Parts
		}
	}
}
