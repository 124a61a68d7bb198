package authz

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

const edgePolicy = `
action_groups: {read: {allowed_actions: ["indices:data/read*"]}}
roles:
  a:      {index_permissions: [{index_patterns: ["a*"], allowed_actions: [read]}]}
  all:    {cluster_permissions: ["*"], index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"]}]}
  names:  {index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"]}]}
  system: {index_permissions: [{index_patterns: [".sys*"], allowed_actions: [read, "system:admin/*"]}]}
  get:    {index_permissions: [{index_patterns: ["b*"], allowed_actions: ["indices:data/read/get"]}]}
  search: {index_permissions: [{index_patterns: ["b*"], allowed_actions: ["indices:data/read/search"]}]}
  far:    {index_permissions: [{index_patterns: ["east:logs-*"], allowed_actions: [read]}]}
  far1:   {index_permissions: [{index_patterns: ["east:l?g"], allowed_actions: [read]}]}
  ruled:  {index_permissions: [{index_patterns: ["nosuch"], fls: ["a"], allowed_actions: [read]}]}
  today:  {index_permissions: [{index_patterns: ["<logs-{now/d}>"], allowed_actions: [read]}]}
  mine:   {index_permissions: [{index_patterns: ["${user.name}-*"], allowed_actions: [read]}]}
  half:   {index_permissions: [{index_patterns: ["a1"], allowed_actions: [read], fls: ["f"]}, {index_patterns: ["a*"], allowed_actions: [read]}]}
`

var edgeWorld = &world{
	Indices:  []string{"a1", "a2", "b1", ".sys1", securityIndex, ".ds-.sys2-1", "logs-2026.11.29", "logs-2026.11.28", "anna-1"},
	Unseen:   []string{".ds-.sys2-1"},
	AliasMap: map[string][]string{"xsys": {"a1", ".sys1"}, "xb": {"a1", "b1"}},
	Streams:  map[string][]string{".sys2": {".ds-.sys2-1"}},
}

// edge makes the policy of a mode, with system indices protected.
func edge(t *testing.T, mode string) *Policy {
	t.Helper()
	sec := parseSecurity(t, edgePolicy)
	modes[mode](&sec.Dynamic)
	return compile(t, sec, config.Policy{SystemIndices: config.SystemIndices{Enabled: true, PermissionEnabled: true, Indices: []string{".sys*"}}})
}

// searchPart asks to search what text names.
func searchPart(text string) ask.Part {
	return ask.Part{
		Privileges: on("indices:data/read/search"),
		Exprs:      exprs(text),
		Opts:       names.Options{Expand: names.ExpandOpen, AllowNoIndices: true},
	}
}

func TestDecideEdges(t *testing.T) {
	policies := map[string]*Policy{}
	for mode := range modes {
		policies[mode] = edge(t, mode)
	}
	// want is "deny" or the names, "|" in front if something was taken away.
	f := func(mode, text, want string, roles ...string) {
		t.Helper()
		part := searchPart(text)
		d := policies[mode].Decide(as("anna", roles...), edgeWorld, part, edgeWorld.resolve(part.Exprs), noon)
		got := "deny"
		if d.Effect == Allow {
			got = map[bool]string{true: "|"}[d.Reduced]
			for i, name := range targetNames(d.Allowed) {
				got += map[bool]string{true: ","}[i > 0] + name
			}
		}
		if got != want {
			t.Errorf("%s: %q as %v: got %q; want %q", mode, text, roles, got, want)
		}
	}
	for _, mode := range []string{"L", "Ld", "v4"} {
		f(mode, "a1", "a1", "a")
		f(mode, "a1", "deny")
		f(mode, "a1", "deny", "unheard")
		f(mode, "anna-1", "anna-1", "mine")
		f(mode, "bob-1", "deny", "mine")
		f(mode, "logs-2026.11.29", "logs-2026.11.29", "today")
		f(mode, "logs-2026.11.28", "deny", "today")
		f(mode, securityIndex, "deny", "all", "system") // nobody's
		f(mode, ".sys1", "deny", "all")                 // "*" is not explicit
		f(mode, ".sys1", ".sys1", "system")
		f(mode, ".sys1", ".sys1", "all", "system")
		f(mode, ".sysnew", "deny", "all") // whether it exists or not
		f(mode, ".sys2", "deny", "all")
		f(mode, ".ds-.sys2-1", "deny", "all") // a generation of a closed stream
		f(mode, ".sys2", ".sys2", "system")
		f(mode, ".o*", "|", "all") // a wildcard never meant it
		f(mode, ".sys1,.o*", "|.sys1", "all", "system")
		f(mode, ".sys*", "|", "all")
		f(mode, ".s*", ".sys1,.sys2", "all", "system")
	}
	f("L", "xsys", "deny", "all") // a closed member of an alias that was named
	f("Ld", "xsys", "|a1", "all")
	f("v4", "xsys", "deny", "all")
	f("L", "xs*", "|a1", "all") // found by a wildcard it is what is left of it
	f("v4", "xs*", "|", "all")
	f("v4", "x*", "|xb", "all")
	f("L", "x*", "|a1,xb", "all")
	f("L", "a1,b1", "deny", "a")
	f("Ld", "a1,b1", "|a1", "a")
	f("Ld", "b1", "deny", "a")
	f("Le", "b1", "|", "a") // nothing is left, and that is an answer
	f("v4", "a1,b1", "deny", "a")
	f("v4", "b*", "deny", "none")
	f("v4", "b*", "|", "a")
}

// TestDecideParts holds what the shape of a part changes.
func TestDecideParts(t *testing.T) {
	f := func(mode string, change func(*ask.Part), text string, want Effect, roles ...string) {
		t.Helper()
		part := searchPart(text)
		change(&part)
		d := edge(t, mode).Decide(as("anna", roles...), edgeWorld, part, edgeWorld.resolve(part.Exprs), noon)
		if d.Effect != want {
			t.Errorf("%s: %q with %+v as %v: got %v; want %v", mode, text, part, roles, d.Effect, want)
		}
	}
	asIs := func(*ask.Part) {}
	single := func(p *ask.Part) { p.Single = true }
	fixed := func(p *ask.Part) { p.Fixed = true }
	asks := func(actions ...string) func(*ask.Part) {
		return func(p *ask.Part) { p.Privileges = on(actions...) }
	}
	for _, mode := range []string{"Ld", "v4"} {
		f(mode, asIs, "a*,b*", Allow, "a")
		f(mode, single, "a*,b*", Deny, "a")
		f(mode, fixed, "a*,b1", Deny, "a")
		f(mode, single, "nosuch*", Deny, "a") // one thing, and there is none
		f(mode, asks(), "a1", Deny, "all")    // asks nothing: a slip of the caller
		f(mode, asks("indices:data/read/search", "indices:data/read/get"), "b1", Deny, "search")
		f(mode, asks("indices:data/read/search", "indices:data/read/get"), "b1", Allow, "search", "get") // roles add up
		f(mode, asks("cluster:monitor/health"), "a1", Deny, "a")                                         // the rules know it as a cluster action, whatever the scope
		f(mode, asks("cluster:monitor/health"), "a1", Deny, "names")
		f(mode, asks("indices:data/write/bulk"), "nosuch*", Deny, "names") // would pass unchecked on no names
		f(mode, asks("cluster:indices:data/read/search"), "a1", Deny, "a")
		f(mode, asks("missing:indices:admin/create", "indices:data/read/get"), "a1", Allow, "a")
		f(mode, asks("missing:indices:admin/create", "indices:data/read/get"), "a9", Deny, "a")
	}
	f("Ld", fixed, "a*,b*", Deny, "a")
	f("Ld", fixed, ".o*", Deny, "all") // can't be left out
	f("Ld", asks("indices:admin/mappings/get"), "a*,b*", Deny, "a")
	f("L", asks("indices:admin/delete"), "*", Deny, "all") // on all at once for nobody
	f("L", asks("indices:admin/delete"), "a*", Allow, "all")
	f("v4", asks("indices:admin/delete"), "*", Allow, "all")
	// What a wildcard found and is not granted is not there.
	f("v4", fixed, "a*,b*", Allow, "a")
	f("v4", fixed, ".o*", Allow, "all")
	f("v4", func(p *ask.Part) { p.Opts.AllowNoIndices = false }, "b*", Allow, "a")
	f("v4", func(p *ask.Part) { p.Opts.AllowNoIndices = false }, "b*,b1", Deny, "a") // a name that was written is
	f("v4", func(p *ask.Part) { p.Opts.Expand = 0 }, "a*,b*", Allow, "a")
	f("v4", func(p *ask.Part) { p.Opts = names.Options{IgnoreUnavailable: true} }, "a1,b1", Allow, "a")
}

func TestDecideRemote(t *testing.T) {
	f := func(mode, remote, local string, want Effect, wantRemote []names.Expr, roles ...string) {
		t.Helper()
		part := searchPart(local)
		res := edgeWorld.resolve(part.Exprs)
		if local == "" {
			res = ask.Resolved{}
		}
		res.Remote = exprs(remote)
		part.Exprs = append(part.Exprs, res.Remote...)
		d := edge(t, mode).Decide(as("anna", roles...), edgeWorld, part, res, noon)
		if d.Effect != want || !slices.Equal(d.Remote, wantRemote) {
			t.Errorf("%s: %q and %q as %v: got %v with %q; want %v with %q", mode, remote, local, roles, d.Effect, d.Remote, want, wantRemote)
		}
	}
	logs := []names.Expr{"east:logs-*"}
	for _, mode := range []string{"L", "v4"} {
		f(mode, "east:logs-*", "", Allow, logs, "far")
		f(mode, "east:logs-*", "a1", Allow, logs, "far", "a")
		f(mode, "west:logs-1", "", Deny, nil, "far")
		f(mode, "east:logs-1", "", Deny, nil, "all")          // "*" names no cluster
		f(mode, "east:logs-1", "", Deny, nil, "far", "ruled") // over there nobody would enforce a rule
	}
	f("L", "east:*", "", Deny, nil, "far")
	f("L", "east:l*g", "", Deny, nil, "far1") // wider than what is granted, though its text matches
	f("v4", "east:*", "", Allow, nil, "far")  // of a wildcard nothing is left
	f("Ld", "east:*,east:logs-*", "b1", Allow, logs, "far")

	fixed := searchPart("a1,east:logs-*")
	fixed.Fixed = true
	res := edgeWorld.resolve(exprs("a1"))
	res.Remote = logs
	for _, mode := range []string{"Ld", "v4"} {
		if d := edge(t, mode).Decide(as("anna", "a"), edgeWorld, fixed, res, noon); d.Effect != Deny {
			t.Errorf("%s: a fixed list lost %q", mode, logs)
		}
	}
}

// TestMissingRemote holds that a refusal for another cluster names the action, and the
// role that would grant it.
func TestMissingRemote(t *testing.T) {
	f := func(mode, role string, want ...string) {
		t.Helper()
		part := searchPart("east:logs-1")
		d := edge(t, mode).Decide(as("anna", role), edgeWorld, part, ask.Resolved{Remote: part.Exprs}, noon)
		got := missing(&d)
		if len(got) != 1 || got[0].Action != "indices:data/read/search" || got[0].Target != "east:logs-1" || !slices.Equal(got[0].Roles(), want) {
			t.Errorf("%s: as %s %+v is missing; want the search, granted by %q", mode, role, got, want)
		}
		if actions := d.MissingActions(); !slices.Equal(actions, []string{"indices:data/read/search"}) {
			t.Errorf("%s: as %s a refusal names %q", mode, role, actions)
		}
	}
	for _, mode := range []string{"L", "Ld"} {
		f(mode, "a", "far")
		f(mode, "ruled") // no role grants it to whom a rule binds
	}
}

// missing is what d asked and did not get.
func missing(d *Decision) Matrix {
	list, _ := d.Missing(math.MaxInt)
	return list
}

func TestMissing(t *testing.T) {
	type cell struct {
		Action, Target string
		Named          bool
		Roles          []string
	}
	f := func(mode, text string, actions []string, want []cell, roles ...string) {
		t.Helper()
		part := searchPart(text)
		part.Privileges = on(actions...)
		d := edge(t, mode).Decide(as("anna", roles...), edgeWorld, part, edgeWorld.resolve(part.Exprs), noon)
		var got []cell
		for _, c := range missing(&d) {
			got = append(got, cell{c.Action, c.Target, c.Named, c.Roles()})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %q as %v: missing (-want +got):\n%s", mode, text, roles, diff)
		}
	}
	const search, get, health = "indices:data/read/search", "indices:data/read/get", "cluster:monitor/health"
	f("L", "a1", []string{search}, nil, "a")
	f("L", "b1", []string{search, get}, []cell{{get, "b1", true, []string{"all", "get", "names"}}}, "search")
	f("L", "b1", []string{search, get}, []cell{
		{search, "b1", true, []string{"all", "names", "search"}},
		{get, "b1", true, []string{"all", "get", "names"}},
	}, "a")
	f("L", "b*", []string{search}, []cell{{search, "b1", false, []string{"all", "names", "search"}}}, "a") // the client named no b1
	f("L", "xb", []string{search}, []cell{{search, "b1", false, []string{"all", "names", "search"}}}, "a") // an alias is its members
	f("v4", "xb", []string{search}, []cell{{search, "xb", true, []string{"all", "names"}}}, "search")
	f("L", "a1", []string{"cluster:" + health}, []cell{{health, "", false, []string{"all"}}}, "a")
	f("v4", "nosuch*", []string{search}, []cell{{search, "", false, []string{"a", "all", "far", "far1", "half", "mine", "names", "ruled", "search", "system", "today"}}})
	f("L", ".sys1", []string{search}, []cell{{systemPermission, ".sys1", true, []string{"system"}}}, "all")
	f("L", securityIndex, []string{search}, []cell{{systemPermission, securityIndex, true, nil}}, "all")
	f("L", "a9", []string{"missing:indices:admin/create"}, []cell{{"indices:admin/create", "a9", true, []string{"all", "names"}}}, "a")
	f("L", "a1", []string{"missing:indices:admin/create"}, nil, "a")
	f("L", "*", []string{"indices:admin/delete"}, nil, "all") // no right could help

	var zero Decision
	if zero.Effect != Deny || len(missing(&zero)) > 0 || zero.Complete() {
		t.Error("the zero decision does more than deny")
	}
}

func TestGroups(t *testing.T) {
	p := edge(t, "L")
	part := searchPart("a1,a2,a9,xb")
	d := p.Decide(as("anna", "half", "search"), edgeWorld, part, edgeWorld.resolve(part.Exprs), noon)
	got := map[string][]string{}
	for _, g := range d.Groups {
		key := "free"
		if g.Restriction != ask.Free {
			key = g.Rules.FLS[0]
		}
		if g.Restriction != g.Rules.ID {
			t.Errorf("group of %v has two ids", g.Indices)
		}
		got[key] = g.Indices
	}
	if diff := cmp.Diff(map[string][]string{"f": {"a1"}, "free": {"a2", "a9", "b1"}}, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// TestProfiles holds that principals with the same roles share what they grant, and
// that a variable of an index pattern, or a service account, keeps them apart.
func TestProfiles(t *testing.T) {
	p := edge(t, "L")
	f := func(want bool, a, b ask.Identity) {
		t.Helper()
		if got := p.subject(p.Principal(a)).profile == p.subject(p.Principal(b)).profile; got != want {
			t.Errorf("%+v and %+v share a profile: got %v; want %v", a, b, got, want)
		}
	}
	id := func(name string, roles ...string) ask.Identity { return ask.Identity{Name: name, SecurityRoles: roles} }
	f(true, id("anna", "a"), id("bob", "a"))
	f(true, id("anna", "a", "search"), id("bob", "search", "a"))
	f(false, id("anna", "a"), id("bob", "all"))
	f(false, id("anna", "mine"), id("bob", "mine"))
	f(false, id("anna", "mine"), id("", "mine"))
	service := id("bob", "a")
	service.Attributes = map[string]string{"attr.internal.service": "true"}
	f(false, id("anna", "a"), service)
}

// TestServiceAccount holds that a service account has no cluster actions.
func TestServiceAccount(t *testing.T) {
	p := edge(t, "L")
	part := ask.Part{Privileges: on("cluster:cluster:monitor/health")}
	who := as("s", "all")
	who.Attributes = map[string]string{"attr.internal.service": "true"}
	if d := p.Decide(who, edgeWorld, part, ask.Resolved{}, noon); d.Effect != Deny {
		t.Error("a service account may act on the cluster")
	}
	if d := p.Decide(as("s", "all"), edgeWorld, part, ask.Resolved{}, noon); d.Effect != Allow {
		t.Error("the same account is denied without being one")
	}
}

// TestTogether asks one policy from many goroutines; the race detector looks on.
func TestTogether(t *testing.T) {
	p := edge(t, "Ld")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 200 {
				who := p.Principal(ask.Identity{Name: fmt.Sprint("u", j%7), SecurityRoles: []string{"half", "today", "mine"}})
				part := searchPart([]string{"a*", "logs-*", "a1,b1", "u1-x"}[(i+j)%4])
				d := p.Decide(who, edgeWorld, part, edgeWorld.resolve(part.Exprs), noon.Add(time.Duration(j)*time.Hour))
				d.Matrix(math.MaxInt)
			}
		})
	}
	wg.Wait()
}

// TestEvictedPrincipal holds that a principal is judged by what it says, also if
// the policy never made it or has forgotten it.
func TestEvictedPrincipal(t *testing.T) {
	p := edge(t, "L")
	part := searchPart("a1")
	res := edgeWorld.resolve(part.Exprs)
	who := p.Principal(ask.Identity{Name: "anna", SecurityRoles: []string{"a"}})
	for range 2 {
		if d := p.Decide(who, edgeWorld, part, res, noon); d.Effect != Allow {
			t.Error("denied")
		}
		p.subjects.Purge()
	}
}

// TestSlowSystemIndex holds that an index is taken for a system index where the expression
// for these had no time to tell.
func TestSlowSystemIndex(t *testing.T) {
	sec := parseSecurity(t, `{roles: {all: {index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"]}]}}}`)
	p := compile(t, sec, config.Policy{SystemIndices: config.SystemIndices{Enabled: true, PermissionEnabled: true, Indices: []string{`/(?=.)((x+x+)+y|.*z)/`}}})
	slow := strings.Repeat("x", 40) + "z"
	for name, want := range map[string]Effect{"a": Allow, "bz": Deny, slow: Deny} {
		res := ask.Resolved{Targets: []ask.Target{{Name: name, Kind: ask.Index, Members: []string{name}}}}
		if d := p.Decide(as("anna", "all"), restrictionWorld, searchPart(name), res, noon); d.Effect != want {
			t.Errorf("search on %s: %v; want %v", name, d.Effect, want)
		}
	}
}
