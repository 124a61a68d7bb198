package main

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"guard/authz"
	"guard/config"
	"guard/gate"
	"guard/indexresolver"
	asked "guard/internal/ask"
)

// families are the letters of the indices: index_a0, index_b0 … index_e0, index_a1 …
const families = "abcde"

// measuredAt is the time of every state and request of the matrix: no state grows old.
var measuredAt = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// world is a cluster with so many indices and aliases.
type world struct {
	indices, aliases int
	once             bool // measured in the first round alone
}

func (w world) String() string {
	if w.aliases == 0 {
		return grouped(w.indices) + " indices"
	}
	return fmt.Sprintf("%s indices, %s aliases", grouped(w.indices), grouped(w.aliases))
}

// grouped writes n with commas between its thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// indexName is the name of the i-th index.
func indexName(i int) string {
	return "index_" + families[i%len(families):][:1] + strconv.Itoa(i/len(families))
}

// aliasName is the name of the k-th alias of the i-th index.
func aliasName(i, k int) string {
	name := "alias_" + families[i%len(families):][:1] + strconv.Itoa(i/len(families))
	if k > 0 {
		name += "_" + strconv.Itoa(k)
	}
	return name
}

// contents are what is read of the cluster when so many indices were born in it, each with
// an alias where there are any. All its texts are new, as those of an answer are.
func (w world) contents(born int) indexresolver.Contents {
	c := indexresolver.Contents{
		ClusterUUID: "matrix", StateUUID: strconv.Itoa(born), Version: uint64(born) + 1, FetchedAt: measuredAt, //nolint:gosec // G115: counts from 0
		Engine:  indexresolver.Engine{Distribution: indexresolver.OpenSearch, Version: "2.19.4", Major: 2, Minor: 19},
		Indices: make([]indexresolver.Index, 0, w.indices+born),
	}
	for i := range w.indices + born {
		x := indexresolver.Index{Name: indexName(i), UUID: fmt.Sprintf("uuid-of-index-%08d", i), Mapping: []byte(matrixMapping)}
		if i >= w.indices && w.aliases > 0 {
			x.Aliases = append(x.Aliases, indexresolver.Membership{Alias: aliasName(i, 0)})
		}
		if i < w.indices {
			for k := range (w.aliases + w.indices - 1 - i) / w.indices {
				x.Aliases = append(x.Aliases, indexresolver.Membership{Alias: aliasName(i, k)})
			}
		}
		c.Indices = append(c.Indices, x)
	}
	return c
}

// matrixMapping is that of every index.
const matrixMapping = `{"properties":{"name":{"type":"text","fields":{"raw":{"type":"keyword"}}},"region":{"type":"keyword"},` +
	`"city":{"type":"keyword"},"birthday":{"type":"date"},"amount":{"type":"double"},"note":{"type":"text"}}}`

// member is a user of the matrix, with roles of its own.
type member struct {
	name       string
	roles      []string // each as its line in roles.yml, without its name
	attributes map[string]string
	filters    string // what stands in each search of it
}

// members are the users, in the order in which they are shown.
func members() []member {
	const (
		everything = `cluster_permissions: ["*"], index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"]}]`
		reads      = "read"
		writes     = "write"
		both       = "crud"
	)
	on := func(actions, patterns, more string) string {
		return fmt.Sprintf(`cluster_permissions: [cluster_composite_ops], index_permissions: [{index_patterns: [%s], allowed_actions: [%s, "indices:admin/mapping/put"]%s}]`,
			patterns, actions, more)
	}
	single := func(n int, actions ...string) (list []string) {
		for i := range n {
			for _, a := range actions {
				list = append(list, on(a, indexName(granted(i)), ""))
			}
		}
		return list
	}
	return []member{
		{name: "full privileges", roles: []string{everything}},
		{name: "1 role, 2 patterns", roles: []string{on(both, `"index_a*", "index_b*"`, "")}},
		{name: "20 roles", roles: single(20, both)},
		{name: "40 roles", roles: single(20, reads, writes)},
		{
			name: "regex and attribute", roles: []string{on(both, `"/index_a[0-9]+/", "index_${attr.internal.family}*"`, "")},
			attributes: map[string]string{"attr.internal.family": "b"},
		},
		{name: "DLS", roles: []string{on(both, `"index_a*", "index_b*"`, `, dls: '`+matrixRule+`'`)}, filters: matrixRule},
		{name: thousandRoles, roles: single(1000, both)},
	}
}

const (
	thousandRoles = "1,000 roles"
	matrixRule    = `{"term":{"region":"eu"}}`
)

// granted is the number of the i-th index of the families a and b, which all users may
// read and write, as far as they exist.
func granted(i int) int { return i/2*len(families) + i%2 }

// identity is what authentication would say.
func (m member) identity() asked.Identity {
	id := asked.Identity{Name: m.name, Attributes: m.attributes}
	for i := range m.roles {
		id.SecurityRoles = append(id.SecurityRoles, m.role(i))
	}
	return id
}

func (m member) role(i int) string {
	return strings.NewReplacer(" ", "-", ",", "").Replace(fmt.Sprintf("%s-%d", m.name, i))
}

// law compiles policies: the same security folder each time, and nothing remembered of it.
type law struct {
	security *config.Security
	guard    *config.Config
}

func newLaw(users []member) (*law, error) {
	guard, _, err := config.Load("", config.Overrides{Upstream: []string{"http://127.0.0.1:9200"}})
	if err != nil {
		return nil, fmt.Errorf("cannot make guard's settings: %w", err)
	}
	roles := strings.Builder{}
	roles.WriteString("_meta: {type: roles, config_version: 2}\n")
	for _, m := range users {
		for i, text := range m.roles {
			fmt.Fprintf(&roles, "%s: {%s}\n", m.role(i), text)
		}
	}
	folder := config.Folder{Files: map[string][]byte{"roles.yml": []byte(roles.String())}}
	for _, name := range []string{"config.yml", "action_groups.yml", "internal_users.yml", "roles_mapping.yml", "tenants.yml"} {
		if folder.Files[name], err = policy.ReadFile("testdata/security/" + name); err != nil {
			return nil, fmt.Errorf("cannot read the policy: %w", err)
		}
	}
	security, _, err := config.ParseSecurity(folder, config.Options{Policy: guard.Policy})
	if err != nil {
		return nil, fmt.Errorf("cannot read the policy: %w", err)
	}
	// As of a folder that comes from the plugin, where names that are not granted are left out.
	security.Dynamic.PrivilegesEvaluationType, security.Dynamic.DoNotFailOnForbidden = config.EvaluationLegacy, true
	return &law{security, guard}, nil
}

// compile makes a policy as serving does.
func (l *law) compile() (*gate.Policy, error) {
	compiled, _, err := authz.Compile(l.security, l.guard.Policy)
	if err != nil {
		return nil, fmt.Errorf("cannot compile the policy: %w", err)
	}
	made, _, err := gate.NewPolicy(compiled, gate.Settings{
		MaxUpstreamURI: l.guard.Limits.MaxUpstreamURI, MaxDepth: l.guard.Limits.MaxDepth, MaxStateAge: l.guard.State.MaxAge, MaxKept: l.guard.Limits.MaxKeptDecisions,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot compile the policy: %w", err)
	}
	return made, nil
}

// standing is a world that is served: like serving it has one snapshot at a time, and all
// of one policy share what is remembered.
type standing struct {
	world
	policy   *gate.Policy
	state    *indexresolver.State
	born     int
	snapshot atomic.Pointer[gate.Snapshot]
}

func (w world) stand(p *gate.Policy) (*standing, error) {
	s := &standing{world: w, policy: p}
	return s, s.swap(w.contents(0))
}

// swap has the next requests planned on a state with these contents, as serving does.
func (s *standing) swap(c indexresolver.Contents) error {
	state, err := indexresolver.New(c, s.state)
	if err != nil {
		return fmt.Errorf("cannot make the state of %s: %w", s.world, err)
	}
	if s.state != nil && state.SameNames(s.state) {
		return fmt.Errorf("nothing was born in %s", s.world)
	}
	s.serve(state)
	return nil
}

func (s *standing) serve(state *indexresolver.State) {
	s.state = state
	s.snapshot.Store(gate.NewSnapshot(state.Version, s.policy, state))
}

// birth is how long it took until an index was decided on.
type birth struct {
	took time.Duration
	cpu  time.Duration // of the thread
}

// bear has an index born, and returns how long it took since it was learnt of until it was
// decided on: by a request of first, which finds the tables of the state as they are. The
// thread is the caller's own.
func (s *standing) bear(first *cell) (b birth, err error) {
	c := s.contents(s.born + 1)
	began := time.Now()
	before, err := threadTime()
	if err != nil {
		return b, err
	}
	if err := s.swap(c); err != nil {
		return b, err
	}
	if err := first.plan(s.snapshot.Load()); err != nil {
		return b, err
	}
	after, err := threadTime()
	b = birth{time.Since(began), after - before}
	_, index := s.state.Lookup(indexName(s.indices + s.born))
	_, alias := s.state.Lookup(aliasName(s.indices+s.born, 0))
	if !index || alias != (s.aliases > 0) {
		return b, fmt.Errorf("what was born in %s: index %v, alias %v", s.world, index, alias)
	}
	s.born++
	return b, err
}
