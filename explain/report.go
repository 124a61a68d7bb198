// Package explain answers one question: why does a request end as it does? It asks the
// same plan that serving asks, and tells what the plan found out: who asks and why he has
// his roles, what the names mean, which role grants which action on which name, which
// rules bind, and what goes to the cluster.
package explain

import (
	"time"
)

// Report is the whole story of one request. Its JSON form is for programs; members are
// added, never changed.
type Report struct {
	User    User    `json:"user"`
	Request Request `json:"request"`
	Cluster Cluster `json:"cluster"`
	Verdict Verdict `json:"verdict"`
	// Parts are what the request asks, in the order in which it was decided: first what
	// is asked of the whole request, then item by item.
	Parts []Part `json:"parts"`
	// Calls are what guard asks the cluster first, before the request can be decided to
	// its end.
	Calls []Call `json:"calls,omitempty"`
	// Forward is the request as the cluster gets it; nil if it gets none.
	Forward *Call `json:"forward,omitempty"`
}

// User is who asks.
type User struct {
	Name         string            `json:"name"`
	Domain       string            `json:"domain,omitempty"`
	BackendRoles []string          `json:"backend_roles"`
	Attributes   map[string]string `json:"attributes,omitempty"`
	// By is who asks in the user's name, if not the user.
	By string `json:"by,omitempty"`
	// Admin tells that it is an administrator of the policy, whom no role binds.
	Admin bool   `json:"admin,omitempty"`
	Roles []Role `json:"roles"`
	// Unrestricted tells that all actions are granted on all names and no rule binds.
	Unrestricted bool `json:"unrestricted"`
}

// Role is a role of the user, and what gives it.
type Role struct {
	Name    string   `json:"name"`
	Defined bool     `json:"defined"` // roles.yml, or what is built in, has it
	By      []string `json:"by"`      // "users [ada] (roles_mapping.yml:12)"
}

// Request is what was sent.
type Request struct {
	Method   string `json:"method"`
	Target   string `json:"target"`
	Endpoint string `json:"endpoint,omitempty"` // the row of the catalogue; empty if none has the request
	Template string `json:"template,omitempty"` // its path
}

// Cluster is the state that was decided on.
type Cluster struct {
	Engine  string    `json:"engine"` // "opensearch 2.19.4"
	UUID    string    `json:"uuid"`
	Version uint64    `json:"version"`
	Read    time.Time `json:"read"`
}

// The effects of a verdict.
const (
	Refused   = "refused"   // the request, with a reason
	Forwarded = "forwarded" // to the cluster
	Answered  = "answered"  // by guard itself
	Asks      = "asks"      // calls come first, and what they tell decides
)

// Verdict is what becomes of the request.
type Verdict struct {
	Effect string `json:"effect"`
	Status int    `json:"status,omitempty"` // of guard's own answer
	Reason string `json:"reason,omitempty"` // "no_privilege"
	Text   string `json:"text,omitempty"`   // what the client is told
	Cause  string `json:"cause,omitempty"`  // what only the log is told
	Body   string `json:"body,omitempty"`   // guard's own answer
}

// Part is one thing that the request asks: some actions on some names.
type Part struct {
	Item    *int     `json:"item,omitempty"` // the position in the body; none for the request itself
	Names   []string `json:"names"`          // as the client wrote them; none means all
	Targets []Target `json:"targets"`        // what they mean
	Unknown []string `json:"unknown,omitempty"`
	Allowed bool     `json:"allowed"`
	Text    string   `json:"text,omitempty"` // why not
	Cells   []Cell   `json:"cells"`
	// MoreCells counts the cells that are not listed.
	MoreCells int     `json:"more_cells,omitempty"`
	Groups    []Group `json:"groups,omitempty"`
}

// Target is a name that exists.
type Target struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`              // index, alias, data stream
	Members []string `json:"members,omitempty"` // of an alias or data stream
}

// Cell is one action on one name.
type Cell struct {
	Action  string `json:"action"`
	Name    string `json:"name,omitempty"` // empty: on the cluster
	Granted bool   `json:"granted"`
	// Roles grant it, or would if the user had them; Entries are what in them does.
	Roles   []string `json:"roles"`
	Entries []Entry  `json:"entries"`
}

// Entry is what grants something: the cluster_permissions of a role, or an element of
// its index_permissions.
type Entry struct {
	Path string `json:"path"`         // of keys: "analyst.index_permissions[0]"; of what is built in the role
	At   string `json:"at,omitempty"` // "security/roles.yml:12"; empty for what is built in
}

// Group is the indices that are bound by the same rules.
type Group struct {
	Indices   []string `json:"indices"`
	Nothing   bool     `json:"nothing,omitempty"`   // nothing of them is shown
	Documents []string `json:"documents,omitempty"` // any of these queries lets a document through
	Fields    []string `json:"fields,omitempty"`
	Masks     []string `json:"masks,omitempty"`
}

// Call is a request to the cluster.
type Call struct {
	Method      string `json:"method"`
	Target      string `json:"target"`
	ContentType string `json:"content_type,omitempty"`
	Body        string `json:"body,omitempty"`
	// OwnAccount tells that guard asks for itself.
	OwnAccount bool `json:"own_account,omitempty"`
}
