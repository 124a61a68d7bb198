package config

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// validate checks what was decoded, without I/O.
func (c *Config) validate(r *report) {
	c.validateListen(r)
	c.validateProxies(r)
	checkAddress(r, c.Pos.At("internal"), c.Internal)
	for i, name := range c.InternalHosts {
		if !IsHostName(name) {
			r.fault(c.Pos.Item("internal_hosts", i), "a name without a port, such as guard.search.svc", "%q", name)
		}
	}
	if c.Listen == c.Internal && !strings.HasSuffix(c.Listen, ":0") {
		r.fault(c.Pos.At("internal"), "an address of its own: probes and metrics are not for clients", "%q, the same as listen", c.Internal)
	}
	if c.Security == "" {
		r.fault(c.Pos.At("security"), "the path of the security folder", "%q", c.Security)
	}
	if a := c.PublishAddress; a != PublishHost && a != PublishHide && a != PublishKeep {
		checkPublished(r, c.Pos.At("publish_address"), a)
	}
	checkOneOf(r, c.Pos.At("compatibility"), c.Compatibility, CompatibilityNone, CompatibilityElasticsearch)
	c.TLS.validate(r)
	c.CORS.validate(r)
	c.Upstream.validate(r)
	c.Limits.validate(r)
	c.Timeouts.validate(r)
	c.State.validate(r)
	c.Auth.validate(r)
	c.Policy.validate(r)
	checkOneOf(r, c.Log.Pos.At("level"), c.Log.Level, LogDebug, LogInfo, LogWarn, LogError)
}

func checkOneOf[T ~string](r *report, pos Pos, value T, allowed ...T) {
	if !slices.Contains(allowed, value) {
		r.fault(pos, quoted(allowed...), "%q", string(value))
	}
}

func checkAddress(r *report, pos Pos, address string) {
	const want = "host:port, such as 127.0.0.1:9200 or :9200"
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		r.fault(pos, want, "%q", address)
		return
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		r.fault(pos, want, "port %q", port)
	}
}

// IsHostName reports whether s can stand in a Host header, and nowhere else; a port is no
// part of it.
func IsHostName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '_') {
			return false
		}
	}
	return s != "" && len(s) < 256
}

// checkPublished refuses what a client could not connect to.
func checkPublished(r *report, pos Pos, address string) {
	const want = "host:port by which clients reach guard, hide, keep, or nothing"
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || strings.ContainsAny(host, "/@ ") {
		r.fault(pos, want, "%q", address)
		return
	}
	if !isPort(port) {
		r.fault(pos, want, "port %q", port)
	}
}

// isPort reports whether something can be reached at a port.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// checkPair refuses half a setting.
func checkPair(r *report, pos Pos, key1, value1, key2, value2 string) {
	if value1 != "" && value2 == "" {
		r.fault(pos.At(key2), "both or none", "not set, and %s is", key1)
	}
	if value1 == "" && value2 != "" {
		r.fault(pos.At(key1), "both or none", "not set, and %s is", key2)
	}
}

func (u *Upstream) validate(r *report) {
	if len(u.URLs) == 0 {
		r.fault(u.Pos.At("urls"), "the URL of the cluster, such as http://127.0.0.1:9201, in --upstream or in the file of --config", "no URL")
	}
	secure, plain, seen := false, false, map[string]bool{}
	for i, text := range u.URLs {
		pos := u.Pos.Item("urls", i)
		if seen[text] {
			r.fault(pos, "each URL once", "%q again", text)
		}
		seen[text] = true
		parsed := checkURL(r, pos, text)
		secure = secure || parsed != nil && parsed.Scheme == "https"
		plain = plain || parsed != nil && parsed.Scheme == "http"
		if parsed != nil && parsed.Scheme == "http" && u.Username != "" && !isLoopback(parsed.Hostname()) {
			r.warn(pos, "https", "the account of the cluster is sent in clear to %q", parsed.Host)
		}
	}
	checkPair(r, u.Pos, "client_certificate", u.ClientCert, "client_key", u.ClientKey)
	if !secure {
		u.refuseTLS(r)
	}
	if u.Discovery.Enabled && secure && plain {
		r.fault(u.Pos.At("urls"), "one scheme: it is that of the nodes that discovery finds", "http and https")
	}
	if u.Discovery.Enabled && plain && u.Username != "" {
		r.warn(u.Discovery.Pos.At("enabled"), "https", "by http only nodes are taken up that answer without the account")
	}
	checkPositive(r, u.Discovery.Pos.At("interval"), u.Discovery.Interval)
	checkCiphers(r, u.Pos, u.MinVersion, u.CipherSuites)
	u.validateAccount(r)
	checkPositive(r, u.Pos.At("max_connections"), u.MaxConns)
	switch given := u.Pos.At("max_user_connections"); {
	case u.MaxUserConns < 0:
		r.fault(given, "0 for no more than are free for others, or more", "%d", u.MaxUserConns)
	case u.MaxUserConns >= u.MaxConns && u.MaxUserConns > 1:
		r.warn(given, "less than max_connections", "%d lets one user take all of them", u.MaxUserConns)
	}
	checkNotNegative(r, u.Pos.At("max_queue"), u.MaxQueue)
	checkPositive(r, u.Pos.At("queue_timeout"), u.QueueTimeout)
	checkNotNegative(r, u.Pos.At("slow_start"), u.SlowStart)
}

func (u *Upstream) validateAccount(r *report) {
	hasPassword := u.Password.IsSet() || u.PasswordFile != ""
	switch {
	case u.Password.IsSet() && u.PasswordFile != "":
		r.fault(u.Pos.At("password_file"), "one of both", "set, and password is set too")
	case u.Username == "" && hasPassword:
		r.fault(u.Pos.At("username"), "the name of the account", "not set, and its password is")
	case u.Username != "" && !hasPassword:
		r.fault(u.Pos.At("password"), "password or password_file", "not set, and username is")
	case strings.Contains(u.Username, ":"):
		r.fault(u.Pos.At("username"), "a name without ':', where HTTP Basic ends it", "%q", u.Username)
	}
}

// checkURL returns the parsed URL, or nil if it can't be used.
func checkURL(r *report, pos Pos, text string) *url.URL {
	const want = "scheme, host and port, such as http://127.0.0.1:9201"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		// The error quotes the text, which may hold a password.
		r.fault(pos, want, "cannot parse the URL")
	case u.User != nil:
		r.fault(pos, "username and password in keys of their own", "the URL holds an account")
	case !strings.Contains(text, "://") && !strings.Contains(text, "@"):
		r.fault(pos, fmt.Sprintf("%q or %q", "http://"+text, "https://"+text), "no scheme in %q", text)
	case u.Scheme != "http" && u.Scheme != "https":
		r.fault(pos, "http or https", "scheme %q", u.Scheme)
	case u.Hostname() == "":
		r.fault(pos, want, "no host in %q", text)
	case u.Path != "" && u.Path != "/":
		r.fault(pos, "no path: guard checks paths as the cluster reads them", "path %q", u.Path)
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		r.fault(pos, want, "%q goes on after the host", text)
	case !isPort(u.Port()):
		host := strings.TrimSuffix(u.Host, ":"+u.Port())
		r.fault(pos, "a port from 1 to 65535, as in "+u.Scheme+"://"+host+":9200", "port %q in %q", u.Port(), text)
	default:
		return u
	}
	return nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func checkPositive[T ~int | ~int64](r *report, pos Pos, n T) {
	if n <= 0 {
		r.fault(pos, "more than 0", "%v", n)
	}
}

func checkNotNegative[T ~int | ~int64](r *report, pos Pos, n T) {
	if n < 0 {
		r.fault(pos, "0 or more", "%v", n)
	}
}

func (l *Limits) validate(r *report) {
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"max_header", int64(l.MaxHeader)},
		{"max_body", l.MaxBody},
		{"max_bulk_body", l.MaxBulkBody},
		{"max_bulk_line", int64(l.MaxBulkLine)},
		{"max_depth", int64(l.MaxDepth)},
		{"max_connections", int64(l.MaxConnections)},
		{"max_concurrent", int64(l.MaxConcurrent)},
		{"max_user_concurrent", int64(l.MaxUserConcurrent)},
		{"max_in_flight", l.MaxInFlight},
		{"max_user_in_flight", l.MaxUserInFlight},
		{"max_filtered_answer", l.MaxFilteredAnswer},
		{"max_upstream_uri", int64(l.MaxUpstreamURI)},
		{"max_upstream_header", int64(l.MaxUpstreamHeader)},
		{"hash_concurrency", int64(l.HashConcurrency)},
		{"hash_queue", int64(l.HashQueue)},
		{"max_expression_names", int64(l.MaxExpressionNames)},
	} {
		checkPositive(r, l.Pos.At(n.key), n.value)
	}
	if l.MaxAddressConns < 0 {
		r.fault(l.Pos.At("max_address_connections"), "0 for no bound, or more", "%d", l.MaxAddressConns)
	}
	checkNotNegative(r, l.Pos.At("min_rate"), l.MinRate)
	checkNotNegative(r, l.Pos.At("max_kept_decisions"), l.MaxKeptDecisions)
	if l.MaxUserConcurrent > l.MaxConcurrent {
		r.warn(l.Pos.At("max_user_concurrent"), "less than max_concurrent", "%d binds nobody: all together may have %d", l.MaxUserConcurrent, l.MaxConcurrent)
	}
	if l.MaxBody > l.MaxInFlight {
		r.fault(l.Pos.At("max_in_flight"), "at least max_body, or no such body could ever pass", "%d", l.MaxInFlight)
	}
	switch given := l.Pos.At("max_user_in_flight"); {
	case l.MaxUserInFlight > l.MaxInFlight:
		r.fault(given, "at most max_in_flight", "%d", l.MaxUserInFlight)
	case l.MaxUserInFlight < l.MaxBody && l.MaxBody <= l.MaxInFlight:
		r.fault(given, "at least max_body, or no such body could ever pass", "%d", l.MaxUserInFlight)
	}
}

func (t *Timeouts) validate(r *report) {
	checkPositive(r, t.Pos.At("read_header"), t.ReadHeader)
	checkPositive(r, t.Pos.At("read"), t.Read)
	checkPositive(r, t.Pos.At("write"), t.Write)
	checkPositive(r, t.Pos.At("stall"), t.Stall)
	checkPositive(r, t.Pos.At("idle"), t.Idle)
	checkPositive(r, t.Pos.At("connect"), t.Connect)
	checkPositive(r, t.Pos.At("upstream"), t.Upstream)
	checkPositive(r, t.Pos.At("drain"), t.Drain)
	if t.DrainDelay < 0 {
		r.fault(t.Pos.At("drain_delay"), "0 for none, or more", "%v", t.DrainDelay)
	}
}

func (s *State) validate(r *report) {
	checkPositive(r, s.Pos.At("max_age"), s.MaxAge)
	checkPositive(r, s.Pos.At("poll"), s.Poll)
	checkPositive(r, s.Pos.At("min_interval"), s.MinInterval)
	checkPositive(r, s.Pos.At("timeout"), s.Timeout)
	if s.Poll >= s.MaxAge {
		r.fault(s.Pos.At("poll"), "less than max_age, or the state would always be too old", "%v", s.Poll)
	}
}

func (a *Auth) validate(r *report) {
	if a.CacheTTL < 0 {
		r.fault(a.Pos.At("cache_ttl"), "0 for no cache, or more", "%v", a.CacheTTL)
	}
	checkPositive(r, a.Pos.At("cache_size"), a.CacheSize)
	if a.FailedTTL < 0 {
		r.fault(a.Pos.At("failed_ttl"), "0 for none, or more", "%v", a.FailedTTL)
	}
	if a.FailedPerMinute < 0 {
		r.fault(a.Pos.At("failed_logins_per_minute"), "0 for no bound, or more", "%d", a.FailedPerMinute)
	}
}

// maskLegacy is the algorithm of masks that the plugin's version 2 has: the salt
// goes where BLAKE2b takes its personalisation.
const maskLegacy = "BLAKE2B_LEGACY_DEFAULT"

const minMaskSalt = 16 // bytes

func (p *Policy) validate(r *report) {
	checkOneOf(r, p.Pos.At("roles_mapping_resolution"), p.RolesMappingResolution, MappingOnly, BackendRolesOnly, RolesBoth)
	if p.MaskAlgorithm != "" && p.MaskAlgorithm != maskLegacy && !isDigest(p.MaskAlgorithm) {
		r.fault(p.Pos.At("masked_fields_algorithm_default"), "one of "+maskLegacy+", "+strings.Join(digests, ", "), "%q", p.MaskAlgorithm)
	}
	if p.MaskSalt.IsSet() && len(p.MaskSalt.Reveal()) < minMaskSalt {
		r.fault(p.Pos.At("compliance_salt"), "at least 16 bytes", "%d bytes", len(p.MaskSalt.Reveal()))
	}
	if len(p.Admins) > 0 {
		r.warn(p.Pos.At("admin_dn"), "", "log in by client certificate is not built yet: the names are kept from everybody else, and nobody is an administrator")
	}
	for i, name := range p.Admins {
		if !strings.Contains(name, "=") {
			r.fault(p.Pos.Item("admin_dn", i), "a distinguished name, such as CN=ada,OU=search", "%q", name)
		}
	}
	for _, user := range slices.Sorted(maps.Keys(p.Impersonation)) {
		if len(p.Impersonation[user]) == 0 {
			r.warn(p.Pos.At("impersonation"), "users or patterns", "%q may ask in nobody's name", user)
		}
		for i, pattern := range p.Impersonation[user] {
			checkPattern(r, p.Pos.At("impersonation").Item(user, i), pattern)
		}
	}
	for i, pattern := range p.SystemIndices.Indices {
		checkPattern(r, p.SystemIndices.Pos.Item("indices", i), pattern)
	}
	protected := &p.ProtectedIndices
	for i, pattern := range protected.Indices {
		checkPattern(r, protected.Pos.Item("indices", i), pattern)
	}
	for i, pattern := range protected.Roles {
		checkPattern(r, protected.Pos.Item("roles", i), pattern)
	}
	if protected.Enabled && len(protected.Indices) == 0 {
		r.warn(protected.Pos.At("indices"), "at least one index", "no index is protected")
	}
}
