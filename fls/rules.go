package fls

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"guard/internal/names"
)

// Rules is the union of the field entries that all roles of a principal hold for
// some index: globs and /regex/ over full dotted names, '~' or '!' in front of an
// exclusion. As soon as there is one exclusion the inclusions count no more
// (measured on OpenSearch Security 2.19.4 and 3.4.0). The zero value shows nothing.
type Rules struct {
	includes, excludes names.Patterns
	entries            []string // as written, sorted, without repeats
}

// Compile reads the entries of one restriction.
func Compile(entries []string) (Rules, error) {
	var in, out []names.Pattern
	for _, e := range entries {
		text, exclusion := cutExclusion(e)
		if strings.TrimSpace(text) == "" {
			return Rules{}, fmt.Errorf("cannot use field entry %q: %w", e, errNothing)
		}
		p, err := names.ParsePattern(text)
		if err != nil {
			return Rules{}, fmt.Errorf("cannot use field entry %q: %w", e, err)
		}
		if exclusion {
			out = append(out, p)
		} else {
			in = append(in, p)
		}
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(entries)))
	return Rules{includes: names.NewPatterns(in...), excludes: names.NewPatterns(out...), entries: sorted}, nil
}

var errNothing = errors.New("it names nothing; want a field name or a pattern")

func cutExclusion(entry string) (text string, exclusion bool) {
	if strings.HasPrefix(entry, "~") || strings.HasPrefix(entry, "!") {
		return entry[1:], true
	}
	return entry, false
}

// excluding reports whether what is not named is shown.
func (r Rules) excluding() bool { return len(r.excludes.List()) > 0 }

// All reports whether r hides nothing.
func (r Rules) All() bool { return !r.excluding() && r.includes.IsAll() }

// Shows reports whether what has this name in an index may be seen, where no mapping says
// that it is a field: metadata is shown unless an exclusion names it in so many words.
func (r Rules) Shows(path string) bool {
	if IsMetadata(path) {
		return !r.excludes.Names(path)
	}
	return r.ShowsField(path)
}

// ShowsField reports whether a field of this full dotted name may be seen, by its name
// alone: what else carries its value is the mapping's to say. Objects around a
// field decide as well; an entry for a field covers its sub-field "keyword".
func (r Rules) ShowsField(path string) bool {
	field := strings.TrimSuffix(path, ".keyword")
	if r.excluding() {
		return !around(path, 0, r.excludes.MayMatch) && !around(field, 0, r.excludes.MayMatch)
	}
	return around(field, 0, r.includes.Match)
}

// showsAllBelow reports whether every path that can exist below path is shown. It
// errs towards no.
func (r Rules) showsAllBelow(path string) bool {
	if !r.ShowsField(path) {
		return false
	}
	if !r.excluding() {
		return true // an inclusion covers everything below what it names
	}
	for _, p := range r.excludes.List() {
		if mayMatchBelow(p, path+".") {
			return false
		}
	}
	return true
}

// showsParts reports whether the names below path that a field is made of are all shown,
// with what an entry names below one of them.
func (r Rules) showsParts(path string, parts []string) bool {
	for _, part := range parts {
		part = path + "." + part
		if !r.ShowsField(part) || r.excluding() && slices.ContainsFunc(r.excludes.List(), func(p names.Pattern) bool {
			return strings.HasPrefix(literalHead(p), part+".")
		}) {
			return false
		}
	}
	return true
}

// literalHead returns what every name that p matches begins with.
func literalHead(p names.Pattern) string {
	text := p.String()
	if p.IsRegex() {
		return ""
	}
	if i := strings.IndexAny(text, "*?"); i >= 0 {
		return text[:i]
	}
	return text
}

// mayMatchBelow reports whether p could match a name that starts with prefix. It
// looks only at the text before the first wildcard, which errs towards yes.
func mayMatchBelow(p names.Pattern, prefix string) bool {
	head := literalHead(p)
	if head != p.String() && strings.HasPrefix(prefix, head) {
		return true
	}
	return strings.HasPrefix(head, prefix)
}

// requestPatterns returns the entries as patterns for the _source option of a
// request, as far as the clusters understand them: '*' is their only wildcard, and a
// comma parts two patterns in a URL. whole reports whether they are all. The answer
// filter does not depend on them.
func (r Rules) requestPatterns() (includes, excludes []string, whole bool) {
	whole = true
	for _, e := range r.entries {
		text, exclusion := cutExclusion(e)
		simple := !strings.ContainsAny(text, "?,") && !strings.HasPrefix(text, "/")
		switch {
		case exclusion && simple:
			excludes = append(excludes, text)
		case exclusion:
			whole = false
		case !exclusion && !simple && !r.excluding():
			return nil, nil, false // a list of inclusions with a gap would lose fields
		case !exclusion:
			includes = append(includes, text)
		}
	}
	if r.excluding() {
		return nil, excludes, whole
	}
	return includes, nil, true
}

// metadata are the names of fields that mapper services have, each in some versions: in
// others a mapping can have a field of that name, and then it is a field like any other.
// Source: MapperService of OpenSearch and Elasticsearch, and the list that the
// OpenSearch Security plugin exempts.
var metadata = map[string]bool{
	"_id": true, "_index": true, "_routing": true, "_source": true, "_seq_no": true, "_primary_term": true,
	"_version": true, "_type": true, "_field_names": true, "_ignored": true, "_nested_path": true,
	"_doc_count": true, "_tier": true, "_timestamp": true, "_ttl": true, "_size": true, "_data_stream_timestamp": true,
	"_score": true, "_doc": true, "_shard_doc": true, "_geo_distance": true, "_parent": true, "_uid": true,
}

// IsMetadata reports whether path is the name of a metadata field in some version.
func IsMetadata(path string) bool { return metadata[path] }
