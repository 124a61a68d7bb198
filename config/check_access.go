package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"guard/internal/names"
)

// What is checked here needs no knowledge of the cluster: roles, mappings, users
// and what refers to what. Texts of queries are checked where they are compiled.

func (l *loader) checkRole(role Role) {
	l.checkPatterns(role.Pos, "cluster_permissions", role.ClusterPermissions)
	for _, p := range role.IndexPermissions {
		l.checkIndexPermission(p)
	}
	for _, p := range role.TenantPermissions {
		l.checkTemplates(p.Pos, "tenant_patterns", p.TenantPatterns)
		l.checkPatterns(p.Pos, "allowed_actions", p.AllowedActions)
	}
}

func (l *loader) checkIndexPermission(p IndexPermission) {
	if len(p.IndexPatterns) == 0 {
		l.report.warn(p.Pos.At("index_patterns"), "at least one pattern", "no index pattern: the entry grants nothing")
	}
	l.checkTemplates(p.Pos, "index_patterns", p.IndexPatterns)
	l.checkPatterns(p.Pos, "allowed_actions", p.AllowedActions)
	if p.DLS != "" && strings.TrimSpace(p.DLS) == "" {
		// The plugin's versions read it as an error or as no rule.
		l.report.fault(p.Pos.At("dls"), "a query, or no key for all documents", "blank query")
	}
	for i, entry := range p.FLS {
		l.checkField(p.Pos.Item("fls", i), entry)
	}
	for i, entry := range p.MaskedFields {
		l.checkMask(p.Pos.Item("masked_fields", i), entry)
	}
	if len(p.MaskedFields) > 0 {
		l.report.warn(p.Pos.At("masked_fields"), "", "masks are not built yet: requests to these indices are refused")
	}
}

// checkField checks an entry of fls: a pattern, excluding after '~' or '!'.
func (l *loader) checkField(pos Pos, entry string) {
	pattern := entry
	if strings.HasPrefix(entry, "~") || strings.HasPrefix(entry, "!") {
		pattern = entry[1:]
		if strings.TrimSpace(pattern) == "" {
			l.report.fault(pos, "a field or pattern after it", "%q excludes nothing", entry)
			return
		}
	}
	if strings.TrimSpace(pattern) == "" {
		l.report.fault(pos, "a field or pattern", "blank entry %q", entry)
		return
	}
	l.checkPattern(pos, pattern)
}

// checkMask checks an entry of masked_fields: a pattern, followed by nothing, an
// algorithm, or pairs of an expression and its replacement.
func (l *loader) checkMask(pos Pos, entry string) {
	const want = "pattern, pattern::ALGORITHM or pattern::/regex/::replacement"
	parts := strings.Split(entry, "::")
	if strings.TrimSpace(parts[0]) == "" {
		l.report.fault(pos, want, "no field in %q", entry)
		return
	}
	l.checkPattern(pos, parts[0])
	switch {
	case len(parts) == 1:
	case len(parts) == 2:
		if !isDigest(parts[1]) {
			l.report.fault(pos, "one of "+strings.Join(digests, ", "), "unknown algorithm %q", parts[1])
		}
	case len(parts)%2 == 0:
		l.report.fault(pos, want, "expression without replacement in %q", entry)
	default:
		for i := 1; i < len(parts); i += 2 {
			if !isRegex(parts[i]) {
				l.report.fault(pos, "an expression between slashes", "%q", parts[i])
				continue
			}
			l.checkPattern(pos, parts[i])
		}
	}
}

// digests are the names by which a mask may name its algorithm.
var digests = []string{
	"MD5", "SHA-1", "SHA-224", "SHA-256", "SHA-384", "SHA-512", "SHA-512/224", "SHA-512/256",
	"SHA3-224", "SHA3-256", "SHA3-384", "SHA3-512",
}

func isDigest(name string) bool {
	return slices.ContainsFunc(digests, func(d string) bool { return strings.EqualFold(d, name) })
}

func (l *loader) checkMapping(m Mapping) {
	l.eachPattern(m.Pos, "hosts", m.Hosts, l.checkHost)
	l.checkPatterns(m.Pos, "users", m.Users)
	l.checkPatterns(m.Pos, "backend_roles", m.BackendRoles)
	l.checkPatterns(m.Pos, "and_backend_roles", m.AndBackendRoles)
}

// checkHost refuses what no address can match: its owner means a role to be given by it,
// and maybe the rules of that role to bind.
func (l *loader) checkHost(pos Pos, pattern string) {
	if !canBeAddress(pattern) {
		l.report.fault(pos, "an address in its shortest form, such as 10.1.2.3 or 2001:db8::1, or a pattern of such, as 10.1.* or /10\\.[12]\\..*/; names of hosts are not looked up", "%q matches no address", pattern)
		return
	}
	l.checkPattern(pos, pattern)
}

func canBeAddress(pattern string) bool {
	switch {
	case isRegex(pattern):
		return true // nobody can tell
	case strings.ContainsAny(pattern, "*?"):
		return strings.Trim(pattern, "*?.:0123456789abcdef") == ""
	default:
		addr, err := netip.ParseAddr(pattern)
		return err == nil && addr.Unmap().WithZone("").String() == pattern
	}
}

func (l *loader) checkUser(name string, u User) {
	if !u.Hash.IsSet() {
		l.report.warn(u.Pos.At("hash"), "a password hash, such as guard hash prints", "no hash: the user cannot log in")
	}
	if strings.Contains(name, ":") {
		l.report.warn(u.Pos, "", "HTTP Basic ends a name at ':': the user cannot log in")
	}
}

// checkPatterns checks a list of patterns under key.
func (l *loader) checkPatterns(pos Pos, key string, patterns []string) {
	l.eachPattern(pos, key, patterns, l.checkPattern)
}

// checkTemplates checks a list of patterns that may hold variables. An expression with
// one in it is known only when a user asks.
func (l *loader) checkTemplates(pos Pos, key string, patterns []string) {
	l.eachPattern(pos, key, patterns, func(at Pos, pattern string) {
		if !strings.Contains(pattern, "${") {
			l.checkPattern(at, pattern)
		}
	})
}

func (l *loader) eachPattern(pos Pos, key string, patterns []string, check func(Pos, string)) {
	for i, pattern := range patterns {
		at := pos.Item(key, i)
		if strings.TrimSpace(pattern) == "" {
			l.report.warn(at, "a name or pattern", "blank entry %q matches nothing", pattern)
			continue
		}
		check(at, pattern)
	}
}

// checkPattern checks that a pattern can be read, by the reader of those that compile
// it: one that no rule uses would else be read by nobody.
func (l *loader) checkPattern(pos Pos, pattern string) { checkPattern(&l.report, pos, pattern) }

func checkPattern(r *report, pos Pos, pattern string) {
	if _, err := names.ParsePattern(pattern); err != nil {
		r.fault(pos, "a regular expression", "%s", strings.Replace(err.Error(), "error parsing regexp: ", "", 1))
	}
}

func isRegex(pattern string) bool {
	return len(pattern) >= 2 && pattern[0] == '/' && pattern[len(pattern)-1] == '/'
}

// crossCheck looks at what refers to another file, such as to roles that do not exist.
// Actions and their groups are for the package that knows the actions.
func (l *loader) crossCheck() {
	if len(l.report.faults) > 0 {
		return // what is missing may be what could not be read
	}
	s := l.security
	l.checkResolverMode()
	for _, name := range sortedKeys(s.Mappings) {
		if _, ok := s.Roles[name]; !ok {
			l.report.warn(s.Mappings[name].Pos, "the name of a role in roles.yml", "role %q does not exist: the mapping grants nothing", name)
		}
	}
	for _, name := range sortedKeys(s.Users) {
		user := s.Users[name]
		for i, role := range user.SecurityRoles {
			if _, ok := s.Roles[role]; !ok {
				l.report.warn(user.Pos.Item("opendistro_security_roles", i), "the name of a role in roles.yml", "role %q does not exist", role)
			}
		}
	}
}

// checkResolverMode refuses a mode in which patterns of hosts would be met by names, too.
func (l *loader) checkResolverMode() {
	d := l.security.Dynamic
	if d.HostsResolverMode == hostsByAddress {
		return
	}
	at := d.Pos.At("hosts_resolver_mode")
	for _, name := range sortedKeys(l.security.Mappings) {
		if len(l.security.Mappings[name].Hosts) > 0 {
			l.report.fault(at, quoted(hostsByAddress), "%q is not built, and the mapping of %q names hosts", d.HostsResolverMode, name)
			return
		}
	}
	l.report.warn(at, quoted(hostsByAddress), "ignored: names of hosts are not looked up")
}

// checkAllowlist refuses a list that would not be enforced.
func (l *loader) checkAllowlist(a Allowlist) {
	if a.Enabled {
		l.report.fault(a.Pos.At("enabled"), "false: the list of allowed APIs is not built yet, and would not be enforced", "true")
	}
	for path, methods := range a.Requests {
		for i, method := range methods {
			if !slices.Contains(httpMethods, method) {
				l.report.fault(a.Pos.At("requests").Item(path, i), "one of "+strings.Join(httpMethods, ", "), "unknown method %q", method)
			}
		}
	}
}

var httpMethods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"}

// auditCategories are the kinds of events that audit.yml can leave out.
var auditCategories = []string{
	"BAD_HEADERS", "FAILED_LOGIN", "MISSING_PRIVILEGES", "GRANTED_PRIVILEGES", "OPENDISTRO_SECURITY_INDEX_ATTEMPT",
	"SSL_EXCEPTION", "AUTHENTICATED", "INDEX_EVENT", "COMPLIANCE_DOC_READ", "COMPLIANCE_DOC_WRITE",
	"COMPLIANCE_EXTERNAL_CONFIG", "COMPLIANCE_INTERNAL_CONFIG_READ", "COMPLIANCE_INTERNAL_CONFIG_WRITE",
	"CLUSTER_SETTINGS_CHANGED", "INDEX_SETTINGS_CHANGED", "API_TOKEN_WRITE", "REQUEST_AUDIT", "TRANSPORT_AUDIT",
	"RESOURCE_ACCESS_GRANTED", "RESOURCE_ACCESS_DENIED", "RESOURCE_SHARING_CHANGED",
}

func (l *loader) checkAudit(a Audit) {
	if a.Enabled {
		l.report.warn(a.Pos.At("enabled"), "", "audit is not built yet: nothing is recorded")
	}
	for key, categories := range map[string][]string{
		"disabled_categories":           a.Filter.DisabledCategories,
		"disabled_rest_categories":      a.Filter.DisabledRESTCategories,
		"disabled_transport_categories": a.Filter.DisabledTransportCategories,
	} {
		for i, category := range categories {
			if !slices.Contains(auditCategories, strings.ToUpper(category)) {
				l.report.fault(a.Filter.Pos.Item(key, i), "the name of a category, such as AUTHENTICATED", "unknown category %q", category)
			}
		}
	}
	l.checkPatterns(a.Filter.Pos, "ignore_users", a.Filter.IgnoreUsers)
	l.checkPatterns(a.Filter.Pos, "ignore_requests", a.Filter.IgnoreRequests)
}

// quoted lists values for a message.
func quoted[T ~string](values ...T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprintf("%q", string(v))
	}
	return "one of " + strings.Join(texts, ", ")
}
