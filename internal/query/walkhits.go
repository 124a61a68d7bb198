package query

import (
	"strings"

	"guard/internal/esjson"
)

// hit prints an object that says what is shown of hits: inner_hits or top_hits.
func (k *walker) hit(v esjson.Value, construct string, sh shape) error {
	if !v.Is(esjson.Object) {
		return refuse(v, construct, "found %s, want an object", v.Kind())
	}
	k.w.BeginObject()
	if err := k.hitMembers(v, sh); err != nil {
		return err
	}
	k.w.EndObject()
	return nil
}

func (k *walker) hitMembers(v esjson.Value, sh shape) error {
	apart := k.rules.Order != Untold && !k.inner // the objects of a nested field stand as in their document
	if apart {
		if err := k.hitsInOrder(v); err != nil {
			return err
		}
	}
	for key, m := range v.Members() {
		if apart && decidesOrder(key) {
			continue
		}
		if err := k.member(m, key, sh); err != nil {
			return err
		}
	}
	if _, given := v.Lookup("_source"); !given {
		stored, _ := v.Lookup("stored_fields")
		return k.addSource(v, stored)
	}
	return nil
}

// fetched prints docvalue_fields or fields: names, or objects with a name and a
// format. Under a field rule a pattern becomes the visible fields it matches.
func (k *walker) fetched(v esjson.Value, key string) error {
	if !v.Is(esjson.Array) {
		return refuse(v, key, "found %s, want an array", v.Kind())
	}
	k.w.BeginArray()
	for _, e := range v.Elements() {
		if err := k.fetchedOne(e, key); err != nil {
			return err
		}
	}
	k.w.EndArray()
	return nil
}

var fetchedKeys = of(scalar, "format", "include_unmapped")

func (k *walker) fetchedOne(v esjson.Value, key string) error {
	field := v
	if v.Is(esjson.Object) {
		field, _ = v.Lookup("field")
	}
	if !field.Is(esjson.String) {
		return refuse(v, key, "found %s, want the name of a field", field.Kind())
	}
	names, err := k.names(field, Fetch)
	if err != nil {
		return err
	}
	if err := k.grow(v, key, len(names)*len(v.Raw())); err != nil {
		return err
	}
	for _, name := range names {
		if v.Is(esjson.String) {
			k.w.Text(name)
			continue
		}
		err := k.members(v, key, func(option string, m esjson.Value) error {
			if option == "field" {
				k.w.Key(option)
				k.w.Text(name)
				return nil
			}
			return k.member(m, option, fetchedKeys)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// names returns what a name or pattern stands for; a pattern may stand for nothing.
func (k *walker) names(v esjson.Value, use Use) ([]string, error) {
	name := v.String()
	if k.fieldRule() && isPattern(name) {
		return k.expand(v, name, use)
	}
	shown, err := k.seen(v, name, use)
	if err != nil {
		return nil, err
	}
	return []string{shown}, nil
}

// stored prints stored_fields.
func (k *walker) stored(v esjson.Value, key string) error {
	if v.Is(esjson.String) && !isPattern(v.String()) {
		return k.storedOne(v, key)
	}
	if !v.Is(esjson.Array) && !v.Is(esjson.String) {
		return refuse(v, key, "found %s, want names of fields", v.Kind())
	}
	k.w.BeginArray()
	if v.Is(esjson.String) {
		if err := k.storedOne(v, key); err != nil {
			return err
		}
	}
	for _, e := range v.Elements() {
		if err := k.storedOne(e, key); err != nil {
			return err
		}
	}
	k.w.EndArray()
	return nil
}

func (k *walker) storedOne(v esjson.Value, key string) error {
	if !v.Is(esjson.String) {
		return refuse(v, key, "found %s, want the name of a field", v.Kind())
	}
	if name := v.String(); name == "_source" || name == "_none_" {
		k.w.Text(name) // these switch parts of the hit, which have their own filter
		return nil
	}
	names, err := k.names(v, Fetch)
	for _, name := range names {
		k.w.Text(name)
	}
	return err
}

// highlight prints highlight. Beside a filter it needs a query of its own: the
// cluster would mark the terms of the filter too, and so print the rule.
func (k *walker) highlight(v esjson.Value) error {
	if !v.Is(esjson.Object) {
		return refuse(v, "highlight", "found %s, want an object", v.Kind())
	}
	if err := k.markable(v); err != nil {
		return err
	}
	k.w.BeginObject()
	for key, m := range v.Members() {
		if err := k.highlightMember(m, key); err != nil {
			return err
		}
	}
	if _, given := v.Lookup("highlight_query"); !given && k.docRule() && !k.inner {
		k.w.Key("highlight_query")
		k.unrewritten = k.topHits
		err := k.askedQuery()
		k.unrewritten = false
		if err != nil {
			return err
		}
	}
	k.w.EndObject()
	return nil
}

func (k *walker) highlightMember(v esjson.Value, key string) error {
	if key != "fields" {
		return k.member(v, key, highlightOptions)
	}
	k.w.Key(key)
	done := map[string]bool{}
	explicit(v, done)
	if v.Is(esjson.Array) {
		return k.highlightArray(v, done)
	}
	k.w.BeginObject()
	if err := k.highlightFields(v, done, false); err != nil {
		return err
	}
	k.w.EndObject()
	return nil
}

// highlightArray prints fields as the elements of an array, each an object of one
// field as the clusters want it: their order counts there.
func (k *walker) highlightArray(v esjson.Value, done map[string]bool) error {
	k.w.BeginArray()
	for _, e := range v.Elements() {
		if err := k.highlightFields(e, done, true); err != nil {
			return err
		}
	}
	k.w.EndArray()
	return nil
}

// explicit notes the fields that are named in full: a pattern must not repeat them.
func explicit(v esjson.Value, seen map[string]bool) {
	for _, e := range v.Elements() {
		explicit(e, seen)
	}
	for name := range v.Members() {
		if !isPattern(name) {
			seen[name] = false
		}
	}
}

// highlightFields prints fields with their options, each field once.
func (k *walker) highlightFields(v esjson.Value, done map[string]bool, apart bool) error {
	if !v.Is(esjson.Object) {
		return refuse(v, "fields", "found %s, want an object", v.Kind())
	}
	for pattern, m := range v.Members() {
		names, err := k.highlightNames(m, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			printed, named := done[name]
			if k.fieldRule() && (printed || named && isPattern(pattern)) {
				continue
			}
			done[name] = true
			if err := k.highlightField(m, name, apart); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *walker) highlightNames(v esjson.Value, pattern string) ([]string, error) {
	if !k.fieldRule() {
		return []string{pattern}, nil
	}
	if isPattern(pattern) {
		names, err := k.expand(v, pattern, Highlight)
		if err != nil {
			return nil, err
		}
		return names, k.grow(v, pattern, len(names)*len(v.Raw()))
	}
	shown, err := k.seen(v, pattern, Highlight)
	return []string{shown}, err
}

func (k *walker) highlightField(v esjson.Value, name string, apart bool) error {
	if apart {
		k.w.BeginObject()
	}
	k.w.Key(name)
	if err := k.object(v, name, highlightField); err != nil {
		return err
	}
	if apart {
		k.w.EndObject()
	}
	return nil
}

// sort prints one element of sort.
func (k *walker) sort(v esjson.Value) error {
	if v.Is(esjson.String) && k.hidesOrder(v.String()) {
		k.w.BeginObject()
		err := k.sortByOrder(v)
		k.w.EndObject()
		return err
	}
	if v.Is(esjson.String) {
		if v.String() == byScore {
			return k.scalar(v, "sort", scalar)
		}
		return k.oneField(v, "sort", Rank)
	}
	return k.members(v, "sort", func(name string, m esjson.Value) error {
		if k.hidesOrder(name) {
			return k.sortByOrder(m)
		}
		switch name {
		case "_script":
			return k.sortScript(m, name)
		case "_geo_distance":
			k.w.Key(name)
			return k.sortDistance(m, name)
		}
		shown := name
		if name != byScore {
			var err error
			if shown, err = k.seen(m, name, Rank); err != nil {
				return err
			}
		}
		k.w.Key(shown)
		if !m.Is(esjson.Object) {
			return k.scalar(m, name, scalar)
		}
		return k.members(m, name, k.sortOption)
	})
}

func (k *walker) sortOption(key string, v esjson.Value) error {
	if key == "nested" {
		k.w.Key(key)
		return k.sortNested(v, key)
	}
	return k.member(v, key, sortOptions)
}

func (k *walker) sortNested(v esjson.Value, construct string) error {
	if err := k.enter(v, construct); err != nil {
		return err
	}
	defer k.leave()
	return k.members(v, construct, func(key string, m esjson.Value) error {
		if key == "nested" {
			k.w.Key(key)
			return k.sortNested(m, key)
		}
		return k.member(m, key, sortNested)
	})
}

// distanceOptions are all options of _geo_distance; anything else is its field.
var distanceOptions = map[string]bool{
	"order": true, "mode": true, "unit": true, "distance_type": true, "validation_method": true, "ignore_unmapped": true,
	"nested": true, "nested_path": true, "nested_filter": true,
}

// sortDistance prints _geo_distance: a field with its points beside the options.
func (k *walker) sortDistance(v esjson.Value, construct string) error {
	fields := 0
	return k.members(v, construct, func(name string, m esjson.Value) error {
		if distanceOptions[name] {
			return k.sortOption(name, m)
		}
		if fields++; fields > 1 {
			return refuse(m, construct, "it names more than one field")
		}
		shown, err := k.seen(m, name, Rank)
		if err != nil {
			return err
		}
		k.w.Key(shown)
		return k.inert(m)
	})
}

func (k *walker) sortScript(v esjson.Value, name string) error {
	if why := k.refusal(both(whyScript)); why != "" {
		return refuse(v, name, "%s", why)
	}
	k.w.Key(name)
	return k.members(v, name, func(key string, m esjson.Value) error {
		switch key {
		case "script", "type":
			k.w.Key(key)
			return k.slot(m, key, &slot{kind: scriptCode})
		}
		return k.sortOption(key, m)
	})
}

// splitList splits a comma list of a URL parameter as the clusters do.
func splitList(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part != "" {
			out = append(out, part)
		}
	}
	return out
}
