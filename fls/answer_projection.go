package fls

import "strings"

// Verdict says what happens to a value in a document, by the path where it stands.
type Verdict uint8

// The verdicts. The zero value drops.
const (
	Drop      Verdict = iota
	Keep              // with everything below
	Inner             // scalars stay, what is below is judged by itself
	Container         // an object around something visible: scalars of its name vanish, the object stays even if empty
	Probe             // an object that may be around something visible: it vanishes if nothing is
)

// sourcePattern is one compiled field entry.
type sourcePattern struct {
	// Match reports whether the entry names path itself.
	Match func(path string) bool
	// Below reports whether the entry could name a path below path. Without it the
	// answer is taken to be maybe.
	Below func(path string) bool
}

// Projection decides which parts of a document are shown. It is immutable but for
// a bounded memo of its verdicts, and safe for concurrent use. The zero value hides
// everything.
//
// The rules are those of the OpenSearch Security plugin: as soon as there is an
// exclusion the inclusions count no more; an exclusion drops everything below; an
// inclusion keeps the objects around it; a rule for a field covers its sub-field
// "keyword". Where versions differ (a bare object name as inclusion is an empty
// object in 3.4.0 and the whole object in 2.19.4) an inclusion shows what is below.
type Projection struct {
	includes, excludes []sourcePattern
	everything         bool
	shows              func(name string) bool
	mapped             func(name string) bool // whether it is a field of the index, whatever its name
	source, named      memo                   // places in documents, names of fields
}

// newProjection compiles field entries. shows, if given, reports whether a field
// may be shown that is named by its full path, as in "fields" and "highlight": it
// knows the aliases, copies and multi-fields that entries alone do not. For an
// object it is true if something in it may be shown.
func newProjection(includes, excludes []sourcePattern, shows func(name string) bool) *Projection {
	return &Projection{includes: includes, excludes: excludes, shows: shows}
}

// ShowEverything returns the projection of an index without field rules.
func ShowEverything() *Projection { return &Projection{everything: true} }

// Judge returns the verdict on the value at path in a document.
func (p *Projection) Judge(path []byte) Verdict {
	if p.everything {
		return Keep
	}
	return p.source.at(p, &p.source.root, path, path).verdict
}

// JudgeName returns the verdict on the values listed under the field called name.
func (p *Projection) JudgeName(name []byte) Verdict {
	if p.everything {
		return Keep
	}
	return p.named.at(p, &p.named.root, name, name).verdict
}

func (p *Projection) judgeName(name string, judged int) Verdict {
	switch {
	case p.shows != nil && !p.shows(name):
		return Drop
	case IsMetadata(name) && (p.mapped == nil || !p.mapped(name)):
		return Keep
	}
	return p.judge(name, judged)
}

// judge finds the verdict on path. The first judged bytes, a path themselves, are
// known not to be dropped.
func (p *Projection) judge(path string, judged int) Verdict {
	plain := withoutEmptySegments(path)
	if plain != path {
		judged = 0 // it counts bytes of path
	}
	if len(p.excludes) > 0 {
		if excluded(p.excludes, plain, judged) || plain != path && excluded(p.excludes, path, 0) {
			return Drop
		}
		for _, e := range p.excludes {
			if e.Below == nil || plain == "" || e.Below(plain) {
				return Inner
			}
		}
		return Keep
	}
	if plain != "" && included(p.includes, plain, judged) {
		return Keep
	}
	verdict := Drop
	for _, e := range p.includes {
		switch {
		case e.Below == nil || plain == "":
			verdict = max(verdict, Probe)
		case e.Below(plain):
			return Container
		}
	}
	return verdict
}

// excluded reports whether an entry names path or an object around it that is
// longer than judged. A key with dots names several objects at once.
func excluded(entries []sourcePattern, path string, judged int) bool {
	return around(path, judged, func(p string) bool {
		field := strings.TrimSuffix(p, ".keyword")
		for _, e := range entries {
			if e.Match(p) || len(field) < len(p) && e.Match(field) {
				return true
			}
		}
		return false
	})
}

func included(entries []sourcePattern, path string, judged int) bool {
	return around(path, judged, func(p string) bool {
		field := strings.TrimSuffix(p, ".keyword")
		for _, e := range entries {
			if e.Match(field) {
				return true
			}
		}
		return false
	})
}

// around reports whether holds is true of path or of a path longer than judged that
// ends at one of its dots.
func around(path string, judged int, holds func(string) bool) bool {
	for i := judged + 1; i < len(path); i++ {
		if path[i] == '.' && holds(path[:i]) {
			return true
		}
	}
	return holds(path)
}

// withoutEmptySegments makes "a..b", ".a.b" and "a.b." to "a.b": an object that is
// not indexed may hold such keys, and they must not stand outside every rule.
func withoutEmptySegments(path string) string {
	if !strings.HasPrefix(path, ".") && !strings.HasSuffix(path, ".") && !strings.Contains(path, "..") {
		return path
	}
	var kept []string
	for s := range strings.SplitSeq(path, ".") {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, ".")
}
