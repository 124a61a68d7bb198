package authz

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"guard/internal/ask"
	"guard/internal/names"
)

// Restriction is what binds a principal on one index.
type Restriction struct {
	// ID is a hash of the meaning: equal restrictions have one, whatever roles they
	// come from. It is ask.Free if nothing binds, and zero if nothing is shown.
	ID ask.RestrictionID
	// None tells that nothing is shown: no role covers the index, or each document
	// rule lacks a variable. The other members are empty then.
	None bool

	DLS   []DLSRule // a document is visible if any of them matches; none: all documents
	FLS   []string  // the union of all entries; none: all fields
	Masks []string  // in order: the first that matches a field counts
}

// DLSRule is one document rule for one principal.
type DLSRule struct {
	Text     string           // the query, values put in as JSON
	Template string           // as written
	Values   map[string]Value // by variable; nil if the rule has none
}

// Restriction returns what binds who on an index: the rules of every entry whose
// patterns cover it, by its name, its stream or an alias, whatever actions the
// entry grants.
func (p *Policy) Restriction(who *ask.Principal, c Cluster, index string, now time.Time) Restriction {
	q := query{policy: p, subject: p.subject(who), cluster: c, now: now}
	return q.restriction(index)
}

func (q *query) restriction(index string) Restriction {
	var rules ruleSet
	for i := range q.subject.entries {
		e := &q.subject.entries[i]
		switch e.covers(q.cluster, index, q.now) {
		case covered:
			rules.add(e, q.subject.who)
		case unknowable:
			rules.addUnknown(e)
		case apart:
		}
	}
	return rules.restriction(q.policy.emptyFrees)
}

// coverage says whether an entry covers an index.
type coverage uint8

const (
	apart      coverage = iota
	covered             // by a pattern
	unknowable          // perhaps: a variable has no value, or an expression ran out of time
)

func (e *boundEntry) covers(c Cluster, index string, now time.Time) coverage {
	best := e.coversName(index, now)
	for _, alias := range c.Aliases(index) {
		best = best.or(e.coversName(alias, now))
	}
	if stream := c.Stream(index); stream != "" && stream != index {
		best = best.or(e.covers(c, stream, now))
	}
	return best
}

// or prefers certain coverage.
func (a coverage) or(b coverage) coverage {
	if a == covered || b == covered {
		return covered
	}
	return max(a, b)
}

func (e *boundEntry) coversName(name string, now time.Time) coverage {
	best := apart
	for i := range e.patterns {
		p := e.patterns[i].at(now)
		before := p.Timeouts()
		switch {
		case p.Match(name) && e.patterns[i].unknown:
			best = unknowable
		case p.Match(name):
			return covered
		case p.Timeouts() != before:
			best = unknowable
		}
	}
	return best
}

// ruleSet collects the rules of the entries that cover one index.
type ruleSet struct {
	any             bool // some entry covers it
	dls, fls, masks dimension
	documents       []DLSRule
	fields          []string
	maskLists       [][]string
	nothing         bool // a field or mask rule may apply and cannot be known
}

// dimension counts the entries with and without a rule of one kind.
type dimension struct{ ruled, free bool }

func (d *dimension) note(ruled bool) {
	d.ruled = d.ruled || ruled
	d.free = d.free || !ruled
}

// binds reports whether the rules of a dimension count. By default an entry without
// a rule takes nothing away from those with one.
func (d dimension) binds(emptyFrees bool) bool { return d.ruled && !(emptyFrees && d.free) }

func (r *ruleSet) add(e *boundEntry, who *ask.Principal) {
	r.any = true
	r.dls.note(e.dls != nil)
	r.fls.note(len(e.fls) > 0)
	r.masks.note(len(e.masks) > 0)
	if e.dls != nil {
		// A rule that lacks a variable adds nothing to what is shown.
		if text, values, err := e.dls.renderJSON(who); err == nil {
			r.documents = append(r.documents, DLSRule{Text: text, Template: e.dls.text, Values: values})
		}
	}
	r.fields = append(r.fields, e.fls...)
	if len(e.masks) > 0 {
		r.maskLists = append(r.maskLists, e.masks)
	}
}

// addUnknown counts the rules of an entry that may cover the index, with nothing
// shown by them. It never frees and never covers.
func (r *ruleSet) addUnknown(e *boundEntry) {
	if e.dls != nil {
		r.dls.ruled = true
	}
	if len(e.fls) > 0 || len(e.masks) > 0 {
		r.nothing = true
	}
}

func (r *ruleSet) restriction(emptyFrees bool) Restriction {
	if !r.any || r.nothing {
		return Restriction{None: true}
	}
	var out Restriction
	if r.dls.binds(emptyFrees) {
		if len(r.documents) == 0 {
			return Restriction{None: true}
		}
		out.DLS = sortedRules(r.documents)
	}
	if r.fls.binds(emptyFrees) {
		out.FLS = slices.Compact(slices.Sorted(slices.Values(r.fields)))
	}
	if r.masks.binds(emptyFrees) {
		out.Masks = mergeMasks(r.maskLists)
	}
	out.ID = out.hash()
	return out
}

// sortedRules puts rules into the order of their texts, each once.
func sortedRules(rules []DLSRule) []DLSRule {
	slices.SortFunc(rules, func(a, b DLSRule) int { return strings.Compare(a.Text, b.Text) })
	return slices.CompactFunc(rules, func(a, b DLSRule) bool { return a.Text == b.Text })
}

// mergeMasks joins the lists of entries. Inside a list the first mask that matches
// counts, so its order stays; between roles the plugin has none, so the lists are
// ordered by what they say.
func mergeMasks(lists [][]string) []string {
	slices.SortFunc(lists, slices.Compare)
	var out []string
	for _, mask := range slices.Concat(lists...) {
		if !slices.Contains(out, mask) {
			out = append(out, mask)
		}
	}
	return out
}

// hash returns the id of r, which shows something.
func (r *Restriction) hash() ask.RestrictionID {
	if len(r.DLS)+len(r.FLS)+len(r.Masks) == 0 {
		return ask.Free
	}
	h := sha256.New()
	put := func(text string) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(text)))
		h.Write(length[:])
		h.Write([]byte(text))
	}
	list := func(texts []string) { // the count in front: lists never run into each other
		put(strconv.Itoa(len(texts)))
		for _, text := range texts {
			put(text)
		}
	}
	documents := make([]string, 0, len(r.DLS))
	for _, rule := range r.DLS {
		documents = append(documents, compactJSON(rule.Text))
	}
	slices.Sort(documents)
	list(slices.Compact(documents))
	list(r.FLS)
	list(r.Masks)
	var id ask.RestrictionID
	copy(id[:], h.Sum(nil))
	return id
}

// compactJSON drops white space that means nothing; what is no JSON stays.
func compactJSON(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}

// Covers reports whether every name that asked can ever match is granted for all of
// the privileges on names, with one and the same restriction, which it returns.
// Only then may the pattern itself be forwarded (law 3).
func (p *Policy) Covers(who *ask.Principal, privileges []ask.Privilege, asked names.Pattern, now time.Time) (ask.RestrictionID, bool) {
	q := query{policy: p, subject: p.subject(who), part: ask.Part{Privileges: privileges}, now: now}
	if asked.IsRegex() || p.mayReachClosed(q.subject, asked) ||
		!q.every(true, func(g *grant) bool { return g.set.covers(asked) }) {
		return ask.RestrictionID{}, false
	}
	return q.uniform(asked)
}

// mayReachClosed reports whether asked could match a system index that is not open.
func (p *Policy) mayReachClosed(s *subject, asked names.Pattern) bool {
	if asked.Match(SecurityIndex) {
		return true
	}
	for _, system := range p.system.List() {
		common, exact := names.Intersect(system, asked)
		if !(exact && common.IsNothing()) && !s.explicit.set.covers(system) {
			return true
		}
	}
	return false
}

// uniform returns the restriction of all names that asked can match, if each entry
// that has a say on any name covers all of them. A member of an alias may have any
// name, so an entry that covers only some names makes it unknowable.
func (q *query) uniform(asked names.Pattern) (ask.RestrictionID, bool) {
	if !q.subject.ruled {
		return ask.Free, true
	}
	var rules ruleSet
	for i := range q.subject.entries {
		e := &q.subject.entries[i]
		inside := slices.ContainsFunc(e.patterns, func(b boundPattern) bool {
			return !b.unknown && b.date == nil && b.pattern.Covers(asked)
		})
		switch {
		case inside:
			rules.add(e, q.subject.who)
		case e.restricts() || q.policy.emptyFrees:
			return ask.RestrictionID{}, false
		}
	}
	return rules.restriction(q.policy.emptyFrees).ID, true
}
