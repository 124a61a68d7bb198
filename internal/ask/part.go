package ask

import "guard/internal/names"

// Scope says what a privilege is checked against.
type Scope uint8

// The scopes of a privilege.
const (
	ScopeIndex   Scope = iota // once per target
	ScopeCluster              // once, without names
)

// When says under which condition a privilege is asked for at all.
type When uint8

// The conditions of a privilege.
const (
	Always       When = iota
	IndexMissing      // only if the target does not exist: indices:admin/create
	NewField          // only if the document holds a field that the mapping lacks: indices:admin/mapping/put
)

// Privilege is one action that a request asks for. A request asks several:
// PUT _doc needs index, bulk on the cluster, bulk[s], and at times create and
// mapping/put.
type Privilege struct {
	Action string
	Scope  Scope
	When   When
}

// WholeRequest is the slot of a part whose refusal refuses the request.
const WholeRequest = -1

// Part is one thing that a request asks: some privileges on some names. A search
// asks one part; an msearch, mget or bulk one for the envelope and one per item.
type Part struct {
	// Slot is the position in the answer that this part stands for, or WholeRequest.
	Slot       int
	Privileges []Privilege
	// Exprs are the names as the client wrote them, split at commas. None means all.
	Exprs []names.Expr
	Opts  names.Options
	// Single marks a part that names exactly one index, alias or stream and cannot be
	// reduced: document reads and writes, index creation.
	Single bool
	// Fixed marks a part whose list of names cannot be replaced by a shorter one.
	Fixed bool
	// Aliases marks a part whose names are meant as those of aliases alone: they are made,
	// removed or looked for, and the cluster says what is wrong with them.
	Aliases bool
}

// TargetKind says what a name turned out to be.
type TargetKind uint8

// The kinds of a target.
const (
	Missing TargetKind = iota // zero value: it does not exist
	Index
	Alias
	DataStream
)

// Target is a name that an expression resolved to.
type Target struct {
	Name string
	Kind TargetKind
	// Members are the concrete indices behind the name, sorted; for an index itself.
	Members []string
	// Wildcard tells that it was expanded from a pattern and not named literally.
	Wildcard bool
	// Filtered tells that an alias carries a filter or a routing that a rewrite to its
	// members would lose.
	Filtered bool
	// Via are the filtered aliases that an index was reached through, if it was reached
	// through such only and they could not stand whole ("alias*,-one-of-its-indices"):
	// any of their filters lets a document through, all others hide it.
	Via []string
}

// Resolved is what the expressions of one part mean on one cluster state.
type Resolved struct {
	// All tells that the expression means every index: empty, "_all" or "*" alone.
	All     bool
	Targets []Target // sorted by name, without repeats
	// Unknown are literal names that nothing on this state carries. The verdict on
	// them does not depend on that (law 12).
	Unknown []string
	// Remote are expressions for other clusters ("cluster:index").
	Remote []names.Expr
	// NoMatch are wildcards that nothing on this state matches. With
	// allow_no_indices=false the cluster answers 404 for one that is forwarded.
	NoMatch []names.Expr
	// Excluded are names and wildcards that the client took out ("logs-*,-logs-secret")
	// and for which the cluster answers 404 if nothing has them. The expression is
	// forwarded as it stands only if they are granted as well; else 404 and 200 tell.
	Excluded []string
	// Faults are the reasons for which the cluster answers 404 to the expressions, in the
	// order in which it would find them. It tells the first.
	Faults []Fault
	// Beyond tells that other names than those of Targets had a say in what the
	// expressions mean: names that were excluded, groups whose indices stand for
	// themselves, whatever made a wildcard match anything.
	Beyond bool
}

// Fault is a reason for 404: an expression that means nothing though it has to.
type Fault struct {
	Name     string   // what nothing has, or matches; counts if List is empty
	List     []string // of which nothing is left as a whole
	As       Resource
	Wildcard bool // Name is a wildcard
	Excluded bool // Name was to be taken out
}

// Rejection is the cluster's error for f.
func (f *Fault) Rejection() *Rejection {
	if len(f.List) > 0 {
		return NothingLeft(f.List, f.As)
	}
	return NoSuchIndex(f.Name, f.As)
}

// RestrictionID is the canonical hash of a restriction's meaning. The zero value is
// the restriction that shows nothing; Free is the absence of any.
type RestrictionID [16]byte

// Free means that no document, field or mask rule applies.
var Free = RestrictionID{0: 0xff}
