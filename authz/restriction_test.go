package authz

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/internal/ask"
	"guard/internal/names"
)

// restrictionPolicy has one role for each way in which rules meet.
const restrictionPolicy = `
roles:
  plain:    {index_permissions: [{index_patterns: ["logs-*"], allowed_actions: ["*"]}]}
  red:      {index_permissions: [{index_patterns: ["logs-*"], dls: '{"term":{"c":"red"}}'}]}
  red2:     {index_permissions: [{index_patterns: ["logs-1"], dls: '{ "term": {"c": "red"} }'}]}
  blue:     {index_permissions: [{index_patterns: ["logs-*"], dls: '{"term":{"c":"blue"}}', allowed_actions: ["indices:monitor/*"]}]}
  fields:   {index_permissions: [{index_patterns: ["logs-*"], fls: ["b", "a"]}]}
  fields2:  {index_permissions: [{index_patterns: ["logs-*"], fls: ["a", "c"]}]}
  masks:    {index_permissions: [{index_patterns: ["logs-*"], masked_fields: ["z::SHA-256", "*"]}]}
  masks2:   {index_permissions: [{index_patterns: ["logs-*"], masked_fields: ["a"]}]}
  two:      {index_permissions: [{index_patterns: ["logs-1"], dls: '{"term":{"c":"red"}}'}, {index_patterns: ["logs-1"], dls: '{"term":{"c":"blue"}}'}]}
  alias:    {index_permissions: [{index_patterns: ["everything"], fls: ["~secret"]}]}
  stream:   {index_permissions: [{index_patterns: ["ds"], fls: ["~secret"]}]}
  named:    {index_permissions: [{index_patterns: ["logs-*"], dls: '{"term":{"o":"${user.name}"}}'}]}
  missing:  {index_permissions: [{index_patterns: ["logs-*"], dls: '{"term":{"o":"${attr.internal.none}"}}'}]}
  missfls:  {index_permissions: [{index_patterns: ["logs-${attr.internal.none}"], fls: ["a"]}]}
  missdls:  {index_permissions: [{index_patterns: ["logs-${attr.internal.none}"], dls: '{"term":{"c":"red"}}'}]}
`

var restrictionWorld = &world{
	Indices:  []string{"logs-1", "logs-2", "other", ".ds-ds-1"},
	AliasMap: map[string][]string{"everything": {"logs-1", "other"}},
	Streams:  map[string][]string{"ds": {".ds-ds-1"}},
}

func TestRestriction(t *testing.T) {
	p := compile(t, parseSecurity(t, restrictionPolicy), config.Policy{})
	overriding := compile(t, parseSecurity(t, restrictionPolicy), config.Policy{DFMEmptyOverridesAll: true})
	type rules struct {
		None            bool
		DLS, FLS, Masks []string
	}
	check := func(p *Policy, index string, want rules, roles ...string) {
		t.Helper()
		got := p.Restriction(as("anna", roles...), restrictionWorld, index, noon)
		shown := rules{None: got.None, FLS: got.FLS, Masks: got.Masks}
		for _, rule := range got.DLS {
			shown.DLS = append(shown.DLS, rule.Text)
		}
		if diff := cmp.Diff(want, shown); diff != "" {
			t.Errorf("%v on %s (-want +got):\n%s", roles, index, diff)
		}
		if free := len(want.DLS)+len(want.FLS)+len(want.Masks) == 0 && !want.None; free != (got.ID == ask.Free) {
			t.Errorf("%v on %s: id is %x", roles, index, got.ID)
		}
		if want.None != (got.ID == ask.RestrictionID{}) {
			t.Errorf("%v on %s: id is %x; only what shows nothing has the zero id", roles, index, got.ID)
		}
	}
	f := func(index string, want rules, roles ...string) { t.Helper(); check(p, index, want, roles...) }
	const red, blue = `{"term":{"c":"red"}}`, `{"term":{"c":"blue"}}`

	f("logs-1", rules{}, "plain")
	f("other", rules{None: true}, "plain") // no role covers it
	f("logs-1", rules{None: true})         // no role at all
	f("logs-1", rules{None: true}, "unheard of")
	f("logs-1", rules{DLS: []string{red}}, "red")
	f("logs-1", rules{DLS: []string{red}}, "red", "plain")      // a role with a rule wins
	f("logs-1", rules{DLS: []string{blue, red}}, "blue", "red") // whatever its actions
	f("logs-1", rules{DLS: []string{blue, red}}, "two")         // as in 2.19; in 3.4 the later entry wins
	f("logs-1", rules{DLS: []string{red}, FLS: []string{"a", "b"}}, "red", "fields")
	f("logs-1", rules{FLS: []string{"a", "b", "c"}}, "fields", "fields2")
	f("logs-1", rules{Masks: []string{"a", "z::SHA-256", "*"}}, "masks", "masks2")
	f("logs-1", rules{FLS: []string{"~secret"}}, "alias") // by its alias
	f("other", rules{FLS: []string{"~secret"}}, "alias", "plain")
	f("logs-2", rules{}, "alias", "plain")
	f(".ds-ds-1", rules{FLS: []string{"~secret"}}, "stream") // by its stream
	f("logs-1", rules{DLS: []string{`{"term":{"o":"anna"}}`}}, "named")
	f("logs-1", rules{None: true}, "missing") // its only rule shows nothing
	f("logs-1", rules{None: true}, "missing", "plain")
	f("logs-1", rules{DLS: []string{red}}, "missing", "red") // the others still show theirs
	f("logs-1", rules{None: true}, "missfls", "plain")       // it may cover logs-1
	f("logs-1", rules{None: true}, "missdls", "plain")
	f("logs-1", rules{DLS: []string{blue}}, "missdls", "blue")
	f("other", rules{FLS: []string{"~secret"}}, "missfls", "alias") // it can't cover other by its name
	f("logs-1", rules{None: true}, "missdls")                       // what may cover does not cover

	check(overriding, "logs-1", rules{}, "red", "plain")
	check(overriding, "logs-1", rules{}, "red", "fields") // each is without a rule of the other kind
	check(overriding, "logs-1", rules{DLS: []string{red}}, "red")
	check(overriding, "logs-1", rules{}, "missing", "plain")
	check(overriding, "logs-1", rules{}, "missdls", "plain")
}

// TestSlowExpression holds that an expression that runs out of time may cover: it
// grants nothing, and what its entry hides stays hidden.
func TestSlowExpression(t *testing.T) {
	p := compile(t, parseSecurity(t, `
roles:
  slow:  {index_permissions: [{index_patterns: ["/(?=a)(a|aa)+b/"], fls: ["f"], allowed_actions: ["indices:data/read/search"]}]}
  plain: {index_permissions: [{index_patterns: ["*"]}]}
`), config.Policy{})
	name := strings.Repeat("a", 80) + "c"
	w := &world{Indices: []string{name}}
	if r := p.Restriction(as("anna", "slow", "plain"), w, name, noon); !r.None {
		t.Errorf("got %+v; want nothing shown", r)
	}
	part := searchPart(name)
	if d := p.Decide(as("anna", "slow"), w, part, w.resolve(part.Exprs), noon); d.Effect != Deny {
		t.Error("allowed by an expression that found no end")
	}
	if r := p.Restriction(as("anna", "slow", "plain"), w, "ab", noon); len(r.FLS) != 1 {
		t.Errorf("got %+v; want its field rule", r)
	}
}

// TestRestrictionID holds that an id follows from the meaning alone.
func TestRestrictionID(t *testing.T) {
	p := compile(t, parseSecurity(t, restrictionPolicy), config.Policy{})
	id := func(index string, roles ...string) ask.RestrictionID {
		return p.Restriction(as("anna", roles...), restrictionWorld, index, noon).ID
	}
	same := func(a, b ask.RestrictionID) {
		t.Helper()
		if a != b {
			t.Errorf("got %x and %x; want one id", a, b)
		}
	}
	differ := func(a, b ask.RestrictionID) {
		t.Helper()
		if a == b {
			t.Errorf("both have the id %x", a)
		}
	}
	same(id("logs-1", "red"), id("logs-2", "red"))
	same(id("logs-1", "red"), id("logs-1", "red2")) // white space means nothing
	same(id("logs-1", "red"), id("logs-1", "red", "red2"))
	same(id("logs-1", "two"), id("logs-1", "blue", "red"))
	same(id("logs-1", "masks", "masks2"), id("logs-1", "masks2", "masks"))
	differ(id("logs-1", "red"), id("logs-1", "blue"))
	differ(id("logs-1", "fields"), id("logs-1", "fields2"))
	differ(id("logs-1", "masks"), id("logs-1", "masks2"))

	bob := &ask.Principal{Identity: ask.Identity{Name: "bob"}, Roles: []string{"named"}}
	differ(id("logs-1", "named"), p.Restriction(bob, restrictionWorld, "logs-1", noon).ID)
}

func TestCovers(t *testing.T) {
	sec := parseSecurity(t, `
roles:
  logs:  {index_permissions: [{index_patterns: ["logs-*"], allowed_actions: ["indices:read", "write"]}]}
  red:   {index_permissions: [{index_patterns: ["logs-1*"], dls: '{"term":{"c":"red"}}', allowed_actions: ["indices:read"]}]}
  wide:  {index_permissions: [{index_patterns: ["*"], fls: ["a"], allowed_actions: ["indices:read"]}]}
  rx:    {index_permissions: [{index_patterns: ["/logs-.*/"], allowed_actions: ["indices:read"]}]}
  attr:  {index_permissions: [{index_patterns: ["logs-${attr.internal.none}*"], allowed_actions: ["indices:read"]}]}
  sys:   {index_permissions: [{index_patterns: ["*"], allowed_actions: ["*", "system:admin/system_index"]}]}
  all:   {index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"]}]}
`)
	set := config.Policy{SystemIndices: config.SystemIndices{Enabled: true, PermissionEnabled: true, Indices: []string{".sys*"}}}
	p := compile(t, sec, set)
	f := func(pattern string, want bool, roles ...string) {
		t.Helper()
		id, got := p.Covers(as("anna", roles...), on("indices:read"), names.MustParsePattern(pattern), noon)
		if got != want {
			t.Errorf("Covers(%q) as %v: got %v; want %v", pattern, roles, got, want)
		}
		if !got && id != (ask.RestrictionID{}) {
			t.Errorf("Covers(%q) as %v: an id without coverage", pattern, roles)
		}
	}
	f("logs-a*", true, "logs")
	f("logs-*", true, "logs")
	f("log*", false, "logs")
	f("*", false, "logs")
	f("/logs-.*/", false, "all")       // an expression takes no part
	f("logs-*", false, "rx")           // on neither side
	f("logs-*", false, "attr")         // its variable is missing
	f("logs-*", false, "logs", "red")  // some of them restricted, some not
	f("logs-1*", true, "logs", "red")  // all of them alike
	f("logs-1*", true, "logs", "wide") // fields by every name
	f("logs-1*", true, "logs", "red", "wide")
	f("logs-2*", false, "logs", "red") // an alias logs-2x may hold an index logs-1x
	f("*", false, "all")               // would match system indices
	f(".s*", false, "all")
	f("*", false, "sys") // the security index is nobody's
	f(".s*", true, "sys")
	f("l*", true, "all")
	f(".ds-*", false, "all") // the indices of a stream that is a system index
	f(".ds-.sys1-*", false, "all")
	f(".ds-.sys1-*", true, "sys")
	f(".ds-logs-*", true, "all")
}
