package config

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Config is guard.yml.
type Config struct {
	Pos  Pos    `yaml:"-"`
	Hash string `yaml:"-"` // HashOf the file as it was read; empty if there is none

	Listen          string          `yaml:"listen"`           // address for clients: host:port, or unix:/path for a socket
	ListenMode      FileMode        `yaml:"listen_mode"`      // of the socket's file, octal; 0660 lets the owner and the group connect
	ProxyProtocol   bool            `yaml:"proxy_protocol"`   // a proxy of trusted_proxies has to begin each connection with a header of the PROXY protocol, version 1 or 2
	TrustedProxies  []string        `yaml:"trusted_proxies"`  // addresses, CIDRs, and unix for the socket: who may say for whom they ask
	ForwardedHeader ForwardedHeader `yaml:"forwarded_header"` // where the trusted proxies name their clients: x-forwarded-for, forwarded (RFC 7239) or none
	Internal        string          `yaml:"internal"`         // address for probes and metrics; not for clients
	InternalHosts   []string        `yaml:"internal_hosts"`   // names by which it is asked, beside addresses and localhost: by no other name is anything changed there, nor read if one is given
	TLS             TLS             `yaml:"tls"`
	CORS            CORS            `yaml:"cors"`
	Upstream        Upstream        `yaml:"upstream"`
	Security        string          `yaml:"security"` // the security folder
	Limits          Limits          `yaml:"limits"`
	Timeouts        Timeouts        `yaml:"timeouts"`
	State           State           `yaml:"state"`
	Auth            Auth            `yaml:"auth"`
	Policy          Policy          `yaml:"policy"`
	Log             Log             `yaml:"log"`

	PublishAddress string `yaml:"publish_address"` // of nodes, for clients that sniff: host:port, hide, or keep; empty: the Host that the client used

	// Compatibility makes clients of another engine take the cluster for it.
	Compatibility Compatibility `yaml:"compatibility"` // none, or elasticsearch: clients of Elasticsearch 8 and 9 take an OpenSearch
}

// Socket returns the path of the socket to listen on, if it is one.
func (c *Config) Socket() (path string, ok bool) { return strings.CutPrefix(c.Listen, "unix:") }

// SetDefaults states what holds for keys that are absent.
func (c *Config) SetDefaults() {
	c.Listen = "127.0.0.1:9200"
	c.ListenMode = defaultMode
	c.ForwardedHeader = XForwardedFor
	c.Internal = "127.0.0.1:9290"
	c.Security = "security"
	c.Compatibility = CompatibilityNone
}

// ForwardedHeader is the header in which proxies name their clients.
type ForwardedHeader string

// The headers that are known for it.
const (
	XForwardedFor ForwardedHeader = "x-forwarded-for"
	Forwarded     ForwardedHeader = "forwarded"
	ForwardedNone ForwardedHeader = "none"
)

// FileMode is the mode of a file in octal digits.
type FileMode string

const defaultMode FileMode = "0660"

// Perm returns the mode as a number.
func (m FileMode) Perm() (fs.FileMode, error) {
	n, err := strconv.ParseUint(string(m), 8, 16)
	if err != nil || n > 0o777 || len(m) < 3 {
		return 0, fmt.Errorf("mode %q; want octal digits such as 0660", string(m))
	}
	return fs.FileMode(n), nil
}

// The values of publish_address that are no address.
const (
	PublishHost = ""     // what the client calls guard
	PublishHide = "hide" // nodes tell none
	PublishKeep = "keep" // nodes tell their own
)

// Compatibility says what other engine clients may want.
type Compatibility string

// The engines that clients may want.
const (
	CompatibilityNone          Compatibility = "none"
	CompatibilityElasticsearch Compatibility = "elasticsearch"
)

// ClientAuth says whether clients have to show a certificate.
type ClientAuth string

// The ways to ask clients for a certificate.
const (
	ClientAuthNone     ClientAuth = "none"
	ClientAuthOptional ClientAuth = "optional"
	ClientAuthRequired ClientAuth = "required"
)

// TLSVersion is a version of TLS that is still safe.
type TLSVersion string

// The versions of TLS that guard speaks.
const (
	TLS12 TLSVersion = "1.2"
	TLS13 TLSVersion = "1.3"
)

// TLS is what guard shows to its clients; without a certificate it speaks plain HTTP.
type TLS struct {
	Pos Pos `yaml:"-"`

	Certificate  string        `yaml:"certificate"`   // PEM file, the chain
	Key          string        `yaml:"key"`           // PEM file
	Certificates []Certificate `yaml:"certificates"`  // further ones, each {certificate, key}; a client gets the first that is valid for the name that it asks for, or else the first of all
	MinVersion   TLSVersion    `yaml:"min_version"`   // 1.2 or 1.3
	CipherSuites []string      `yaml:"cipher_suites"` // of TLS 1.2, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256; empty: all that are safe; those of 1.3 can't be chosen
	ClientCA     string        `yaml:"client_ca"`     // PEM file; who may sign client certificates
	ClientAuth   ClientAuth    `yaml:"client_auth"`
}

// Certificate is a chain of certificates and the key of its first.
type Certificate struct {
	Pos Pos `yaml:"-"`

	Certificate string `yaml:"certificate"` // PEM file, the chain
	Key         string `yaml:"key"`         // PEM file
}

// Enabled reports whether clients are served by TLS.
func (t TLS) Enabled() bool { return t.Certificate != "" || len(t.Certificates) > 0 }

// Pairs returns all certificates, the default one first.
func (t TLS) Pairs() []Certificate {
	if t.Certificate == "" && t.Key == "" {
		return t.Certificates
	}
	return append([]Certificate{{Pos: t.Pos, Certificate: t.Certificate, Key: t.Key}}, t.Certificates...)
}

// SetDefaults states what holds for keys that are absent.
func (t *TLS) SetDefaults() {
	t.MinVersion = TLS12
	t.ClientAuth = ClientAuthNone
}

// CORS says which sites may use guard from a browser.
type CORS struct {
	Pos Pos `yaml:"-"`

	Enabled          bool          `yaml:"enabled"`           // guard answers browsers itself, and drops what the cluster says of it
	AllowOrigins     []string      `yaml:"allow_origins"`     // such as https://app.example; * in one stands for any characters; between slashes it is a regular expression for all of it
	AllowMethods     []string      `yaml:"allow_methods"`     // of requests
	AllowHeaders     []string      `yaml:"allow_headers"`     // of requests
	ExposeHeaders    []string      `yaml:"expose_headers"`    // of answers, beside those that every script sees
	AllowCredentials bool          `yaml:"allow_credentials"` // cookies, logins and certificates that the browser keeps; not for every origin
	MaxAge           time.Duration `yaml:"max_age"`           // how long a browser keeps the answer to a preflight
}

// SetDefaults states what holds for keys that are absent: what nodes allow.
func (c *CORS) SetDefaults() {
	c.AllowMethods = []string{"OPTIONS", "HEAD", "GET", "POST", "PUT", "DELETE"}
	c.AllowHeaders = []string{"X-Requested-With", "Content-Type", "Content-Length", "Authorization", "Accept", "User-Agent", "X-Elastic-Client-Meta"}
	c.ExposeHeaders = []string{"X-Elastic-Product"}
	c.MaxAge = 480 * time.Hour
}

// Upstream is the cluster, and how guard shows itself to it.
type Upstream struct {
	Pos Pos `yaml:"-"`

	URLs         []string   `yaml:"urls"` // http or https, host and port, no path
	CAFile       string     `yaml:"ca_file"`
	ClientCert   string     `yaml:"client_certificate"`
	ClientKey    string     `yaml:"client_key"`
	MinVersion   TLSVersion `yaml:"min_version"`   // of TLS: 1.2 or 1.3
	CipherSuites []string   `yaml:"cipher_suites"` // of TLS 1.2, as tls.cipher_suites
	Username     string     `yaml:"username"`
	Password     Secret     `yaml:"password"`
	PasswordFile string     `yaml:"password_file"`        // instead of password; its last line end is cut off
	MaxConns     int        `yaml:"max_connections"`      // to each node; guard may open three more for its own questions
	MaxUserConns int        `yaml:"max_user_connections"` // of these, for the requests of one user; 0: never more than are free for others, so half if nobody else uses any

	MaxQueue     int           `yaml:"max_queue"`     // requests that wait for a connection; 0: nobody waits
	QueueTimeout time.Duration `yaml:"queue_timeout"` // of such a wait
	SlowStart    time.Duration `yaml:"slow_start"`    // until a node that is new or came back has its whole share; 0: at once
	Discovery    Discovery     `yaml:"discovery"`
}

// Discovery says whether the cluster is asked for its nodes.
type Discovery struct {
	Pos Pos `yaml:"-"`

	Enabled  bool          `yaml:"enabled"`  // the cluster names its nodes; urls are where to ask first
	Interval time.Duration `yaml:"interval"` // between two looks
}

// SetDefaults states what holds for keys that are absent.
func (d *Discovery) SetDefaults() { d.Interval = time.Minute }

// SetDefaults states what holds for keys that are absent.
func (u *Upstream) SetDefaults() {
	u.MinVersion = TLS12
	u.MaxConns = 512
	u.MaxQueue = 1024
	u.QueueTimeout = 5 * time.Second
	u.SlowStart = 10 * time.Second
}

// Limits bound what one request, and all together, may cost.
type Limits struct {
	Pos Pos `yaml:"-"`

	MaxHeader          int   `yaml:"max_header"`              // bytes of request line and headers
	MaxBody            int64 `yaml:"max_body"`                // bytes of a body that is read whole, inflated
	MaxBulkBody        int64 `yaml:"max_bulk_body"`           // bytes of a body that is streamed, inflated
	MaxBulkLine        int   `yaml:"max_bulk_line"`           // bytes of one line of a bulk body
	MaxDepth           int   `yaml:"max_depth"`               // nesting of JSON
	MaxConnections     int   `yaml:"max_connections"`         // connections of clients
	MaxAddressConns    int   `yaml:"max_address_connections"` // connections from one address (IPv6: one /64); 0: no bound of its own
	MaxConcurrent      int   `yaml:"max_concurrent"`          // requests at a time
	MaxUserConcurrent  int   `yaml:"max_user_concurrent"`     // requests of one user at a time
	MaxInFlight        int64 `yaml:"max_in_flight"`           // bytes held for all requests
	MaxUserInFlight    int64 `yaml:"max_user_in_flight"`      // bytes held for the requests of one user; if unset, half of max_in_flight
	MinRate            int64 `yaml:"min_rate"`                // bytes a second that a client has to send, or to take while a connection to the cluster waits for it; 0: any
	MaxFilteredAnswer  int64 `yaml:"max_filtered_answer"`     // bytes of an answer that has to be filtered, inflated
	MaxUpstreamURI     int   `yaml:"max_upstream_uri"`        // bytes of a request line the cluster takes
	MaxUpstreamHeader  int   `yaml:"max_upstream_header"`     // bytes of header lines the cluster takes, without their ends
	HashConcurrency    int   `yaml:"hash_concurrency"`        // password hashes at a time
	HashQueue          int   `yaml:"hash_queue"`              // password checks that may wait for their turn
	MaxKeptDecisions   int64 `yaml:"max_kept_decisions"`      // bytes that kept decisions on wildcards take, about; past it those not asked for longest are made anew; 0: none is kept
	MaxExpressionNames int   `yaml:"max_expression_names"`    // names in one index expression; not used yet: it is 1000
}

// SetDefaults states what holds for keys that are absent.
func (l *Limits) SetDefaults() {
	l.MaxHeader = 16 << 10         // 16 KiB
	l.MaxBody = 16 << 20           // 16 MiB
	l.MaxBulkBody = 100 << 20      // 100 MiB, what the cluster takes by default
	l.MaxBulkLine = 16 << 20       // 16 MiB
	l.MaxDepth = 64                // levels
	l.MaxConnections = 16384       // some 13 KiB each while idle
	l.MaxConcurrent = 1024         // requests
	l.MaxUserConcurrent = 256      // one user can't take all of them
	l.MaxInFlight = 512 << 20      // 512 MiB
	l.MaxUserInFlight = 256 << 20  // 256 MiB; see derive
	l.MinRate = 512                // bytes a second: the slowest radio has twice that
	l.MaxFilteredAnswer = 64 << 20 // 64 MiB
	l.MaxUpstreamURI = 4096        // http.max_initial_line_length of the cluster
	l.MaxUpstreamHeader = 8191     // http.max_header_size: Elasticsearch 7.10 takes 8191, OpenSearch 2 8192, 3 16384
	l.HashConcurrency = 2          // one bcrypt of cost 12 is a quarter second of a core
	l.HashQueue = 64               // requests
	l.MaxKeptDecisions = 64 << 20  // 64 MiB: a wildcard that means 10,000 indices takes 5
	l.MaxExpressionNames = 1000    // names
}

// derive sets what follows from other settings, where the file does not say it.
func (l *Limits) derive() {
	if _, given := l.Pos.keys["max_user_in_flight"]; !given {
		l.MaxUserInFlight = max(l.MaxInFlight/2, min(l.MaxBody, l.MaxInFlight))
	}
}

// Timeouts bound how long each step of a request may take.
type Timeouts struct {
	Pos Pos `yaml:"-"`

	ReadHeader time.Duration `yaml:"read_header"`
	Read       time.Duration `yaml:"read"`  // each 64 KiB of a body; a steady upload may take longer
	Write      time.Duration `yaml:"write"` // each 64 KiB of an answer; a steady download may take longer
	Stall      time.Duration `yaml:"stall"` // how far a client may fall behind limits.min_rate
	Idle       time.Duration `yaml:"idle"`  // a connection without a request
	Connect    time.Duration `yaml:"connect"`
	Upstream   time.Duration `yaml:"upstream"`    // without progress of the cluster, in taking a request or answering; the time for the answer begins when the request is out
	Drain      time.Duration `yaml:"drain"`       // requests under way when asked to stop
	DrainDelay time.Duration `yaml:"drain_delay"` // before that, while guard is not ready and serves on, so that load balancers notice
}

// SetDefaults states what holds for keys that are absent.
func (t *Timeouts) SetDefaults() {
	t.ReadHeader = 10 * time.Second
	t.Read = 5 * time.Minute
	t.Write = 5 * time.Minute
	t.Stall = time.Minute
	t.Idle = 2 * time.Minute
	t.Connect = 5 * time.Second
	t.Upstream = 5 * time.Minute
	t.Drain = 30 * time.Second
}

// State says how the picture of the cluster is kept.
type State struct {
	Pos Pos `yaml:"-"`

	MaxAge      time.Duration `yaml:"max_age"`      // older state decides nothing for restricted users
	Poll        time.Duration `yaml:"poll"`         // between two looks, where the cluster can't be waited on
	MinInterval time.Duration `yaml:"min_interval"` // between two refreshes asked for by requests
	Timeout     time.Duration `yaml:"timeout"`      // of one look
}

// SetDefaults states what holds for keys that are absent.
func (s *State) SetDefaults() {
	s.MaxAge = time.Minute
	s.Poll = time.Second
	s.MinInterval = 50 * time.Millisecond
	s.Timeout = 30 * time.Second
}

// Auth says how long a password is remembered, as a keyed hash, and how many may fail.
type Auth struct {
	Pos Pos `yaml:"-"`

	CacheTTL  time.Duration `yaml:"cache_ttl"` // 0: every request hashes
	CacheSize int           `yaml:"cache_size"`

	FailedTTL       time.Duration `yaml:"failed_ttl"`               // a wrong password is remembered, for who has tried it; 0: each one costs a hash
	FailedPerMinute int           `yaml:"failed_logins_per_minute"` // wrong passwords from one address (IPv6: one /64) that are checked, so many at once; 0: any number
}

// SetDefaults states what holds for keys that are absent.
func (a *Auth) SetDefaults() {
	a.CacheTTL = 5 * time.Minute
	a.CacheSize = 10_000
	a.FailedTTL = 30 * time.Second
	a.FailedPerMinute = 60
}

// RoleResolution says what makes a role of a backend role.
type RoleResolution string

// The ways in which users get roles.
const (
	MappingOnly      RoleResolution = "MAPPING_ONLY"      // roles_mapping.yml alone
	BackendRolesOnly RoleResolution = "BACKENDROLES_ONLY" // a backend role is the role of its name
	RolesBoth        RoleResolution = "BOTH"              // both of these
)

// Policy has the settings that the plugin keeps in opensearch.yml, without their
// prefix `plugins.security.`.
type Policy struct {
	Pos Pos `yaml:"-"`

	DFMEmptyOverridesAll   bool                `yaml:"dfm_empty_overrides_all"`
	RolesMappingResolution RoleResolution      `yaml:"roles_mapping_resolution"`
	SystemIndices          SystemIndices       `yaml:"system_indices"`
	ProtectedIndices       ProtectedIndices    `yaml:"protected_indices"`
	Admins                 []string            `yaml:"admin_dn"`                        // names of administrators, as in client certificates, whom no role binds; nobody else may have one of these names
	Impersonation          map[string][]string `yaml:"impersonation"`                   // by user: patterns for users in whose name he may ask
	MaskAlgorithm          string              `yaml:"masked_fields_algorithm_default"` // not used yet: masks are not built; empty: BLAKE2b
	MaskSalt               Secret              `yaml:"compliance_salt"`                 // not used yet: masks are not built; unset: the plugin's
	DisableEnvReplacement  bool                `yaml:"disable_envvar_replacement"`      // in the security folder
}

// SystemIndices are the indices that only an explicit permission opens.
type SystemIndices struct {
	Pos Pos `yaml:"-"`

	Enabled           bool     `yaml:"enabled"`
	PermissionEnabled bool     `yaml:"permission_enabled"`
	Indices           []string `yaml:"indices"`
}

// ProtectedIndices are the indices that only holders of some roles may touch.
type ProtectedIndices struct {
	Pos Pos `yaml:"-"`

	Enabled bool     `yaml:"enabled"` // else no index is protected but the system indices
	Indices []string `yaml:"indices"` // patterns; on these privileges are not enough
	Roles   []string `yaml:"roles"`   // patterns; whoever has one of them is bound by his privileges alone
}

// SetDefaults states what holds for keys that are absent.
func (p *Policy) SetDefaults() {
	p.RolesMappingResolution = MappingOnly
}

// LogLevel is the least level that is logged.
type LogLevel string

// The levels, from the most talkative.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// Log says what is logged.
type Log struct {
	Pos Pos `yaml:"-"`

	Level LogLevel `yaml:"level"`
}

// SetDefaults states what holds for keys that are absent.
func (l *Log) SetDefaults() { l.Level = LogInfo }

// Overrides are the settings that flags may give; an empty one overrides nothing.
type Overrides struct {
	Listen   string
	Internal string
	Upstream []string
	Security string
	LogLevel string
}
