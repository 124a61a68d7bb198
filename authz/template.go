package authz

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"guard/internal/ask"
)

// template is a text with ${variables}, split once. Values are put in once and
// never looked at again, whatever they hold.
type template struct {
	text     string
	segments []segment
}

// segment is a literal piece, or a variable if name is not empty.
type segment struct {
	literal string
	name    string
	// fallback stands in for a variable that is missing: ${name:-fallback}.
	fallback string
	quoted   bool // inside a JSON string; set by checkJSON
}

func isTemplate(text string) bool { return strings.Contains(text, "${") }

// parseTemplate splits text. "$${" stands for a literal "${". A variable inside the
// name of another is refused: nothing says what it should mean.
func parseTemplate(text string) (*template, error) {
	t := &template{text: text}
	var literal strings.Builder
	rest := text
	for {
		i := strings.Index(rest, "${")
		if i < 0 {
			break
		}
		if i > 0 && rest[i-1] == '$' {
			literal.WriteString(rest[:i-1] + "${")
			rest = rest[i+2:]
			continue
		}
		literal.WriteString(rest[:i])
		body, after, closed := strings.Cut(rest[i+2:], "}")
		if !closed {
			return nil, fmt.Errorf("unclosed variable in %q at offset %d; want '}'", text, len(text)-len(rest)+i)
		}
		name, fallback, _ := strings.Cut(body, ":-")
		switch {
		case strings.Contains(body, "${"):
			return nil, fmt.Errorf("variable %q holds another one; that is not supported", "${"+body+"}")
		case strings.TrimSpace(name) == "":
			return nil, fmt.Errorf("variable without a name in %q", text)
		case strings.ContainsAny(name, "\"{\n"):
			return nil, fmt.Errorf("variable name %q in %q; is a '}' missing?", name, text)
		}
		t.segments = append(t.segments, segment{literal: literal.String()}, segment{name: name, fallback: fallback})
		literal.Reset()
		rest = after
	}
	literal.WriteString(rest)
	t.segments = append(t.segments, segment{literal: literal.String()})
	return t, nil
}

// variables returns the variables of t in their order.
func (t *template) variables() []segment {
	var vars []segment
	for _, s := range t.segments {
		if s.name != "" {
			vars = append(vars, s)
		}
	}
	return vars
}

// Value is what a variable stands for: a text, or the texts of a list.
type Value struct {
	Texts []string
	List  bool // user.roles, user.securityRoles
}

// knownVariable reports whether some principal could have a variable of this name.
func knownVariable(name string) bool {
	switch name {
	case "user.name", "user_name", "user.roles", "user_roles", "user.securityRoles", "user_securityRoles":
		return true
	}
	for _, prefix := range []string{"attr.", "attr_", "ldap.", "ldap_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// lookup returns the value of a variable for who. Every name exists as it is and
// with underscores for its dots. An empty text counts as missing: "${x}*" must not
// become "*".
func lookup(who *ask.Principal, s segment) (Value, bool) {
	switch s.name {
	case "user.name", "user_name":
		return single(who.Name)
	case "user.roles", "user_roles":
		return list(who.BackendRoles)
	case "user.securityRoles", "user_securityRoles":
		return list(who.Roles)
	}
	if text, ok := who.Attributes[s.name]; ok && text != "" {
		return single(text)
	}
	if text, ok := underscored(who.Attributes, s.name); ok {
		return single(text)
	}
	return single(s.fallback)
}

func list(texts []string) (Value, bool) {
	broken := slices.ContainsFunc(texts, func(s string) bool { return !utf8.ValidString(s) })
	return Value{Texts: texts, List: true}, !broken
}

func single(text string) (Value, bool) {
	return Value{Texts: []string{text}}, text != "" && utf8.ValidString(text)
}

// valueFunc gives the value of a variable, if it has one.
type valueFunc func(segment) (Value, bool)

// valuesOf gives the variables of who.
func valuesOf(who *ask.Principal) valueFunc {
	return func(s segment) (Value, bool) { return lookup(who, s) }
}

// nobody has no variables but empty lists: it tells which of them are lists.
var nobody = &ask.Principal{}

// underscored finds the attribute whose name is written with underscores. Two
// attributes that become one name give none: which one was meant is not known.
func underscored(attributes map[string]string, name string) (string, bool) {
	found, text := 0, ""
	for key, value := range attributes {
		if value != "" && strings.ReplaceAll(key, ".", "_") == name {
			found++
			text = value
		}
	}
	return text, found == 1
}
