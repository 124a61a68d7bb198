package config

// Audit is audit.yml: what is recorded.
type Audit struct {
	Pos Pos `yaml:"-"`

	Enabled    bool            `yaml:"enabled"` // default true
	Filter     AuditFilter     `yaml:"audit"`
	Compliance AuditCompliance `yaml:"compliance"`
}

// SetDefaults states what holds for keys that are absent.
func (a *Audit) SetDefaults() { a.Enabled = true }

// AuditFilter says which requests are recorded and with which parts.
type AuditFilter struct {
	Pos Pos `yaml:"-"`

	EnableREST                  bool                `yaml:"enable_rest"`
	EnableTransport             bool                `yaml:"enable_transport"`
	DisabledCategories          []string            `yaml:"disabled_categories"`
	DisabledRESTCategories      []string            `yaml:"disabled_rest_categories"`
	DisabledTransportCategories []string            `yaml:"disabled_transport_categories"`
	ResolveBulkRequests         bool                `yaml:"resolve_bulk_requests"`
	LogRequestBody              bool                `yaml:"log_request_body"`
	ResolveIndices              bool                `yaml:"resolve_indices"`
	ExcludeSensitiveHeaders     bool                `yaml:"exclude_sensitive_headers"`
	IgnoreUsers                 []string            `yaml:"ignore_users"`
	IgnoreRequests              []string            `yaml:"ignore_requests"`
	IgnoreHeaders               []string            `yaml:"ignore_headers"`
	IgnoreURLParams             []string            `yaml:"ignore_url_params"`
	BodyLoggingExclusions       []string            `yaml:"body_logging_exclusions"`
	ActionGroups                map[string][]string `yaml:"action_groups"`
}

// SetDefaults states what holds for keys that are absent.
func (a *AuditFilter) SetDefaults() {
	a.EnableREST, a.EnableTransport = true, true
	a.DisabledRESTCategories = []string{"AUTHENTICATED", "GRANTED_PRIVILEGES"}
	a.DisabledTransportCategories = []string{"AUTHENTICATED", "GRANTED_PRIVILEGES", "CLUSTER_SETTINGS_CHANGED", "INDEX_SETTINGS_CHANGED"}
	a.LogRequestBody, a.ResolveIndices, a.ExcludeSensitiveHeaders = true, true, true
	a.IgnoreUsers = []string{"kibanaserver"}
}

// AuditCompliance says which reads and writes of documents are recorded.
type AuditCompliance struct {
	Pos Pos `yaml:"-"`

	Enabled             bool                `yaml:"enabled"`
	InternalConfig      bool                `yaml:"internal_config"`
	ExternalConfig      bool                `yaml:"external_config"`
	ReadMetadataOnly    bool                `yaml:"read_metadata_only"`
	ReadWatchedFields   map[string][]string `yaml:"read_watched_fields"` // index pattern → field patterns
	ReadIgnoreUsers     []string            `yaml:"read_ignore_users"`
	WriteMetadataOnly   bool                `yaml:"write_metadata_only"`
	WriteLogDiffs       bool                `yaml:"write_log_diffs"`
	WriteWatchedIndices []string            `yaml:"write_watched_indices"`
	WriteIgnoreUsers    []string            `yaml:"write_ignore_users"`
}

// SetDefaults states what holds for keys that are absent.
func (a *AuditCompliance) SetDefaults() {
	a.Enabled = true
	a.ReadIgnoreUsers = []string{"kibanaserver"}
	a.WriteIgnoreUsers = []string{"kibanaserver"}
}
