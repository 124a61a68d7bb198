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

// HidesDocuments reports whether r may hide documents.
func (r *Restriction) HidesDocuments() bool { return r.None || len(r.DLS) > 0 }

// HidesFields reports whether r may hide fields: where nothing is shown no field is either.
func (r *Restriction) HidesFields() bool { return r.None || len(r.FLS) > 0 }

// DLSRule is one document rule for one principal.
type DLSRule struct {
	Text     string           // the query, values put in as JSON
	Template string           // as written
	Values   map[string]Value // by variable; nil if the rule has none
}

// Restriction returns what binds who on an index: the rules of every entry whose
// patterns cover it, by its name, its stream or an alias, whatever actions the
// entry grants. The result is shared: the caller must not change it.
func (p *Policy) Restriction(who *ask.Principal, c Cluster, index string, now time.Time) *Restriction {
	q := question{policy: p, subject: p.subject(who), cluster: c, now: now}
	return q.restriction(index)
}

// maxRestrictions bounds what one subject remembers: past it restrictions are made
// anew each time.
const maxRestrictions = 512

// restriction finds the entries that cover index. What follows from them depends
// on nothing else, so it is remembered by their set.
func (q *question) restriction(index string) *Restriction {
	s := q.subject
	var room [32]coverage
	var keyRoom [128]byte
	covering := s.index.appendIndex(room[:0], q.cluster, index, q.now)
	key := appendKey(keyRoom[:0], covering)
	s.memo.RLock()
	known := s.rules[string(key)]
	s.memo.RUnlock()
	if known != nil {
		return known
	}
	made := s.combine(covering, q.policy.emptyFrees)
	s.memo.Lock()
	defer s.memo.Unlock()
	if len(s.rules) < maxRestrictions {
		s.rules[string(key)] = made
	}
	return made
}

// combine makes the restriction of an index from the entries that cover it.
func (s *subject) combine(covering []coverage, emptyFrees bool) *Restriction {
	var rules ruleSet
	for _, c := range covering {
		if e := &s.entries[c.entry()]; c.unsure() {
			rules.addUnknown(e)
		} else {
			rules.add(e, s.who)
		}
	}
	r := rules.restriction(emptyFrees)
	return &r
}

// ruleSet collects the rules of the entries that cover one index.
type ruleSet struct {
	any             bool // some entry covers it
	dls, fls, masks dimension
	documents       []DLSRule
	fields          []string
	maskLists       [][]string
}

// dimension counts the entries with and without a rule of one kind.
type dimension struct {
	ruled, free bool
	// unknown tells that an entry with a rule may cover the index or not.
	unknown bool
}

func (d *dimension) note(ruled bool) {
	d.ruled = d.ruled || ruled
	d.free = d.free || !ruled
}

// noteUnknown counts an entry that may cover the index: its rule binds, and what
// has no rule never frees.
func (d *dimension) noteUnknown(ruled bool) {
	d.ruled = d.ruled || ruled
	d.unknown = d.unknown || ruled
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
		if text, values, err := e.dls.renderJSON(valuesOf(who)); err == nil {
			r.documents = append(r.documents, DLSRule{Text: text, Template: e.dls.text, Values: values})
		}
	}
	r.fields = append(r.fields, e.fls...)
	if len(e.masks) > 0 {
		r.maskLists = append(r.maskLists, e.masks)
	}
}

// addUnknown counts the rules of an entry that may cover the index. It covers
// nothing by that.
func (r *ruleSet) addUnknown(e *boundEntry) {
	r.dls.noteUnknown(e.dls != nil)
	r.fls.noteUnknown(len(e.fls) > 0)
	r.masks.noteUnknown(len(e.masks) > 0)
}

// restriction says what follows. A document rule that may apply shows no further
// document; a field rule or mask that may apply leaves nothing that is sure to be
// shown.
func (r *ruleSet) restriction(emptyFrees bool) Restriction {
	documents, fields, masks := r.dls.binds(emptyFrees), r.fls.binds(emptyFrees), r.masks.binds(emptyFrees)
	if !r.any || documents && len(r.documents) == 0 || fields && r.fls.unknown || masks && r.masks.unknown {
		return Restriction{None: true}
	}
	var out Restriction
	if documents {
		out.DLS = sortedRules(r.documents)
	}
	if fields {
		out.FLS = slices.Compact(slices.Sorted(slices.Values(r.fields)))
	}
	if masks {
		out.Masks = mergeMasks(r.maskLists)
	}
	out.ID = out.hash()
	return out
}

// sortedRules puts rules into the order of their texts, each once.
func sortedRules(rules []DLSRule) []DLSRule {
	slices.SortFunc(rules, func(a, b DLSRule) int { return strings.Compare(a.meaning(), b.meaning()) })
	return slices.CompactFunc(rules, func(a, b DLSRule) bool { return a.meaning() == b.meaning() })
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
		documents = append(documents, rule.meaning())
	}
	slices.Sort(documents)
	list(slices.Compact(documents))
	list(r.FLS)
	list(r.Masks)
	var id ask.RestrictionID
	copy(id[:], h.Sum(nil))
	return id
}

// meaning returns what tells r from other rules. A value is literal where a rule's own
// text is a pattern, so equal texts of different templates can mean different things.
func (r DLSRule) meaning() string {
	if len(r.Values) == 0 {
		return compactJSON(r.Text)
	}
	return compactJSON(r.Text) + "\x00" + r.Template
}

// compactJSON drops white space that means nothing; what is no JSON stays.
func compactJSON(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}
