package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dynamicFile returns a config.yml with one usable domain and more keys.
func dynamicFile(more string) string {
	return `_meta: {type: config, config_version: 2}
config:
  dynamic:
    authc:
      passwords: {order: 1, http_authenticator: {type: basic}, authentication_backend: {type: internal}}
` + more
}

func TestRefusedRules(t *testing.T) {
	f := func(entry string, want ...string) {
		t.Helper()
		refused(t, "roles.yml", "_meta: {type: roles, config_version: 2}\nr:\n  index_permissions:\n    - index_patterns: [a]\n      "+entry+"\n", want...)
	}
	const at = "roles.yml:5: r.index_permissions[0]."
	f(`fls: ["~"]`, at+`fls[0]: "~" excludes nothing; want a field or pattern after it`)
	f(`fls: ["a", "! "]`, at+`fls[1]: "! " excludes nothing; want a field or pattern after it`)
	f(`fls: [~]`, at+`fls[0]: "~" is null; want a value; quote a text such as "~" or "null"`, at+`fls[0]: blank entry ""; want a field or pattern`)
	f(`fls: [" "]`, at+`fls[0]: blank entry " "; want a field or pattern`)
	f(`fls: ["~/[/"]`, at+"fls[0]: cannot parse pattern \"/[/\": unclosed '['; want a regular expression")
	f(`dls: " "`, at+`dls: blank query; want a query, or no key for all documents`)
	f(`dls: "\n\t"`, at+`dls: blank query; want a query, or no key for all documents`)
	f(`allowed_actions: ["/(/"]`, at+"allowed_actions[0]: cannot parse pattern \"/(/\": cannot compile regular expression: missing closing ) in `(`; want a regular expression")
	f(`masked_fields: ["a::"]`, at+`masked_fields[0]: unknown algorithm ""; want one of MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512, SHA-512/224, SHA-512/256, SHA3-224, SHA3-256, SHA3-384, SHA3-512`)
	f(`masked_fields: ["a::/x/"]`, at+`masked_fields[0]: unknown algorithm "/x/"; want one of MD5, SHA-1, SHA-224, SHA-256, SHA-384, SHA-512, SHA-512/224, SHA-512/256, SHA3-224, SHA3-256, SHA3-384, SHA3-512`)
	f(`masked_fields: ["a::/x/::y::/z/"]`, at+`masked_fields[0]: expression without replacement in "a::/x/::y::/z/"; want pattern, pattern::ALGORITHM or pattern::/regex/::replacement`)
	f(`masked_fields: ["a::x::y"]`, at+`masked_fields[0]: "x"; want an expression between slashes`)
	f(`masked_fields: ["a::/[/::y"]`, at+"masked_fields[0]: cannot parse pattern \"/[/\": unclosed '['; want a regular expression")
	f(`masked_fields: ["::SHA-1"]`, at+`masked_fields[0]: no field in "::SHA-1"; want pattern, pattern::ALGORITHM or pattern::/regex/::replacement`)

	refused(t, "roles.yml", "_meta: {type: roles, config_version: 2}\nr: {index_permissions: [{index_patterns: ['/a(?/']}], cluster_permissions: ['/)/'], tenant_permissions: [{tenant_patterns: ['/*/'], allowed_actions: ['/+/']}]}\n",
		"roles.yml:2: r.cluster_permissions[0]: cannot parse pattern \"/)/\": cannot compile regular expression: unexpected ) in `)`; want a regular expression",
		"roles.yml:2: r.index_permissions[0].index_patterns[0]: cannot parse pattern \"/a(?/\": group \"(?\" is not supported at offset 1; want a regular expression",
		"roles.yml:2: r.tenant_permissions[0].tenant_patterns[0]: cannot parse pattern \"/*/\": cannot compile regular expression: missing argument to repetition operator in `*`; want a regular expression",
		"roles.yml:2: r.tenant_permissions[0].allowed_actions[0]: cannot parse pattern \"/+/\": cannot compile regular expression: missing argument to repetition operator in `+`; want a regular expression")
	refused(t, "roles_mapping.yml", "_meta: {type: rolesmapping, config_version: 2}\nsupport: {users: ['/[/'], backend_roles: ['/[/'], and_backend_roles: ['/[/']}\n",
		"roles_mapping.yml:2: support.users[0]: cannot parse pattern \"/[/\": unclosed '['; want a regular expression",
		"roles_mapping.yml:2: support.backend_roles[0]: cannot parse pattern \"/[/\": unclosed '['; want a regular expression",
		"roles_mapping.yml:2: support.and_backend_roles[0]: cannot parse pattern \"/[/\": unclosed '['; want a regular expression")
}

// TestAcceptedRules holds forms that look like faults and are none.
func TestAcceptedRules(t *testing.T) {
	f := func(entry string) {
		t.Helper()
		text := "_meta: {type: roles, config_version: 2}\nr:\n  index_permissions:\n    - " + entry + "\n"
		if _, _, err := parseSample(t, map[string]string{"roles.yml": text}); err != nil {
			t.Errorf("%s: %v", entry, err)
		}
	}
	f(`dls: ""`) // the plugin's API writes it for no rule
	f(`dls: null`)
	f(`fls: []`)
	f(`fls: ["*", "~a", "!b", "/^c(?!d)/", "~/e/"]`)
	f(`index_patterns: ["/x${user.name}[/"]`) // known only when a user asks
	f(`masked_fields: ["a", "b::sha-512", "/c.*/", "d::/x/::y", "d::/x/::y::/z/::"]`)
}

// TestUnreadablePatterns: what the reader of patterns can't read as Java would is a
// fault in every list of patterns, also where nothing uses what it stands in.
func TestUnreadablePatterns(t *testing.T) {
	const bad, why = `/a[b&&[c]]/`, `cannot parse pattern "/a[b&&[c]]/": intersection '&&' of character classes is not supported at offset 3; want a regular expression`
	f := func(file, kind, text, path string) {
		t.Helper()
		refused(t, file, "_meta: {type: "+kind+", config_version: 2}\n"+strings.ReplaceAll(text, "BAD", "'"+bad+"'")+"\n", file+":2: "+path+": "+why)
	}
	f("action_groups.yml", "actiongroups", "g: {allowed_actions: [BAD]}", "g.allowed_actions[0]")
	for _, list := range []string{
		"cluster_permissions[0]", "index_permissions[0].index_patterns[0]", "index_permissions[0].allowed_actions[0]", "index_permissions[0].fls[0]",
		"index_permissions[0].masked_fields[0]", "tenant_permissions[0].tenant_patterns[0]", "tenant_permissions[0].allowed_actions[0]",
	} {
		text := strings.NewReplacer("[0].", ": [{", "[0]", ": [BAD]").Replace(list)
		if strings.Contains(list, "].") {
			text += "}]"
		}
		f("roles.yml", "roles", "r: {"+text+"}", "r."+list)
	}
	for _, list := range []string{"users", "backend_roles", "and_backend_roles", "hosts"} {
		f("roles_mapping.yml", "rolesmapping", "support: {"+list+": [BAD]}", "support."+list+"[0]")
	}
	f("audit.yml", "audit", "config: {compliance: {}, audit: {ignore_users: [BAD]}}", "config.audit.ignore_users[0]")

	// A variable is put in where patterns may hold one; an action is read as it stands.
	const open = `cannot parse pattern "/x${user.name}[/": unclosed '['; want a regular expression`
	refused(t, "roles.yml", "_meta: {type: roles, config_version: 2}\nr: {index_permissions: [{allowed_actions: ['/x${user.name}[/']}]}\n",
		"roles.yml:2: r.index_permissions[0].allowed_actions[0]: "+open)
}

// TestHosts: what no address can match is refused, and so is a mode in which names would
// be met as well.
func TestHosts(t *testing.T) {
	mapping := func(host string) string {
		return "_meta: {type: rolesmapping, config_version: 2}\nsupport: {hosts: ['" + host + "']}\n"
	}
	for _, host := range []string{"10.1.2.3", "10.1.*", "*", "1?.0.0.1", "2001:db8::1", "fe80:*", `/10\.[12]\..*/`} {
		if _, warnings, err := parseSample(t, map[string]string{"roles_mapping.yml": mapping(host)}); err != nil || len(warnings) > 0 {
			t.Errorf("%q: got %v, warnings %v; want none", host, err, warnings)
		}
	}
	const want = `want an address in its shortest form, such as 10.1.2.3 or 2001:db8::1, or a pattern of such, as 10.1.* or /10\.[12]\..*/; names of hosts are not looked up`
	for _, host := range []string{
		"localhost", "*.example.com", "dead", "10.1.2", "010.1.2.3", "10.0.0.0/8", "2001:DB8::1", "2001:DB8:*", "2001:db8:0:0::1", "::ffff:10.1.2.3", "fe80::1%eth0", "[::1]",
	} {
		refused(t, "roles_mapping.yml", mapping(host), `roles_mapping.yml:2: support.hosts[0]: "`+host+`" matches no address; `+want)
	}
	refused(t, "roles_mapping.yml", mapping("/[/"), "roles_mapping.yml:2: support.hosts[0]: cannot parse pattern \"/[/\": unclosed '['; want a regular expression")
	_, _, err := parseSample(t, map[string]string{"roles_mapping.yml": mapping("10.*"), "config.yml": dynamicFile("    hosts_resolver_mode: ip-hostname-lookup\n")})
	if err == nil || !strings.Contains(err.Error(), `config.yml:6: config.dynamic.hosts_resolver_mode: "ip-hostname-lookup" is not built, and the mapping of "support" names hosts; want one of "ip-only"`) {
		t.Errorf("names are looked up: got %v", err)
	}
}

func TestRefusedDynamic(t *testing.T) {
	f := func(more string, want ...string) {
		t.Helper()
		refused(t, "config.yml", dynamicFile(more), want...)
	}
	const at = "config.yml:6: config.dynamic."
	const kinds = `one of "basic", "clientcert", "extended-proxy", "jwt", "kerberos", "openid", "proxy", "saml"`
	f("    privileges_evaluation_type: v5\n", at+`privileges_evaluation_type: "v5"; want one of "legacy", "v4"`)
	f("    privileges_evaluation_type: ''\n", at+`privileges_evaluation_type: ""; want one of "legacy", "v4"`)
	f("    filtered_alias_mode: forbid\n", at+`filtered_alias_mode: "forbid"; want one of "warn", "nowarn", "disallow"`)
	f("    hosts_resolver_mode: dns\n", at+`hosts_resolver_mode: "dns"; want one of "ip-only", "ip-hostname", "ip-hostname-lookup"`)
	f("    kibana: {sign_in_options: [BASIC, MAGIC]}\n", at+`kibana.sign_in_options[1]: "MAGIC"; want one of "BASIC", "SAML", "OPENID", "ANONYMOUS"`)
	f("    http: {xff: {internalProxies: '('}}\n", at+"http.xff.internalProxies: cannot parse pattern \"/(/\": cannot compile regular expression: missing closing ) in `(`; want a regular expression")
	f("    api_tokens: {max_tokens: many}\n", at+`api_tokens.max_tokens: "many"; want a whole number`)
	f("      two: {order: 1, http_authenticator: {type: basic}, authentication_backend: {type: intern}}\n",
		`config.yml:6: config.dynamic.authc.two.order: 1, the same as domain "passwords"; want a number of its own: the order of two enabled domains must be clear`)
	f("      two: {order: 2, http_authenticator: {type: magic}}\n", at+`authc.two.http_authenticator.type: unknown authenticator "magic"; want `+kinds)
	f("      two: {order: 2, http_authenticator: {type: basic}, authentication_backend: {type: file}}\n", at+`authc.two.authentication_backend.type: unknown backend "file"; want one of "internal", "intern", "ldap", "ldap2", "noop"`)
	f("      two: {order: 2, http_authenticator: {type: basic}, authentication_backend: {type: noop}}\n", at+`authc.two.authentication_backend.type: "noop" verifies no password: anybody could be anyone; want "internal"`)
	f("      two: {order: 2, http_authenticator: {type: basic, config: {realm: x}}}\n", at+`authc.two.http_authenticator.config: "basic" has no settings; want no keys`)
	f("      two: {order: 010}\n", at+`authc.two.order: "010"; want a whole number`)
	f("      two: {order: first}\n", at+`authc.two.order: "first"; want a whole number`)
	f("      two: {order: 2, http_authenticator: {type: jwt, config: [a]}}\n", at+`authc.two.http_authenticator.config: a list; want a map of keys`)
	f("      two: {order: 2, http_authenticator: {type: jwt, config: {a: {b: 1, b: 2}}}}\n", at+`authc.two.http_authenticator.config.a.b: duplicate key "b", first in line 6; want each key once`)
	f("    authz: {two: {authorization_backend: {type: file}}}\n", at+`authz.two.authorization_backend.type: unknown backend "file"; want one of "internal", "intern", "ldap", "ldap2", "noop"`)
	f("    auth_failure_listeners: {a: {type: both}}\n", at+`auth_failure_listeners.a.type: "both"; want one of "ip", "username"`)
	f("    auth_failure_listeners: {a: {type: ip, authentication_backend: internal, allowed_tries: 0}}\n",
		at+`auth_failure_listeners.a.authentication_backend: "internal"; want no key at type "ip"`,
		at+`auth_failure_listeners.a.allowed_tries: 0; want at least 1`)
	f("    auth_failure_listeners: {a: {type: username}}\n", at+`auth_failure_listeners.a.authentication_backend: ""; want one of "internal", "intern", "ldap", "ldap2", "noop"`)
	f("  static: {}\n", `config.yml:6: config.static: unknown key "static"; want one of dynamic`)
	f("other: {}\n", `config.yml:6: other: unknown entry "other"; want one entry, "config"`)

	const meta = "_meta: {type: config, config_version: 2}\n"
	const nobody = `no domain that guard can ask: nobody could log in; want an enabled domain with http_authenticator.type "basic" and authentication_backend.type "internal"`
	refused(t, "config.yml", meta, `config.yml:1: config: config is missing; want one entry, "config"`)
	refused(t, "config.yml", meta+"config: {}\n", `config.yml:2: config.dynamic.authc: `+nobody)
	refused(t, "config.yml", meta+"config: {dynamic: {authc: {a: {http_enabled: false, http_authenticator: {type: basic}}}}}\n", `config.yml:2: config.dynamic.authc: `+nobody)
	refused(t, "config.yml", meta+"config: {dynamic: {authc: {a: {http_authenticator: {type: jwt}}}}}\n", `config.yml:2: config.dynamic.authc: `+nobody)
	refused(t, "config.yml", meta+"config: {dynamic: {authc: {a: {http_authenticator: {type: basic}, authentication_backend: {type: ldap}}}}}\n", `config.yml:2: config.dynamic.authc: `+nobody)

	refused(t, "allowlist.yml", "_meta: {type: allowlist, config_version: 2}\nconfig:\n  enabled: true\n  requests: {/_cat: [GET, GOT]}\n",
		`allowlist.yml:3: config.enabled: true; want false: the list of allowed APIs is not built yet, and would not be enforced`,
		`allowlist.yml:4: config.requests."/_cat"[1]: unknown method "GOT"; want one of GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, TRACE, CONNECT`)
	refused(t, "audit.yml", "_meta: {type: audit, config_version: 2}\nconfig: {audit: {disabled_categories: [NONE]}}\n",
		`audit.yml:2: config.audit.disabled_categories[0]: unknown category "NONE"; want the name of a category, such as AUTHENTICATED`)
	refused(t, "nodes_dn.yml", "_meta: {type: nodesdn, config_version: 2}\na: [CN=a]\n", `nodes_dn.yml:2: a: a list; want a map of keys`)
}

func TestWarnings(t *testing.T) {
	f := func(file, text string, want ...string) {
		t.Helper()
		s, warnings, err := parseSample(t, map[string]string{file: text})
		if err != nil || s == nil {
			t.Errorf("%s: %v", file, err)
			return
		}
		var got []string
		for _, w := range warnings {
			got = append(got, w.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
	}
	f("whitelist.yml", "x", "whitelist.yml: file is ignored: its successor is allowlist.yml")
	f("opensearch.yml.example", "x", "opensearch.yml.example: file is ignored: no file of a security folder has this name")
	f("action_groups.yml", "_meta: {type: actiongroups, config_version: 2}\nread:\n  allowed_actions: ['*']\n",
		`action_groups.yml:2: read: action group "read" is built in; this one is ignored; want another name`)
	f("roles_mapping.yml", "_meta: {type: rolesmapping, config_version: 2}\nsuport: {users: [anna, '']}\n",
		`roles_mapping.yml:2: suport.users[1]: blank entry "" matches nothing; want a name or pattern`,
		`roles_mapping.yml:2: suport: role "suport" does not exist: the mapping grants nothing; want the name of a role in roles.yml`)
	f("internal_users.yml", "_meta: {type: internalusers, config_version: 2}\na:b: {hash: x}\nc: {opendistro_security_roles: [nil]}\n",
		`internal_users.yml:2: "a:b": HTTP Basic ends a name at ':': the user cannot log in`,
		`internal_users.yml:3: c.hash: no hash: the user cannot log in; want a password hash, such as guard hash prints`,
		`internal_users.yml:3: c.opendistro_security_roles[0]: role "nil" does not exist; want the name of a role in roles.yml`)
	f("audit.yml", "_meta: {type: audit, config_version: 2}\nconfig: {enabled: true}\n",
		`audit.yml:2: config.enabled: audit is not built yet: nothing is recorded`)
	f("roles.yml", "_meta: {type: roles, config_version: 2}\nsupport: {}\nanalyst:\n  index_permissions:\n  - index_patterns: [a]\n    masked_fields: [b]\n  - fls: [c]\n",
		`roles.yml:6: analyst.index_permissions[0].masked_fields: masks are not built yet: requests to these indices are refused`,
		`roles.yml:7: analyst.index_permissions[1].index_patterns: no index pattern: the entry grants nothing; want at least one pattern`)
	f("config.yml", dynamicFile(`      jwt: {order: 0, http_authenticator: {type: jwt, config: {signing_key: x}}}
      untyped: {order: 3}
      ldap: {order: 2, http_authenticator: {type: basic}, authentication_backend: {type: ldap}}
      off: {order: 2, http_enabled: false, http_authenticator: {type: saml}}
    authz: {roles: {authorization_backend: {type: ldap2}}, none: {}}
    disable_rest_auth: true
    disable_intertransport_auth: true
    multi_rolespan_enabled: false
    transport_userrname_attribute: cn
    hosts_resolver_mode: ip-hostname
    http: {anonymous_auth_enabled: true, xff: {enabled: true}}
    kibana: {multitenancy_enabled: true}
    on_behalf_of: {enabled: true, signing_key: x}
    api_tokens: {enabled: true}
    auth_failure_listeners: {a: {type: ip}}
`),
		`config.yml:6: config.dynamic.authc.jwt.http_authenticator.type: authenticator "jwt" is not built yet: the domain is skipped; want "basic", or http_enabled: false`,
		`config.yml:7: config.dynamic.authc.untyped.http_authenticator.type: no type: the domain is skipped; want one of "basic", "clientcert", "extended-proxy", "jwt", "kerberos", "openid", "proxy", "saml"`,
		`config.yml:8: config.dynamic.authc.ldap.authentication_backend.type: backend "ldap" is not built yet: the domain is skipped; want "internal", or http_enabled: false`,
		`config.yml:10: config.dynamic.authz.roles.authorization_backend.type: backend "ldap2" is not built yet: it adds no roles; want http_enabled: false`,
		`config.yml:11: config.dynamic.disable_rest_auth: ignored: every request is authenticated; want false`,
		`config.yml:12: config.dynamic.disable_intertransport_auth: ignored: guard is no node; want false`,
		`config.yml:13: config.dynamic.multi_rolespan_enabled: ignored: privileges always span roles; want true`,
		`config.yml:14: config.dynamic.transport_userrname_attribute: ignored: guard is no node; want no key`,
		`config.yml:15: config.dynamic.hosts_resolver_mode: ignored: names of hosts are not looked up; want one of "ip-only"`,
		`config.yml:16: config.dynamic.http.anonymous_auth_enabled: anonymous users are not built yet: they get 401; want false`,
		`config.yml:16: config.dynamic.http.xff.enabled: ignored: in guard.yml, trusted_proxies says who may name the addresses of clients; want false`,
		`config.yml:17: config.dynamic.kibana.multitenancy_enabled: tenants are not built yet: they are not applied; want false`,
		`config.yml:18: config.dynamic.on_behalf_of.enabled: on-behalf-of tokens are not built yet: they get 401; want false`,
		`config.yml:19: config.dynamic.api_tokens.enabled: API tokens are not built yet: they get 401; want false`,
		`config.yml:20: config.dynamic.auth_failure_listeners: not built yet: failed logins are limited by auth.failed_logins_per_minute of guard.yml alone`,
	)
}

// TestDomains holds the order in which domains are asked, and who is left out.
func TestDomains(t *testing.T) {
	on := func(order int) AuthcDomain { return AuthcDomain{HTTPEnabled: true, Order: order} }
	d := Dynamic{Authc: map[string]AuthcDomain{"c": on(2), "a": on(10), "off": {Order: 1}, "b": on(-1), "aa": on(10)}}
	var names []string
	for _, domain := range d.Domains() {
		names = append(names, domain.Name)
	}
	if diff := cmp.Diff([]string{"b", "c", "a", "aa"}, names); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestIsService(t *testing.T) {
	f := func(u User, want bool) {
		t.Helper()
		if u.IsService() != want {
			t.Errorf("%+v is a service account: %v; want %v", u, u.IsService(), want)
		}
	}
	f(User{}, false)
	f(User{Service: true}, false) // the key does not count, the attribute does
	f(User{Attributes: map[string]string{"service": "false"}}, false)
	f(User{Attributes: map[string]string{"service": "true"}}, true)
}

// TestBuiltIn holds that what is built in has no loose ends, and wins.
func TestBuiltIn(t *testing.T) {
	groups := builtInActionGroups()
	if len(groups) != 26 || len(builtInRoles()) != 8 {
		t.Errorf("%d groups and %d roles are built in; want 26 and 8", len(groups), len(builtInRoles()))
	}
	if _, warnings, err := parseSample(t, nil); err != nil || len(warnings) > 0 {
		t.Errorf("built-in roles with a group that does not exist: %v %v", warnings, err)
	}
	s, _, err := parseSample(t, map[string]string{"roles.yml": "_meta: {type: roles, config_version: 2}\nsupport: {}\nanalyst: {}\nreadall: {cluster_permissions: ['*']}\n"})
	if err != nil {
		t.Fatal(err)
	}
	if r := s.Roles["readall"]; !r.Static || slices.Contains(r.ClusterPermissions, "*") {
		t.Errorf("role readall is %+v; want the built-in one", r)
	}
	for name, group := range groups {
		if !group.Static || !group.Reserved || len(group.AllowedActions) == 0 {
			t.Errorf("group %s is %+v", name, group)
		}
	}
}
