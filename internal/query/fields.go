package query

import (
	"strings"

	"guard/internal/esjson"
)

// metadata are the fields of the cluster's own that may be named under a field
// rule. _field_names and _ignored are not among them: they tell which hidden
// fields a document has; _size and _source measure and hold hidden values.
var metadata = map[string]bool{
	"_id": true, "_index": true, "_routing": true, "_seq_no": true, "_primary_term": true, "_version": true,
	"_tier": true, "_type": true, "_doc_count": true,
}

// Nameable reports whether name may be named under a field rule, where it is metadata: in
// some versions a document can have a field of that name, which is for [Fields] to say.
func Nameable(name string) bool { return metadata[name] }

// syntaxWords are names that clusters read as something else than a field where a field can
// stand: in a text, as a key or element of sort, in stored_fields.
var syntaxWords = map[string]bool{
	"_exists_": true, "_geo_distance": true, "_geoDistance": true, "_script": true, "_shard_doc": true, "_none_": true,
}

// IsPlain reports whether clusters read name as exactly that name wherever this package
// prints it. A mapping can hold others: "*n" is a pattern in most places, "ssn^1" is the
// field ssn in a list of fields, "_exists_" asks for the field that a text names. A name that
// is not plain must not be [Visible]: it could reach a hidden field. Each other character
// means itself in lists and keys, and is escaped in texts (test/queries holds both to it).
func IsPlain(name string) bool {
	return name != "" && !strings.ContainsAny(name, "*^") && !syntaxWords[name]
}

// seen returns the name under which a field is forwarded: its own, or that of the
// stand-in if the rule hides it.
func (k *walker) seen(v esjson.Value, name string, use Use) (string, error) {
	if k.fill != nil {
		return k.filledName(v, name)
	}
	if k.fieldRule() {
		switch k.rules.Fields.Field(name, use) {
		case Visible:
		case Object:
			if use != Path {
				return k.standIn(name), nil
			}
		case Mixed:
			return "", refuse(v, name, "the field is visible in some indices of this request only%s", underFieldRule)
		default:
			return k.standIn(name), nil
		}
	}
	return name, k.usable(v, name, use)
}

// hides reports whether a field rule hides a field from clauses.
func (k *walker) hides(name string) bool {
	return k.fieldRule() && k.rules.Fields.Field(name, Match) == Absent
}

// usable refuses a field, or without a field rule a pattern of fields, that tells of hidden
// documents where it is used so. A hidden field was replaced before: that it is refused
// would tell of it.
func (k *walker) usable(v esjson.Value, name string, use Use) error {
	switch {
	case !k.hidesDocs() || k.role:
		return nil
	case use == Match:
		return k.uncomputed(v, name)
	case use == Rank || use == Fetch:
		return k.unthinned(v, name)
	}
	return nil
}

// expand lists the visible fields that a pattern matches.
func (k *walker) expand(v esjson.Value, pattern string, use Use) ([]string, error) {
	if err := k.countPattern(v, pattern); err != nil {
		return nil, err
	}
	names, mixed := k.rules.Fields.Expand(pattern, use)
	if mixed != "" {
		return nil, refuse(v, pattern, "it matches a field that is visible in some indices of this request only%s", underFieldRule)
	}
	if use == Rank {
		use = Match // only clauses have patterns of fields of any type
	}
	for _, name := range names {
		if err := k.usable(v, name, use); err != nil {
			return nil, err
		}
	}
	return names, k.grow(v, pattern, size(names))
}

// countPattern counts what is compared with every field of the indices, if it is a pattern.
func (k *walker) countPattern(v esjson.Value, pattern string) error {
	if !isPattern(pattern) {
		return nil
	}
	if len(pattern) > MaxName {
		return refuse(v, pattern, "a pattern of fields has %d bytes, want at most %d%s", len(pattern), MaxName, underFieldRule)
	}
	if k.patterns++; k.patterns > maxPatterns {
		return refuse(v, pattern, "the search holds more than %d patterns of fields%s", maxPatterns, underFieldRule)
	}
	if all := k.rules.All; all != nil {
		if all.patterns++; all.patterns > maxAllPatterns {
			return refuse(v, pattern, "the searches of this request hold more than %d patterns of fields together%s", maxAllPatterns, underFieldRule)
		}
	}
	return nil
}

// size is about what names take in a body.
func size(names []string) int {
	n := 0
	for _, name := range names {
		n += len(name) + len(`"",`)
	}
	return n
}

func isPattern(name string) bool { return strings.Contains(name, "*") }

// field prints what names one field or several.
func (k *walker) field(v esjson.Value, key string, as kind) error {
	switch as {
	case fieldName:
		if err := k.oneField(v, key, Match); err != nil || k.hides(v.String()) {
			return err
		}
		return k.usable(v, v.String(), Fetch) // such clauses read its values
	case fieldPattern:
		return k.oneField(v, key, Match)
	case rankName:
		return k.oneField(v, key, Rank)
	case pathName:
		return k.oneField(v, key, Path)
	case rankNames:
		return k.oneOrMany(v, key, func(e esjson.Value) error { return k.oneField(e, key, Rank) })
	case fieldList:
		return k.fieldList(v, key)
	}
	return refuse(v, key, "nothing may stand here")
}

func (k *walker) oneField(v esjson.Value, key string, use Use) error {
	if !v.Is(esjson.String) {
		return refuse(v, key, "found %s, want the name of a field", v.Kind())
	}
	shown, err := k.seen(v, v.String(), use)
	if err != nil {
		return err
	}
	k.w.Text(shown)
	return nil
}

// fieldList prints a list of fields, each of which may be a pattern and carry a
// boost: ["title^2","body*"]. Under a field rule patterns become names.
func (k *walker) fieldList(v esjson.Value, key string) error {
	if v.Is(esjson.String) && (k.fill != nil || !k.fieldRule()) {
		return k.listed(v, key)
	}
	if !v.Is(esjson.Array) && !v.Is(esjson.String) {
		return refuse(v, key, "found %s, want names of fields", v.Kind())
	}
	k.w.BeginArray()
	if v.Is(esjson.String) {
		if err := k.listed(v, key); err != nil {
			return err
		}
	}
	for _, e := range v.Elements() {
		if err := k.listed(e, key); err != nil {
			return err
		}
	}
	k.w.EndArray()
	return nil
}

func (k *walker) listed(v esjson.Value, key string) error {
	if !v.Is(esjson.String) {
		return refuse(v, key, "found %s, want the name of a field", v.Kind())
	}
	name, boost := cutBoost(v.String())
	if !k.fieldRule() || !isPattern(name) {
		shown, err := k.seen(v, name, Match)
		if err != nil {
			return err
		}
		k.w.Text(shown + boost)
		return nil
	}
	names, err := k.expand(v, name, Match)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{k.standIn(name)} // an empty list would mean all fields
	}
	for _, n := range names {
		k.w.Text(n + boost)
	}
	return nil
}

// cutBoost splits "title^2".
func cutBoost(s string) (name, boost string) {
	if i := strings.IndexByte(s, '^'); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
