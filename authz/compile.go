package authz

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// Compile turns a security folder and the settings beside it into a Policy. All
// faults are returned at once; a policy with a fault does not exist, since a rule
// that cannot be read could be the one that hides something.
func Compile(sec *config.Security, set config.Policy) (*Policy, []config.Warning, error) {
	c := compiler{
		groups: sec.ActionGroups,
		policy: &Policy{
			evaluation: sec.Dynamic.PrivilegesEvaluationType,
			emptyFrees: set.DFMEmptyOverridesAll,
			resolution: set.RolesMappingResolution,
			roles:      make(map[string]*role, len(sec.Roles)),
			hidden:     make(map[string]bool),
		},
	}
	c.evaluation(&sec.Dynamic)
	c.system(set)
	c.policy.lasting = !slices.ContainsFunc(slices.Concat(c.policy.system.List(), c.policy.protected.List()), func(p names.Pattern) bool { return !p.Sure() })
	c.vocabulary(sec)
	for _, name := range slices.Sorted(maps.Keys(sec.Roles)) {
		c.role(name, sec.Roles[name])
	}
	c.policy.super = c.newRole("", config.Role{
		ClusterPermissions: []string{"*"},
		IndexPermissions:   []config.IndexPermission{{IndexPatterns: []string{"*", "*:*"}, AllowedActions: []string{"*"}}},
	})
	for _, name := range slices.Sorted(maps.Keys(sec.Mappings)) {
		c.mapping(name, sec.Mappings[name])
	}
	if err := c.faults.Err(); err != nil {
		return nil, c.warnings, err
	}
	if err := c.caches(); err != nil {
		return nil, c.warnings, err
	}
	return c.policy, c.warnings, nil
}

// compiler collects what Compile finds.
type compiler struct {
	groups   map[string]config.ActionGroup
	policy   *Policy
	faults   config.Faults
	warnings []config.Warning
}

// fault notes what is wrong, once: a group is read for each role that has it.
func (c *compiler) fault(at config.Pos, want, format string, args ...any) {
	if f := at.Fault(fmt.Sprintf(format, args...), want); !slices.Contains(c.faults, f) {
		c.faults = append(c.faults, f)
	}
}

// warn notes what the owner should know; nobody can change what is built in.
func (c *compiler) warn(at config.Pos, want, format string, args ...any) {
	if at.File != "" {
		c.warnings = append(c.warnings, at.Fault(fmt.Sprintf(format, args...), want))
	}
}

func (c *compiler) evaluation(d *config.Dynamic) {
	p := c.policy
	switch p.evaluation {
	case config.EvaluationV4:
		p.reduce = d.IgnoreUnauthorizedIndices
	case config.EvaluationLegacy, "":
		p.evaluation = config.EvaluationLegacy
		p.reduce = d.DoNotFailOnForbidden
		p.reduceAll = d.DoNotFailOnForbidden && d.DoNotFailOnForbiddenEmpty
	default:
		c.fault(d.Pos.At("privileges_evaluation_type"), "legacy or v4", "unknown value %q", p.evaluation)
	}
	// Which aliases of an index carry a filter is not known here: not built, and a
	// setting that forbids is not to be ignored.
	if p.evaluation == config.EvaluationLegacy && d.FilteredAliasMode == "disallow" {
		c.fault(d.Pos.At("filtered_alias_mode"), "warn or nowarn", "disallow is not built yet")
	}
	switch p.resolution {
	case config.MappingOnly, config.BackendRolesOnly, config.RolesBoth:
	case "":
		p.resolution = config.MappingOnly
	default:
		c.faults = append(c.faults, config.Fault{
			Msg:  fmt.Sprintf("unknown roles_mapping_resolution %q", p.resolution),
			Want: "MAPPING_ONLY, BACKENDROLES_ONLY or BOTH",
		})
	}
}

// system compiles the names of the system indices. Where they are not enabled,
// the security index alone is protected.
func (c *compiler) system(set config.Policy) {
	if set.SystemIndices.Enabled {
		c.policy.system = c.reserved(set.SystemIndices.Pos, set.SystemIndices.Indices)
		c.policy.openable = set.SystemIndices.PermissionEnabled
	}
	if protected := set.ProtectedIndices; protected.Enabled {
		c.policy.protected = c.reserved(protected.Pos, protected.Indices)
		c.policy.protectors = names.NewPatterns(c.patterns(protected.Pos, "roles", protected.Roles)...)
	}
}

// reserved compiles the names of indices that are not open to everybody.
func (c *compiler) reserved(at config.Pos, list []string) (r reserved) {
	var own []names.Pattern
	for i, text := range list {
		p := c.pattern(at.Item("indices", i), text)
		own = append(own, p)
		if !p.IsRegex() {
			text = ".ds-" + text + "-*"
		}
		r.generations = append(r.generations, c.pattern(at.Item("indices", i), text))
	}
	r.Patterns = names.NewPatterns(own...)
	return r
}

func (c *compiler) caches() error {
	var err error
	if c.policy.principals, err = lru.New[string, *ask.Principal](maxPrincipals); err != nil {
		return fmt.Errorf("cannot make the cache of principals: %w", err)
	}
	if c.policy.subjects, err = lru.New[*ask.Principal, *subject](maxSubjects); err != nil {
		return fmt.Errorf("cannot make the cache of subjects: %w", err)
	}
	if c.policy.profiles, err = lru.New[string, *profile](maxProfiles); err != nil {
		return fmt.Errorf("cannot make the cache of profiles: %w", err)
	}
	return nil
}

// pattern compiles a pattern that must be readable.
func (c *compiler) pattern(at config.Pos, text string) names.Pattern {
	p, err := names.ParsePattern(text)
	if err != nil {
		c.fault(at, "a name, a glob with '*' and '?', or a /regular expression/", "%v", err)
	}
	return p
}

func (c *compiler) role(name string, src config.Role) {
	r := c.newRole(name, src)
	c.warnAliases(r)
	c.policy.roles[name] = r
}

func (c *compiler) newRole(name string, src config.Role) *role {
	r := &role{name: name, pos: src.Pos.At("cluster_permissions"), cluster: c.actions(src.Pos, "cluster_permissions", src.ClusterPermissions)}
	for _, perm := range src.IndexPermissions {
		e := c.entry(perm)
		r.entries = append(r.entries, e)
		for _, p := range e.patterns {
			if p.template != nil {
				r.variables = append(r.variables, p.template.variables()...)
			}
		}
	}
	return r
}

// warnAliases warns of rights on the aliases of indices that the role can't read: whoever
// may give an index a name has there what he has on that name.
func (c *compiler) warnAliases(r *role) {
	const read = "indices:data/read/search"
	unread := func(p indexPattern) bool {
		if p.template != nil || p.date != "" {
			return false // what it names is not known here
		}
		return !slices.ContainsFunc(r.entries, func(e *entry) bool {
			return e.actions.Match(read) && slices.ContainsFunc(e.patterns, func(q indexPattern) bool { return q.static.Covers(p.static) })
		})
	}
	for _, e := range r.entries {
		if e.actions.Match("indices:admin/aliases") && !e.actions.Match(read) && slices.ContainsFunc(e.patterns, unread) {
			c.warn(e.pos.At("allowed_actions"), read+" as well, or no rights on aliases: whoever may give an index another name has on it all that he has on that name",
				"indices:admin/aliases on indices that this role can't read")
		}
	}
}

func (c *compiler) entry(src config.IndexPermission) *entry {
	e := &entry{
		pos:     src.Pos,
		actions: c.actions(src.Pos, "allowed_actions", src.AllowedActions),
		fls:     slices.Clone(src.FLS),
		masks:   slices.Clone(src.MaskedFields),
	}
	for i, text := range src.IndexPatterns {
		at := src.Pos.Item("index_patterns", i)
		p, err := parseIndexPattern(text)
		if err != nil {
			c.fault(at, "a name, a glob, a /regular expression/, ${…} or <date math>", "%v", err)
			continue
		}
		c.variables(at, p.template)
		e.patterns = append(e.patterns, p)
	}
	if src.DLS != "" {
		e.dls = c.dls(src.Pos.At("dls"), src.DLS)
	}
	return e
}

// dls reads the template of a document rule. Whether it is a query is for the
// package that knows queries to say.
func (c *compiler) dls(at config.Pos, text string) *template {
	t, err := parseTemplate(text)
	if err == nil {
		err = t.checkJSON()
	}
	switch {
	case strings.TrimSpace(text) == "":
		c.fault(at, "a query, or no dls at all", "blank dls")
	case err != nil:
		c.fault(at, "variables such as ${user.name}", "%v", err)
	}
	c.variables(at, t)
	return t
}

// variables warns of names that nobody will ever have.
func (c *compiler) variables(at config.Pos, t *template) {
	if t == nil {
		return
	}
	for _, v := range t.variables() {
		if !knownVariable(v.name) {
			c.warn(at, "user.name, user.roles, user.securityRoles, attr.…, or ldap.…; the entry grants and shows nothing",
				"unknown variable ${%s}", v.name)
		}
	}
}

func (c *compiler) mapping(name string, src config.Mapping) {
	if src.Hidden {
		c.policy.hidden[name] = true
	}
	m := mapping{
		role:     name,
		pos:      src.Pos,
		users:    names.NewPatterns(c.patterns(src.Pos, "users", src.Users)...),
		backend:  names.NewPatterns(c.patterns(src.Pos, "backend_roles", src.BackendRoles)...),
		backends: c.patterns(src.Pos, "and_backend_roles", src.AndBackendRoles),
		hosts:    names.NewPatterns(c.patterns(src.Pos, "hosts", src.Hosts)...),
	}
	c.policy.mappings = append(c.policy.mappings, m)
	if len(src.Hosts) > 0 {
		c.policy.located = append(c.policy.located, m)
	}
}

func (c *compiler) patterns(at config.Pos, key string, texts []string) []names.Pattern {
	var list []names.Pattern
	for i, text := range texts {
		list = append(list, c.pattern(at.Item(key, i), text))
	}
	return list
}
