// Package naive answers what somebody may do in the plainest way that there is: it reads
// the text of the policy and the plain facts of the cluster anew for each question, with
// loops and nothing prepared. It shares no code with the evaluator that guard runs, whose
// answers are compared with its own; a test of the layers holds that it imports neither
// authz nor indexresolver.
//
// It is written from what the rules are (docs/compatibility.md, and the facts measured on
// clusters and on the plugin that the tables of tests hold), for reading and not for speed.
package naive

import (
	"time"

	"guard/internal/names"
)

// Case is a question with all that its answer depends on.
type Case struct {
	Policy Policy
	World  World
	Who    Who
	Ask    Ask
}

// Policy is what the files of a security folder say.
type Policy struct {
	V4 bool `json:",omitempty"`
	// Reduces is do_not_fail_on_forbidden for legacy, and for v4
	// privileges_evaluation_ignore_unauthorized_indices.
	Reduces      bool `json:",omitempty"`
	ReducesToNil bool `json:",omitempty"` // do_not_fail_on_forbidden_empty
	EmptyFrees   bool `json:",omitempty"` // dfm_empty_overrides_all
	// System are the patterns of system indices; SystemOpens tells that a permission
	// opens them.
	System      []string `json:",omitempty"`
	SystemOpens bool     `json:",omitempty"`
	// Protected are the patterns of indices that only holders of roles that match
	// Protectors may touch.
	Protected  []string `json:",omitempty"`
	Protectors []string `json:",omitempty"`

	Groups map[string][]string `json:",omitempty"` // of actions and of groups
	Roles  map[string]Role     `json:",omitempty"`
	// Mappings say by the name of a role who has it.
	Mappings map[string]Mapping `json:",omitempty"`
	// BackendRoles tells how roles are found: "", "only" or "both".
	BackendRoles string `json:",omitempty"`
}

// Role is a role of roles.yml.
type Role struct {
	Cluster []string `json:",omitempty"`
	Entries []Entry  `json:",omitempty"`
}

// Entry is an element of index_permissions.
type Entry struct {
	Patterns []string `json:",omitempty"`
	Actions  []string `json:",omitempty"`
	DLS      string   `json:",omitempty"`
	FLS      []string `json:",omitempty"`
	Masks    []string `json:",omitempty"`
}

// Mapping is an entry of roles_mapping.yml.
type Mapping struct {
	Hidden          bool     `json:",omitempty"`
	Users           []string `json:",omitempty"`
	Hosts           []string `json:",omitempty"`
	BackendRoles    []string `json:",omitempty"`
	AndBackendRoles []string `json:",omitempty"`
}

// World is a cluster.
type World struct {
	Indices []Index  `json:",omitempty"`
	Streams []Stream `json:",omitempty"`
}

// Index is a concrete index.
type Index struct {
	Name    string
	Closed  bool    `json:",omitempty"`
	Hidden  bool    `json:",omitempty"`
	Aliases []Alias `json:",omitempty"`
}

// Alias is what an alias says of one of its indices.
type Alias struct {
	Name    string
	Hidden  bool   `json:",omitempty"`
	Filter  string `json:",omitempty"`
	Routing string `json:",omitempty"`
}

// Stream is a data stream.
type Stream struct {
	Name    string
	Hidden  bool `json:",omitempty"`
	Indices []string
}

// Who is who asks.
type Who struct {
	Name         string
	Address      string            `json:",omitempty"`
	BackendRoles []string          `json:",omitempty"`
	OwnRoles     []string          `json:",omitempty"` // opendistro_security_roles
	Attributes   map[string]string `json:",omitempty"` // by their full names: attr.internal.x
	By           string            `json:",omitempty"` // who asks in his name
	Admin        bool              `json:",omitempty"` // an administrator of the policy
}

// Ask is what is asked.
type Ask struct {
	Privileges []Privilege
	Exprs      []string `json:",omitempty"`
	Opts       names.Options
	Single     bool `json:",omitempty"` // exactly one name
	Fixed      bool `json:",omitempty"` // a list of names that can't be made shorter
	Now        time.Time
}

// Privilege is an action that is asked for.
type Privilege struct {
	Action    string
	Cluster   bool `json:",omitempty"` // not on names
	IfMissing bool `json:",omitempty"` // only on names that do not exist
}

// Answer is what may be done.
type Answer struct {
	// Bad tells that the expressions are none that a cluster takes.
	Bad bool
	// Allow is the effect; the other members are empty without it.
	Allow bool
	// Reduced tells that something that was asked for is not allowed.
	Reduced bool
	// Names may be used: indices, aliases and streams as they stand, sorted.
	Names []string
	// Missing are those of Names that nothing carries.
	Missing []string
	// Remote are expressions for other clusters that may be used.
	Remote []string
	// Bound says for each index behind Names what the aliases that lead to it put on it.
	Bound map[string]Bound
	// Rules say for each index behind Names, and each missing name, what the roles put on it.
	Rules map[string]Rules
}

// Bound is what the aliases that lead to an index put on it.
type Bound struct {
	Filters []string // one of them lets a document through; none: all documents
	Routing []string // none: every shard
}

// Rules are what the roles put on an index.
type Rules struct {
	None  bool     // nothing is shown
	DLS   []string // one of them shows a document; none: all documents
	FLS   []string // none: all fields
	Masks []string
}

// evaluation is a question under way.
type evaluation struct {
	Case
	roles []string // of who asks
}

// Evaluate answers c.
func Evaluate(c Case) Answer {
	if c.Who.Admin {
		c = asAdmin(c)
	}
	e := evaluation{Case: c}
	e.roles = e.rolesOf()
	onNames, onCluster := false, true
	for _, p := range c.Ask.Privileges {
		switch {
		case !p.Cluster && !e.isClusterAction(p.Action):
			onNames = true
		case !e.grantsCluster(p.Action):
			onCluster = false
		}
	}
	var seen func(target) bool
	if c.Policy.V4 && c.Policy.Reduces && !c.Ask.Single {
		seen = e.grantedByName // what is not granted is not there, but for who writes its name
	}
	m, ok := c.World.expand(c.Ask, seen)
	switch {
	case !ok:
		return Answer{Bad: true} // that is told first
	case !onCluster || len(c.Ask.Privileges) == 0:
		return Answer{}
	case !onNames:
		return Answer{Allow: true}
	case c.Policy.V4:
		return e.v4(m)
	default:
		return e.legacy(m)
	}
}

// asAdmin is a question under a policy that has one role, for everything, and no index that
// it closes to who has it.
func asAdmin(c Case) Case {
	c.Policy.Roles = map[string]Role{"everything": {Cluster: []string{"*"}, Entries: []Entry{{Patterns: []string{"*", "*:*"}, Actions: []string{"*"}}}}}
	c.Policy.System, c.Policy.Protected, c.Policy.Mappings, c.Policy.BackendRoles = nil, nil, nil, ""
	c.Who = Who{Name: c.Who.Name, Admin: true, OwnRoles: []string{"everything"}}
	return c
}

// Searched says which indices a cluster searches for some expressions, whoever asks, with
// what aliases put on them. It is false for what no cluster takes for a name.
func Searched(w World, a Ask) (map[string]Bound, bool) {
	m, ok := w.expand(a, nil)
	return w.boundBy(m.targets), ok
}

// Granted reports whether who asks in c may ask that of one index, and what the roles put
// on it.
func Granted(c Case, index string) (Rules, bool) {
	e := evaluation{Case: c}
	e.roles = e.rolesOf()
	return e.rules(index), !e.closed(index) && e.may(false, e.owners(index)...)
}
