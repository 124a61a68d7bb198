package config

import (
	"slices"
	"strings"
)

// Types of authenticators and backends that config.yml may name. Only HTTP Basic
// against internal_users.yml is built.
const (
	AuthenticatorBasic = "basic"
	BackendInternal    = "internal"
)

// hostsByAddress is the only hosts_resolver_mode that is built: no names are looked up.
const hostsByAddress = "ip-only"

var (
	authenticatorTypes = []string{AuthenticatorBasic, "clientcert", "extended-proxy", "jwt", "kerberos", "openid", "proxy", "saml"}
	backendTypes       = []string{BackendInternal, "intern", "ldap", "ldap2", "noop"}
)

// IsInternal reports whether b is internal_users.yml. That is what no type means, too.
func (b Backend) IsInternal() bool {
	return b.Type == BackendInternal || b.Type == "intern" || b.Type == ""
}

// Usable reports whether guard can ask d; one that is not is skipped.
func (d AuthcDomain) Usable() bool {
	return d.HTTPEnabled && d.Authenticator.Type == AuthenticatorBasic && d.Backend.IsInternal()
}

func (l *loader) checkDynamic(d *Dynamic) {
	l.oneOf(d.Pos.At("privileges_evaluation_type"), string(d.PrivilegesEvaluationType), string(EvaluationLegacy), string(EvaluationV4))
	l.oneOf(d.Pos.At("filtered_alias_mode"), d.FilteredAliasMode, "warn", "nowarn", "disallow")
	l.oneOf(d.Pos.At("hosts_resolver_mode"), d.HostsResolverMode, hostsByAddress, "ip-hostname", "ip-hostname-lookup")
	for i, option := range d.Kibana.SignInOptions {
		l.oneOf(d.Kibana.Pos.Item("sign_in_options", i), strings.ToUpper(option), "BASIC", "SAML", "OPENID", "ANONYMOUS")
	}
	l.checkDomains(d)
	for _, name := range sortedKeys(d.Authz) {
		l.checkAuthz(d.Authz[name])
	}
	for _, name := range sortedKeys(d.AuthFailureListeners) {
		l.checkListener(d.AuthFailureListeners[name])
	}
	l.checkPattern(d.HTTP.XFF.Pos.At("internalProxies"), "/"+d.HTTP.XFF.InternalProxies+"/")
	l.warnUnbuilt(d)
}

func (l *loader) oneOf(pos Pos, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		l.report.fault(pos, quoted(allowed...), "%q", value)
	}
}

// warnUnbuilt names each setting that guard reads and does not act on.
func (l *loader) warnUnbuilt(d *Dynamic) {
	for _, s := range []struct {
		set     bool
		pos     Pos
		msg     string
		instead string
	}{
		{d.DisableRESTAuth, d.Pos.At("disable_rest_auth"), "ignored: every request is authenticated", "false"},
		{d.DisableIntertransportAuth, d.Pos.At("disable_intertransport_auth"), "ignored: guard is no node", "false"},
		{!d.MultiRolespanEnabled, d.Pos.At("multi_rolespan_enabled"), "ignored: privileges always span roles", "true"},
		{d.TransportUsernameAttribute != "", d.Pos.At("transport_userrname_attribute"), "ignored: guard is no node", "no key"},
		{d.HTTP.AnonymousAuthEnabled, d.HTTP.Pos.At("anonymous_auth_enabled"), "anonymous users are not built yet: they get 401", "false"},
		{d.HTTP.XFF.Enabled, d.HTTP.XFF.Pos.At("enabled"), "ignored: in guard.yml, trusted_proxies says who may name the addresses of clients", "false"},
		{d.Kibana.has("multitenancy_enabled") && d.Kibana.MultitenancyEnabled, d.Kibana.Pos.At("multitenancy_enabled"), "tenants are not built yet: they are not applied", "false"},
		{d.OnBehalfOf.Enabled, d.OnBehalfOf.Pos.At("enabled"), "on-behalf-of tokens are not built yet: they get 401", "false"},
		{d.APITokens.Enabled, d.APITokens.Pos.At("enabled"), "API tokens are not built yet: they get 401", "false"},
		{len(d.AuthFailureListeners) > 0, d.Pos.At("auth_failure_listeners"), "not built yet: failed logins are limited by auth.failed_logins_per_minute of guard.yml alone", ""},
	} {
		if s.set {
			l.report.warn(s.pos, s.instead, "%s", s.msg)
		}
	}
}

func (k Kibana) has(key string) bool {
	_, ok := k.Pos.keys[key]
	return ok
}

// checkDomains checks the chain of authentication domains: known types, one
// place for each, and at least one that guard can ask.
func (l *loader) checkDomains(d *Dynamic) {
	atOrder := map[int]string{}
	usable := false
	for _, name := range sortedKeys(d.Authc) {
		domain := d.Authc[name]
		domain.Name = name
		d.Authc[name] = domain
		l.checkDomain(domain)
		usable = usable || domain.Usable()
		if !domain.HTTPEnabled {
			continue
		}
		if other, taken := atOrder[domain.Order]; taken {
			l.report.fault(domain.Pos.At("order"), "a number of its own: the order of two enabled domains must be clear", "%d, the same as domain %q", domain.Order, other)
			continue
		}
		atOrder[domain.Order] = name
	}
	if !usable {
		l.report.fault(d.Pos.At("authc"), "an enabled domain with http_authenticator.type \"basic\" and authentication_backend.type \"internal\"", "no domain that guard can ask: nobody could log in")
	}
}

func (l *loader) checkDomain(d AuthcDomain) {
	kind := d.Authenticator.Type
	if kind == "" {
		l.report.warn(d.Authenticator.Pos.At("type"), quoted(authenticatorTypes...), "no type: the domain is skipped")
		return
	}
	known := slices.Contains(authenticatorTypes, kind)
	if !known {
		l.report.fault(d.Authenticator.Pos.At("type"), quoted(authenticatorTypes...), "unknown authenticator %q", kind)
	}
	if d.Backend.Type != "" && !slices.Contains(backendTypes, d.Backend.Type) {
		l.report.fault(d.Backend.Pos.At("type"), quoted(backendTypes...), "unknown backend %q", d.Backend.Type)
		return
	}
	if !known || !d.HTTPEnabled {
		return
	}
	switch {
	case kind != AuthenticatorBasic:
		l.report.warn(d.Authenticator.Pos.At("type"), "\"basic\", or http_enabled: false", "authenticator %q is not built yet: the domain is skipped", kind)
	case d.Authenticator.Config.Len() > 0:
		l.report.fault(d.Authenticator.Pos.At("config"), "no keys", "\"basic\" has no settings")
	case d.Backend.Type == "noop":
		l.report.fault(d.Backend.Pos.At("type"), "\"internal\"", "\"noop\" verifies no password: anybody could be anyone")
	case !d.Backend.IsInternal():
		l.report.warn(d.Backend.Pos.At("type"), "\"internal\", or http_enabled: false", "backend %q is not built yet: the domain is skipped", d.Backend.Type)
	}
}

func (l *loader) checkAuthz(d AuthzDomain) {
	if !slices.Contains(backendTypes, d.Backend.Type) {
		l.report.fault(d.Backend.Pos.At("type"), quoted(backendTypes...), "unknown backend %q", d.Backend.Type)
		return
	}
	if d.HTTPEnabled && strings.HasPrefix(d.Backend.Type, "ldap") {
		l.report.warn(d.Backend.Pos.At("type"), "http_enabled: false", "backend %q is not built yet: it adds no roles", d.Backend.Type)
	}
}

func (l *loader) checkListener(f FailureListener) {
	l.oneOf(f.Pos.At("type"), f.Type, "ip", "username")
	if f.Type == "ip" && f.AuthenticationBackend != "" {
		l.report.fault(f.Pos.At("authentication_backend"), "no key at type \"ip\"", "%q", f.AuthenticationBackend)
	}
	if f.Type == "username" && !slices.Contains(backendTypes, f.AuthenticationBackend) {
		l.report.fault(f.Pos.At("authentication_backend"), quoted(backendTypes...), "%q", f.AuthenticationBackend)
	}
	for _, n := range []struct {
		key   string
		value int
	}{
		{"allowed_tries", f.AllowedTries}, {"time_window_seconds", f.TimeWindowSeconds},
		{"block_expiry_seconds", f.BlockExpirySeconds},
		{"max_blocked_clients", f.MaxBlockedClients}, {"max_tracked_clients", f.MaxTrackedClients},
	} {
		if n.value < 1 {
			l.report.fault(f.Pos.At(n.key), "at least 1", "%d", n.value)
		}
	}
}
