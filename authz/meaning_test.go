package authz

import (
	"testing"

	"guard/config"
)

// TestValueIsNoPattern holds that a restriction is known by its meaning: a value put
// into a wildcard is literal, while the same text in a rule of its own is a pattern.
func TestValueIsNoPattern(t *testing.T) {
	p := compile(t, parseSecurity(t, `
roles:
  value:   {index_permissions: [{index_patterns: ["logs-1"], dls: '{"wildcard":{"o":"${user.name}"}}'}]}
  pattern: {index_permissions: [{index_patterns: ["logs-2"], dls: '{"wildcard":{"o":"a*"}}'}]}
`), config.Policy{})
	who := as("a*", "value", "pattern")
	value := p.Restriction(who, restrictionWorld, "logs-1", noon)
	pattern := p.Restriction(who, restrictionWorld, "logs-2", noon)
	if value.DLS[0].Text != pattern.DLS[0].Text {
		t.Fatalf("texts %q and %q; want equal ones", value.DLS[0].Text, pattern.DLS[0].Text)
	}
	if value.ID == pattern.ID {
		t.Errorf("a literal value and a pattern have one id %x", value.ID)
	}
}
