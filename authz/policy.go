// Package authz answers what a principal may do: roles are compiled once into
// immutable structures, and a decision says which of the names that a request
// means are granted, and which document and field rules bind them. Whatever is
// missing (a rule, a role, a variable) means less access, never more.
package authz

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// Cluster is what a decision needs to know of the cluster state.
type Cluster interface {
	// Aliases returns the aliases of an index or of a data stream.
	Aliases(name string) []string
	// Stream returns the data stream that an index is a generation of, or "".
	Stream(index string) string
}

// The caches are bounded by entries; an evicted entry is computed again.
const (
	maxPrincipals = 10_000 // identities that were mapped
	maxSubjects   = 10_000 // principals that were decided for
	maxProfiles   = 2_000  // sets of roles with the values of their patterns: the big ones
)

// securityIndex is where the security plugin keeps its configuration, password
// hashes included. No role opens it.
const securityIndex = ".opendistro_security"

// systemPermission opens system indices, where a role names it otherwise than by
// a bare "*".
const systemPermission = "system:admin/system_index"

// Policy is a compiled security folder: immutable but for its caches, whose
// entries follow from their keys.
type Policy struct {
	evaluation config.Evaluation
	reduce     bool // legacy: do_not_fail_on_forbidden; v4: ignore_unauthorized_indices
	reduceAll  bool // legacy: do_not_fail_on_forbidden_empty
	emptyFrees bool // dfm_empty_overrides_all
	resolution config.RoleResolution

	system     reserved       // system indices that are configured
	protected  reserved       // indices that only who has one of protectors may touch
	protectors names.Patterns // roles
	lasting    bool           // no name of these is an expression that can run out of time
	openable   bool           // by systemPermission; else nobody opens system indices
	roles      map[string]*role
	super      *role // of administrators
	mappings   []mapping
	located    []mapping       // those of mappings that name hosts
	hidden     map[string]bool // roles whose mapping is hidden

	principals *lru.Cache[string, *ask.Principal]
	subjects   *lru.Cache[*ask.Principal, *subject]
	profiles   *lru.Cache[string, *profile]
	building   sync.Mutex // held while a subject or profile is made, so that it is made once
}

// reserved are names of indices that are not open to everybody.
type reserved struct {
	names.Patterns
	// generations are for each pattern what the indices behind a stream of such a name are
	// called.
	generations []names.Pattern
}

// meets returns the patterns that may match a name that asked matches too, themselves or by
// their generations.
func (r *reserved) meets(asked names.Pattern) (list []names.Pattern) {
	for i, p := range r.List() {
		if mayMeet(p, asked) || mayMeet(r.generations[i], asked) {
			list = append(list, p)
		}
	}
	return list
}

// Evaluation returns the set of rules that the policy decides by.
func (p *Policy) Evaluation() config.Evaluation { return p.evaluation }

// role is a compiled entry of roles.yml.
type role struct {
	name    string
	pos     config.Pos     // of cluster_permissions
	cluster names.Patterns // actions
	entries []*entry
	// variables are those of index patterns, which tell principals apart.
	variables []segment
}

// entry is a compiled element of index_permissions.
type entry struct {
	pos      config.Pos
	actions  names.Patterns
	patterns []indexPattern
	dls      *template // nil: no document rule
	fls      []string  // none: no field rule
	masks    []string  // none: no mask
}

// restricts reports whether e carries any rule.
func (e *entry) restricts() bool {
	return e.dls != nil || len(e.fls) > 0 || len(e.masks) > 0
}

// mapping is a compiled entry of roles_mapping.yml.
type mapping struct {
	role     string
	pos      config.Pos
	users    names.Patterns
	backend  names.Patterns  // any of the backend roles
	backends []names.Pattern // each of them
	hosts    names.Patterns  // of addresses in their shortest form
}
