package query

import "maps"

// kind says what may stand at a place of a search. The kinds stand in groups, each
// printed by one method; the last of each group is named below.
type kind uint8

const (
	closed kind = iota // zero value: nothing may stand here

	// Values that mean nothing but themselves.
	scalar  // a string, number, boolean or null
	scalars // a scalar or an array of scalars
	inert   // any value: shapes, ranges, orders by the name of an aggregation

	// Texts with a syntax of their own; what a rule fills in is escaped for it.
	prefixText   // what a value begins with
	wildcardText // * and ?
	regexpText   // a Lucene regular expression
	luceneText   // the syntax of query_string, which can name fields
	simpleText   // the syntax of simple_query_string, which cannot
	rangeText    // a bound that may be date math
	scriptCode   // a script: a text, or an object with its text

	// Numbers, which clusters read as such: a number that does not fit is no request.
	whole    // an integer of 32 bits
	natural  // one that is not negative: clusters fail on it with a 500
	long     // an integer of 64 bits
	decimal  // a finite number
	hitCount // true, false or an integer of 32 bits

	// Field names.
	fieldName    // one field of a clause
	fieldPattern // one field or a pattern (exists)
	rankName     // one field of an aggregation, sort or collapse
	rankNames    // an array of them
	fieldList    // fields with wildcards and ^boosts, a string or an array
	pathName     // the path of a nested object

	// What holds other parts of a search.
	queryOne    // one query
	queryMany   // one query or an array of them
	queryNamed  // an object of queries by name, or an array of them
	aggsNamed   // aggregations by name
	sortList    // string, object or array
	sourceSpec  // _source
	fetchFields // docvalue_fields, fields
	storedList  // stored_fields
	highlighted // highlight
	hitShape    // inner_hits: one, see innerHits
	hitShapes   // inner_hits of collapse: one or an array

	// Structures.
	object   // an object with the keys of slot.keys
	objects  // one such object or an array of them
	named    // an object with free keys, each holding slot.keys
	byField  // an object with one field as key, each holding slot.keys
	rules    // an interval rule
	random   // a random score
	nameList // source lists of composite: [{name: {type: {...}}}]

	// Values that decide what a restriction permits.
	off        // under a restriction: nothing but false
	minCount   // under a document rule: an integer of at least 1
	expansions // under a document rule: an integer of at least 50
	rewriting  // under a document rule: no choice of terms from the dictionary
	onlyNone   // nothing but "_none"
	termsValue // the value of terms: an array; an object would be a lookup
)

const (
	lastValue     = scriptCode
	lastNumber    = hitCount
	lastField     = pathName
	lastPart      = hitShapes
	lastStructure = nameList
)

// verdict has a reason in each column under which a construct is refused. An
// empty one means that it is answered; how is said by the kind of its parts.
type verdict struct {
	dls string // under a document rule
	fls string // under a field rule
	all string // for everybody who is not unrestricted

	segments  string // where the order of segments tells of what is hidden; see order.go
	documents string // where the order of documents does
}

// slot is one place: what may stand there, and for whom.
type slot struct {
	kind kind
	keys shape
	verdict
	// emptyOK lets an empty object or array pass a verdict: clients send
	// "script_fields": {} without meaning anything by it.
	emptyOK bool
}

// shape is an object's keys. A key that is not in it is refused.
type shape map[string]slot

// Why a construct is refused. The texts end in refusals and in the documentation.
const (
	whyScript  = "a script can read what the rule hides"
	whyLookup  = "it reads another document, which is not built yet"
	whyHidden  = "its content cannot be read before it runs"
	whyStats   = "it shows statistics that count hidden documents"
	whyLeast   = "it takes documents without a value for those of the least value of the shard, hidden ones included"
	whyObjects = "it shows statistics that count hidden nested objects"
	whyTerms   = "it chooses from terms of hidden documents"
	whyJoin    = "it joins documents that the rule may hide; joins under a rule are not built yet"
	whyJoinFLS = "the join field may be hidden; joins under a rule are not built yet"
	whyIndex   = "it names another index, which is not built yet"
	whyModel   = "it calls a model or a vector index, which is not built yet"
	whyPipe    = "it can change the request or the answer after it was checked"
	whyHandle  = "it is not built yet"
	whyMadeUp  = "a field made up in the request can change what the rule means"
	whyEarly   = "it computes values of documents before the rule has left them out"
	whyText    = "its text shows what the rule hides"
	whyWhole   = "it takes documents that the query did not choose"
	whyFirst   = "it depends on which documents a shard has first"
	whyRounded = "what it adds up depends in the last digits on the order"
)

// notBuiltReasons are the reasons that will go away.
var notBuiltReasons = []string{whyLookup, whyJoin, whyJoinFLS, whyIndex, whyModel, whyHandle}

func both(why string) verdict     { return verdict{dls: why, fls: why} }
func everyone(why string) verdict { return verdict{all: why} }

// What depends on the order of documents: by which of them come first, or by the order in
// which their values are added up.
var (
	byFirst   = verdict{segments: whyFirst}
	byRounded = verdict{documents: whyRounded}
)

// join merges shapes; a later key replaces an earlier one.
func join(shapes ...shape) shape {
	out := shape{}
	for _, s := range shapes {
		maps.Copy(out, s)
	}
	return out
}

// each gives all keys the same slot.
func each(s slot, keys ...string) shape {
	out := shape{}
	for _, k := range keys {
		out[k] = s
	}
	return out
}

// of gives all keys the same kind.
func of(k kind, keys ...string) shape { return each(slot{kind: k}, keys...) }

var (
	scripted   = slot{kind: scriptCode, verdict: both(whyScript)}
	namedBoost = join(of(scalar, "_name"), of(decimal, "boost"))
)
