package config

import (
	"cmp"
	"slices"
)

// Evaluation selects one of the two sets of rules by which privileges are
// decided; its values are those of the key privileges_evaluation_type.
type Evaluation string

// The evaluators.
const (
	EvaluationLegacy Evaluation = "legacy" // the rules of the plugin up to 3.4; also what an absent key means
	EvaluationV4     Evaluation = "v4"     // those of its newer evaluator
)

// Dynamic is config.dynamic of config.yml.
type Dynamic struct {
	Pos Pos `yaml:"-"`

	FilteredAliasMode            string                     `yaml:"filtered_alias_mode"` // warn | nowarn | disallow
	DisableRESTAuth              bool                       `yaml:"disable_rest_auth"`
	DisableIntertransportAuth    bool                       `yaml:"disable_intertransport_auth"`
	RespectRequestIndicesOptions bool                       `yaml:"respect_request_indices_options"`
	License                      string                     `yaml:"license"` // unused
	Kibana                       Kibana                     `yaml:"kibana"`
	HTTP                         HTTP                       `yaml:"http"`
	Authc                        map[string]AuthcDomain     `yaml:"authc"`
	Authz                        map[string]AuthzDomain     `yaml:"authz"`
	AuthFailureListeners         map[string]FailureListener `yaml:"auth_failure_listeners"`
	DoNotFailOnForbidden         bool                       `yaml:"do_not_fail_on_forbidden"`
	DoNotFailOnForbiddenEmpty    bool                       `yaml:"do_not_fail_on_forbidden_empty"`
	MultiRolespanEnabled         bool                       `yaml:"multi_rolespan_enabled"` // ignored: privileges always span roles
	HostsResolverMode            string                     `yaml:"hosts_resolver_mode"`
	TransportUsernameAttribute   string                     `yaml:"transport_userrname_attribute"` // spelt like this in the plugin
	OnBehalfOf                   OnBehalfOf                 `yaml:"on_behalf_of"`
	APITokens                    APITokens                  `yaml:"api_tokens"`
	PrivilegesEvaluationType     Evaluation                 `yaml:"privileges_evaluation_type"`
	IgnoreUnauthorizedIndices    bool                       `yaml:"privileges_evaluation_ignore_unauthorized_indices"` // v4 only
}

// SetDefaults states what holds for keys that are absent.
func (d *Dynamic) SetDefaults() {
	d.FilteredAliasMode = "warn"
	d.MultiRolespanEnabled = true
	d.HostsResolverMode = hostsByAddress
	d.PrivilegesEvaluationType = EvaluationLegacy
	d.IgnoreUnauthorizedIndices = true
}

// Domains returns the enabled authentication domains in the order in which they
// are asked.
func (d *Dynamic) Domains() []AuthcDomain {
	var domains []AuthcDomain
	for name, domain := range d.Authc {
		if domain.HTTPEnabled {
			domain.Name = name
			domains = append(domains, domain)
		}
	}
	slices.SortFunc(domains, func(a, b AuthcDomain) int {
		if c := cmp.Compare(a.Order, b.Order); c != 0 {
			return c
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return domains
}

// Kibana is config.dynamic.kibana: multi-tenancy of the dashboards.
type Kibana struct {
	Pos Pos `yaml:"-"`

	MultitenancyEnabled  bool     `yaml:"multitenancy_enabled"`
	PrivateTenantEnabled bool     `yaml:"private_tenant_enabled"`
	DefaultTenant        string   `yaml:"default_tenant"`
	PreferredTenants     []string `yaml:"preferred_tenants"`
	ServerUsername       string   `yaml:"server_username"`
	Role                 string   `yaml:"opendistro_role"`
	Index                string   `yaml:"index"`
	SignInOptions        []string `yaml:"sign_in_options"`
}

// SetDefaults states what holds for keys that are absent.
func (k *Kibana) SetDefaults() {
	k.MultitenancyEnabled, k.PrivateTenantEnabled = true, true
	k.ServerUsername = "kibanaserver"
	k.Index = ".kibana"
}

// HTTP is config.dynamic.http.
type HTTP struct {
	Pos Pos `yaml:"-"`

	AnonymousAuthEnabled bool `yaml:"anonymous_auth_enabled"`
	XFF                  XFF  `yaml:"xff"`
}

// XFF says which peers may name the address of a client.
type XFF struct {
	Pos Pos `yaml:"-"`

	Enabled         bool   `yaml:"enabled"`
	InternalProxies string `yaml:"internalProxies"` // Java expression over the whole address
	RemoteIPHeader  string `yaml:"remoteIpHeader"`
}

// SetDefaults states what holds for keys that are absent: the private ranges.
func (x *XFF) SetDefaults() {
	x.InternalProxies = `10\.\d{1,3}\.\d{1,3}\.\d{1,3}|192\.168\.\d{1,3}\.\d{1,3}|169\.254\.\d{1,3}\.\d{1,3}|` +
		`127\.\d{1,3}\.\d{1,3}\.\d{1,3}|172\.(1[6-9]|2\d|3[01])\.\d{1,3}\.\d{1,3}`
	x.RemoteIPHeader = "X-Forwarded-For"
}

// AuthcDomain is one way to find out who asks.
type AuthcDomain struct {
	Pos Pos `yaml:"-"`

	Name             string        `yaml:"-"` // its key
	HTTPEnabled      bool          `yaml:"http_enabled"`
	TransportEnabled bool          `yaml:"transport_enabled"` // ignored
	Order            int           `yaml:"order"`
	Description      string        `yaml:"description"`
	Authenticator    Authenticator `yaml:"http_authenticator"`
	Backend          Backend       `yaml:"authentication_backend"`
}

// SetDefaults states what holds for keys that are absent.
func (d *AuthcDomain) SetDefaults() { d.HTTPEnabled = true }

// Authenticator takes credentials from a request.
type Authenticator struct {
	Pos Pos `yaml:"-"`

	Type      string   `yaml:"type"`
	Challenge bool     `yaml:"challenge"`
	Config    Settings `yaml:"config"`
}

// SetDefaults states what holds for keys that are absent.
func (a *Authenticator) SetDefaults() { a.Challenge = true }

// Backend verifies credentials, or collects the backend roles of a user.
type Backend struct {
	Pos Pos `yaml:"-"`

	Type   string   `yaml:"type"`
	Config Settings `yaml:"config"`
}

// AuthzDomain is one source of backend roles.
type AuthzDomain struct {
	Pos Pos `yaml:"-"`

	Name             string  `yaml:"-"` // its key
	HTTPEnabled      bool    `yaml:"http_enabled"`
	TransportEnabled bool    `yaml:"transport_enabled"` // ignored
	Description      string  `yaml:"description"`
	Backend          Backend `yaml:"authorization_backend"`
}

// SetDefaults states what holds for keys that are absent.
func (d *AuthzDomain) SetDefaults() {
	d.HTTPEnabled = true
	d.Backend.Type = "noop"
}

// FailureListener limits how often a client or a user may fail to log in.
type FailureListener struct {
	Pos Pos `yaml:"-"`

	Type                  string   `yaml:"type"`
	AuthenticationBackend string   `yaml:"authentication_backend"`
	AllowedTries          int      `yaml:"allowed_tries"`
	TimeWindowSeconds     int      `yaml:"time_window_seconds"`
	BlockExpirySeconds    int      `yaml:"block_expiry_seconds"`
	MaxBlockedClients     int      `yaml:"max_blocked_clients"`
	MaxTrackedClients     int      `yaml:"max_tracked_clients"`
	IgnoreHosts           []string `yaml:"ignore_hosts"`
}

// SetDefaults states what holds for keys that are absent.
func (l *FailureListener) SetDefaults() {
	l.AllowedTries = 10
	l.TimeWindowSeconds = 3600
	l.BlockExpirySeconds = 600
	l.MaxBlockedClients = 100_000
	l.MaxTrackedClients = 100_000
}

// OnBehalfOf is config.dynamic.on_behalf_of.
type OnBehalfOf struct {
	Pos Pos `yaml:"-"`

	Enabled       bool   `yaml:"enabled"`
	SigningKey    Secret `yaml:"signing_key"`
	EncryptionKey Secret `yaml:"encryption_key"`
}

// APITokens is config.dynamic.api_tokens.
type APITokens struct {
	Pos Pos `yaml:"-"`

	Enabled            bool  `yaml:"enabled"`
	MaxTokens          int   `yaml:"max_tokens"`
	MaxDurationSeconds int64 `yaml:"max_duration_seconds"` // 0: no limit
}

// SetDefaults states what holds for keys that are absent.
func (a *APITokens) SetDefaults() {
	a.MaxTokens = 100
	a.MaxDurationSeconds = 7_776_000 // 90 days
}

// Settings is a free tree of keys whose meaning depends on the type beside it.
// It may hold passwords and keys, so it prints as "[redacted]".
type Settings struct {
	// A function, since fmt looks into maps behind unexported fields and finds only
	// an address here. Values are string, []any, map[string]any; nil where the file
	// has null.
	tree func() map[string]any
}

// Len returns the number of keys at the top.
func (s Settings) Len() int {
	if s.tree == nil {
		return 0
	}
	return len(s.tree())
}

// String returns "[redacted]".
func (Settings) String() string { return redacted }

// GoString returns "[redacted]".
func (Settings) GoString() string { return redacted }

// MarshalJSON returns "[redacted]".
func (Settings) MarshalJSON() ([]byte, error) { return Secret{}.MarshalJSON() }
