package gate

import (
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"guard/authz"
	"guard/config"
	"guard/dls"
	"guard/endpoint"
	"guard/fls"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/mapping"
	"guard/internal/query"
)

// Settings are the limits that a plan obeys.
type Settings struct {
	MaxUpstreamURI int           // bytes of a request line that the cluster takes
	MaxDepth       int           // nesting of a JSON body
	MaxStateAge    time.Duration // an older state decides nothing for restricted principals
	MaxKept        int64         // bytes that kept decisions take; 0: none is kept
	PublishAddress string        // of nodes, for clients that sniff: see config.Config
}

// Snapshot is policy, cluster state and settings of one generation: a request reads
// exactly one. It is immutable but for memo tables, whose entries follow from their
// keys, so that it does not matter who fills them.
type Snapshot struct {
	Generation uint64

	policy   *authz.Policy
	state    *indexresolver.State
	router   *endpoint.Router
	settings Settings
	memo     *memo
}

// memo holds what is derived from restrictions on first use. It is shared by the
// snapshots of one policy: its keys say all that its values depend on.
type memo struct {
	filters  *lru.Cache[string, query.Filter] // by the rule's text with its values
	named    *lru.Cache[query.Filter, query.Named]
	aliases  *lru.Cache[string, readFilter] // by the text of the filter
	fields   *lru.Cache[ask.RestrictionID, fls.Rules]
	views    *lru.Cache[viewKey, *fls.View]
	verdicts *verdicts
	// bindings are those of single indices.
	bindings *lru.Cache[bindingKey, *binding]
	// mappings are parsed once by content.
	mappings    *lru.Cache[indexresolver.MappingID, *mapping.Mapping]
	percolators *lru.Cache[indexresolver.MappingID, bool]
	computed    *lru.Cache[indexresolver.MappingID, []string] // fields that scripts compute
	thinned     *lru.Cache[indexresolver.MappingID, []string] // texts of which rare or frequent words are left out
}

type viewKey struct {
	restriction ask.RestrictionID
	mapping     mapping.Hash
}

// The memo tables are bounded by entries; an evicted one is computed again.
const (
	maxFilters = 20_000
	maxViews   = 20_000
)

// Policy is a compiled policy with what is remembered of it.
type Policy struct {
	authz    *authz.Policy
	router   *endpoint.Router
	settings Settings
	memo     *memo
}

// NewPolicy wraps a compiled policy for planning. Its document and field rules are
// compiled once, so that one that cannot be used is known before it is needed: all
// faults are reported at once, as config.Faults. A rule that guard understands and
// cannot enforce yet is a warning: requests that touch its indices are refused.
func NewPolicy(p *authz.Policy, settings Settings) (*Policy, []config.Warning, error) {
	router, err := endpoint.Compile(endpoint.Catalogue())
	if err != nil {
		return nil, nil, fmt.Errorf("cannot compile the catalogue: %w", err)
	}
	warnings, faults := checkRules(p.Rules())
	if err := faults.Err(); err != nil {
		return nil, warnings, err
	}
	return &Policy{authz: p, router: router, settings: settings, memo: newMemo(settings.MaxKept)}, warnings, nil
}

// checkRules returns what is wrong with document and field rules.
func checkRules(rules []authz.Rule) (warnings []config.Warning, faults config.Faults) {
	for _, r := range rules {
		if r.DLS != "" {
			_, err := dls.Parse(r.DLS)
			switch at := r.Pos.At("dls"); {
			case isNotBuilt(err):
				warnings = append(warnings, at.Fault(err.Error()+"; requests that touch its indices are refused", ""))
			case err != nil:
				faults = append(faults, at.Fault(err.Error(), "one query in JSON, of clauses that guard knows"))
			}
		}
		for i, entry := range r.FLS {
			if _, err := fls.Compile([]string{entry}); err != nil {
				faults = append(faults, r.Pos.Item("fls", i).Fault(err.Error(), "a field name, a glob or /regex/, with ~ in front to exclude"))
			}
		}
	}
	return warnings, faults
}

// isNotBuilt reports whether a role's query is refused for what is not built yet.
func isNotBuilt(err error) bool {
	var r *query.Refusal
	return errors.As(err, &r) && r.NotBuilt
}

func newMemo(kept int64) *memo {
	return &memo{
		filters:  table[string, query.Filter](maxFilters),
		named:    table[query.Filter, query.Named](maxFilters),
		aliases:  table[string, readFilter](maxFilters),
		fields:   table[ask.RestrictionID, fls.Rules](maxFilters),
		views:    table[viewKey, *fls.View](maxViews),
		verdicts: newVerdicts(kept),
		bindings: table[bindingKey, *binding](maxViews),
		mappings: table[indexresolver.MappingID, *mapping.Mapping](maxViews),

		percolators: table[indexresolver.MappingID, bool](maxViews),
		computed:    table[indexresolver.MappingID, []string](maxViews),
		thinned:     table[indexresolver.MappingID, []string](maxViews),
	}
}

// table makes an empty memo table of at most size entries.
func table[K comparable, V any](size int) *lru.Cache[K, V] {
	t, err := lru.New[K, V](size)
	if err != nil {
		panic("BUG: memo table: " + err.Error()) // only a size below one is refused
	}
	return t
}

// NewSnapshot joins a policy and a state of the cluster, which may be nil while the
// cluster was not seen yet: then only unrestricted principals are served.
func NewSnapshot(generation uint64, p *Policy, state *indexresolver.State) *Snapshot {
	return &Snapshot{Generation: generation, policy: p.authz, state: state, router: p.router, settings: p.settings, memo: p.memo}
}

// Principal maps an identity to its roles in the snapshot's policy.
func (s *Snapshot) Principal(id ask.Identity) *ask.Principal { return s.policy.Principal(id) }

// State returns the cluster state of the snapshot, or nil.
func (s *Snapshot) State() *indexresolver.State { return s.state }

// usable returns why the snapshot may not decide for restricted principals.
func (s *Snapshot) usable(now time.Time) error {
	if s.state.Empty() {
		return fmt.Errorf("no state of the cluster was read yet")
	}
	if age := s.state.Age(now); age > s.settings.MaxStateAge {
		return fmt.Errorf("the state of the cluster is %v old; want at most %v", age.Round(time.Second), s.settings.MaxStateAge)
	}
	return nil
}

// asksAliasNames reports whether names of aliases are asked like names of indices.
func (s *Snapshot) asksAliasNames() bool { return s.policy.Evaluation() == config.EvaluationV4 }
