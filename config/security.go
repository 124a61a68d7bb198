package config

// Security is the content of a security folder, merged with what is built in.
// It is read only: one generation of it may be shared by many readers.
type Security struct {
	Dynamic      Dynamic                // config.yml
	Roles        map[string]Role        // roles.yml, and the built-in roles
	Mappings     map[string]Mapping     // roles_mapping.yml, by role name
	Users        map[string]User        // internal_users.yml
	ActionGroups map[string]ActionGroup // action_groups.yml, and the built-in groups
	Tenants      map[string]Tenant      // tenants.yml, and the built-in tenant
	Allowlist    Allowlist              // allowlist.yml
	Audit        Audit                  // audit.yml
	NodesDN      map[string]NodesDN     // nodes_dn.yml

	Hash string // of the bytes of all files: same text, same content
}

// Role is an entry of roles.yml.
type Role struct {
	Pos Pos `yaml:"-"`

	Reserved           bool               `yaml:"reserved"`
	Hidden             bool               `yaml:"hidden"`
	Static             bool               `yaml:"static"`
	Description        string             `yaml:"description"`
	ClusterPermissions []string           `yaml:"cluster_permissions"`
	IndexPermissions   []IndexPermission  `yaml:"index_permissions"`
	TenantPermissions  []TenantPermission `yaml:"tenant_permissions"`
}

// IndexPermission grants actions on the indices that its patterns match, with
// the restrictions that it names. DLS, FLS and masks are texts: their place for
// messages is Pos.At("dls"), Pos.Item("fls", i) and so on.
type IndexPermission struct {
	Pos Pos `yaml:"-"`

	IndexPatterns  []string `yaml:"index_patterns"`
	DLS            string   `yaml:"dls"` // empty: no filter
	FLS            []string `yaml:"fls"`
	MaskedFields   []string `yaml:"masked_fields"`
	AllowedActions []string `yaml:"allowed_actions"`
}

// TenantPermission grants actions on tenants.
type TenantPermission struct {
	Pos Pos `yaml:"-"`

	TenantPatterns []string `yaml:"tenant_patterns"`
	AllowedActions []string `yaml:"allowed_actions"`
}

// Mapping is an entry of roles_mapping.yml: who has the role of its name. The
// lists are alternatives; in AndBackendRoles each pattern must be met.
type Mapping struct {
	Pos Pos `yaml:"-"`

	Reserved        bool     `yaml:"reserved"`
	Hidden          bool     `yaml:"hidden"`
	Static          bool     `yaml:"static"`
	Description     string   `yaml:"description"`
	Users           []string `yaml:"users"`
	Hosts           []string `yaml:"hosts"` // addresses, and patterns of their shortest form
	BackendRoles    []string `yaml:"backend_roles"`
	AndBackendRoles []string `yaml:"and_backend_roles"`
}

// User is an entry of internal_users.yml.
type User struct {
	Pos Pos `yaml:"-"`

	Hash          Secret            `yaml:"hash"`
	Reserved      bool              `yaml:"reserved"`
	Hidden        bool              `yaml:"hidden"`
	Static        bool              `yaml:"static"`
	Service       bool              `yaml:"service"`
	Enabled       bool              `yaml:"enabled"` // default true
	Description   string            `yaml:"description"`
	BackendRoles  []string          `yaml:"backend_roles"`
	Attributes    map[string]string `yaml:"attributes"`
	SecurityRoles []string          `yaml:"opendistro_security_roles"`
}

// SetDefaults states what holds for keys that are absent.
func (u *User) SetDefaults() { u.Enabled = true }

// ServiceAttribute is the attribute that, at "true", makes an account a service
// account; the key `service` of an entry does not.
const ServiceAttribute = "service"

// IsService reports whether u is a service account.
func (u User) IsService() bool { return u.Attributes[ServiceAttribute] == "true" }

// ActionGroup is an entry of action_groups.yml: a name for actions and groups.
type ActionGroup struct {
	Pos Pos `yaml:"-"`

	Reserved       bool     `yaml:"reserved"`
	Hidden         bool     `yaml:"hidden"`
	Static         bool     `yaml:"static"`
	Type           string   `yaml:"type"` // informational
	Description    string   `yaml:"description"`
	AllowedActions []string `yaml:"allowed_actions"`
}

// Tenant is an entry of tenants.yml.
type Tenant struct {
	Pos Pos `yaml:"-"`

	Reserved    bool   `yaml:"reserved"`
	Hidden      bool   `yaml:"hidden"`
	Static      bool   `yaml:"static"`
	Description string `yaml:"description"`
}

// NodesDN is an entry of nodes_dn.yml. Guard is no node; it is read so that a
// folder is checked as a whole.
type NodesDN struct {
	Pos Pos `yaml:"-"`

	NodesDN []string `yaml:"nodes_dn"`
}

// Allowlist is allowlist.yml: the paths and methods that anybody may use at all.
type Allowlist struct {
	Pos Pos `yaml:"-"`

	Enabled  bool                `yaml:"enabled"`
	Requests map[string][]string `yaml:"requests"` // path → methods
}
