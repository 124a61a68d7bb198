package query

import (
	"sync"

	"guard/internal/esjson"
)

// What one search may hold. Clusters end the connection on queries that nest some
// hundred levels, and refuse more than 65,536 terms.
const (
	maxNesting = 64      // clauses and aggregations, one inside the other
	maxParts   = 8192    // clauses and aggregations in one search
	maxTerms   = 65536   // values of one terms clause
	maxGrown   = 4 << 20 // 4 MiB that a rule adds to a search: names for patterns, queries repeated
)

// maxPatterns bounds what is compared with every field of the indices in one search; the
// clusters take no more clauses than that.
const maxPatterns = 1024

// The bounds of all searches of one request together.
const (
	maxAllPatterns = 16 * maxPatterns
	maxAllGrown    = 16 * maxGrown
)

// The bounds of a name, or pattern, of fields: looking one up costs a look for each object
// around it. What is beyond them is hidden. The clusters index no object deeper than 20 by
// default.
const (
	MaxName  = 2048 // bytes
	MaxAbove = 100  // dots
)

// walker re-emits one search under its rules. Each method prints one part, or
// returns why it cannot.
type walker struct {
	w        esjson.Writer
	rules    *Rules
	fill     Fill // set in a role's own query: what its strings stand for
	role     bool
	nested   int    // clauses and aggregations around this place
	parts    int    // clauses and aggregations so far
	grown    int    // bytes added so far
	patterns int    // of fields, so far
	replaced *Names // those replaced so far; made when the first one is

	// asked is the client's query of the body, before the filter stands beside it, and
	// filtered the one after it.
	asked, filtered esjson.Value
	// around is what stands beside the text of the query_string that is printed.
	around textAround
	// continued tells that the search goes on after a hit.
	continued bool
	// within tells that nothing here is weighed: spans hold spans and nothing else.
	within bool
	// ending is a key that the options being printed have to end with; see spelled.
	ending string
	// ofObjects tells that the query here is one of the objects of a nested field.
	ofObjects bool
	// instead tells that a phrase's prefix is printed as a prefix alone; see beginning.
	instead bool
	// apart tells that what decides the order of the body's hits is printed by itself.
	apart bool
	// counted tells that all hits are counted whatever the client asks; see total.
	counted bool
	// inner tells that hits here are those of a clause, not of the body.
	inner bool
	// topHits tells that hits here are those of a top_hits aggregation, and unrewritten
	// that the query here is one which no cluster rewrites.
	topHits, unrewritten bool
	aggregated           string // the name of that aggregation
}

// walkers keeps walkers whose search is written.
var walkers = sync.Pool{New: func() any { return new(walker) }}

// borrowWalker returns a walker for one search. Who borrows it gives it back with release.
func borrowWalker(r *Rules) *walker {
	k := walkers.Get().(*walker) //nolint:forcetypeassert // the pool holds nothing else
	k.rules = r
	return k
}

// release gives k back with nothing in it of the search that it has written.
func (k *walker) release() {
	*k = walker{}
	walkers.Put(k)
}

func (k *walker) docRule() bool   { return k.rules.Filter != Free }
func (k *walker) fieldRule() bool { return k.rules.Fields != nil }

// hidesDocs reports whether a shard that has hits can hold hidden documents too.
func (k *walker) hidesDocs() bool { return k.docRule() && !k.rules.NamesOnly }

// refusal returns the reason that v holds against the rules of this walk.
func (k *walker) refusal(v verdict) string {
	switch {
	case v.all != "":
		return v.all
	case k.role:
		return "" // a role's own query is not bound by the rule that it makes
	case v.dls != "" && k.docRule():
		return v.dls + underDocRule
	case v.fls != "" && k.fieldRule():
		return v.fls + underFieldRule
	case v.segments != "" && k.rules.Order >= OfSegments:
		return v.segments + underOrder
	case v.documents != "" && k.rules.Order == OfDocuments:
		return v.documents + underOrder
	}
	return ""
}

const (
	underDocRule   = " (under a document rule)"
	underFieldRule = " (under a field rule)"
	underOrder     = " (in an index whose order tells of what a rule hides)"
)

// enter counts a clause or an aggregation and how deep it stands.
func (k *walker) enter(v esjson.Value, construct string) error {
	k.nested++
	k.parts++
	if k.nested > maxNesting {
		return refuse(v, construct, "it nests deeper than %d clauses and aggregations", maxNesting)
	}
	if k.parts > maxParts {
		return refuse(v, construct, "the search holds more than %d clauses and aggregations", maxParts)
	}
	return nil
}

// grow counts n bytes that the rules add to the search at v.
func (k *walker) grow(v esjson.Value, construct string, n int) error {
	if k.grown += n; k.grown > maxGrown {
		return refuse(v, construct, "it makes the search too long under the rules; name fewer fields")
	}
	if all := k.rules.All; all != nil {
		if all.grown += n; all.grown > maxAllGrown {
			return refuse(v, construct, "it makes the searches of this request too long under the rules; name fewer fields, or send fewer searches at once")
		}
	}
	return nil
}

func (k *walker) leave() { k.nested-- }

// slot prints v, which stands at key, as s wants it.
func (k *walker) slot(v esjson.Value, key string, s *slot) error {
	if why := k.refusal(s.verdict); why != "" {
		if !passes(v, s) {
			return refuse(v, key, "%s", why)
		}
		return k.inert(v)
	}
	switch {
	case s.kind <= lastValue:
		return k.value(v, key, s.kind)
	case s.kind <= lastNumber:
		return k.number(v, key, s.kind)
	case s.kind <= lastField:
		return k.field(v, key, s.kind)
	case s.kind <= lastPart:
		return k.part(v, key, s.kind)
	case s.kind <= lastStructure:
		return k.structure(v, key, s)
	default:
		return k.limited(v, key, s.kind)
	}
}

// passes reports whether a value is so empty that the refusal of s does not meet it.
func passes(v esjson.Value, s *slot) bool {
	if s.kind == off {
		on, err := v.Bool()
		return err == nil && !on
	}
	return s.emptyOK && (v.Is(esjson.Object) || v.Is(esjson.Array)) && v.Len() == 0
}

// structure prints objects and arrays whose keys the tables know.
func (k *walker) structure(v esjson.Value, key string, s *slot) error {
	switch s.kind {
	case object:
		return k.object(v, key, s.keys)
	case objects:
		return k.oneOrMany(v, key, func(e esjson.Value) error { return k.object(e, key, s.keys) })
	case named:
		return k.named(v, key, s.keys)
	case byField:
		return k.members(v, key, func(name string, m esjson.Value) error { return k.decayed(m, name, s.keys) })
	case rules:
		return k.oneOrMany(v, key, func(e esjson.Value) error { return k.object(e, key, intervalRule) })
	case random:
		return k.randomScore(v, key, s.keys)
	case nameList:
		return k.oneOrMany(v, key, func(e esjson.Value) error { return k.named(e, key, s.keys) })
	default:
		return refuse(v, key, "nothing may stand here")
	}
}

// named prints an object whose keys are names that the client chose, of objects whose
// keys are those of sh.
func (k *walker) named(v esjson.Value, construct string, sh shape) error {
	return k.members(v, construct, func(name string, m esjson.Value) error {
		k.w.Key(name)
		return k.object(m, name, sh)
	})
}

// object prints an object whose keys are those of sh.
func (k *walker) object(v esjson.Value, construct string, sh shape) error {
	return k.members(v, construct, func(key string, m esjson.Value) error { return k.member(m, key, sh) })
}

// member prints one key of an object and what stands there.
func (k *walker) member(v esjson.Value, key string, sh shape) error {
	s, ok := sh[key]
	if !ok {
		return refuse(v, key, "unknown key")
	}
	if k.role && key == "_name" {
		return nil // it would show in the answer, and means nothing to a filter
	}
	switch {
	case key == "track_total_hits" && k.counted,
		!k.role && k.tellsOfHidden(key),
		k.instead && (key == "slop" || key == "max_expansions" || key == "zero_terms_query"): // of phrases alone
		aside := walker{rules: k.rules}
		aside.w.BeginObject()
		aside.w.Key(key)
		return aside.slot(v, key, &s)
	case k.instead && key == "type":
		k.w.Key(key)
		k.w.Text("bool_prefix")
		return nil
	}
	k.w.Key(key)
	return k.slot(v, key, &s)
}

// members prints an object by printing each of its members.
func (k *walker) members(v esjson.Value, construct string, member func(key string, m esjson.Value) error) error {
	if !v.Is(esjson.Object) {
		return refuse(v, construct, "found %s, want an object", v.Kind())
	}
	k.w.BeginObject()
	for key, m := range v.Members() {
		if err := member(key, m); err != nil {
			return err
		}
	}
	k.endOptions()
	return nil
}

// oneOrMany prints v, or each element of v if it is an array.
func (k *walker) oneOrMany(v esjson.Value, construct string, one func(esjson.Value) error) error {
	if !v.Is(esjson.Array) {
		return one(v)
	}
	k.w.BeginArray()
	for _, e := range v.Elements() {
		if e.Is(esjson.Array) {
			return refuse(e, construct, "found an array in an array")
		}
		if err := one(e); err != nil {
			return err
		}
	}
	k.w.EndArray()
	return nil
}

// decayed prints a member of gauss, linear, exp or of missing in matrix_stats: a
// field with what stands below it, or the one option beside it.
func (k *walker) decayed(v esjson.Value, name string, sh shape) error {
	if sh != nil && name == "multi_value_mode" && v.Is(esjson.String) {
		k.w.Key(name)
		return k.value(v, name, scalar)
	}
	shown, err := k.seen(v, name, Match)
	if err != nil {
		return err
	}
	k.w.Key(shown)
	if sh == nil {
		return k.value(v, name, scalar)
	}
	return k.object(v, name, sh)
}
