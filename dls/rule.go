package dls

import (
	"errors"
	"fmt"
	"strings"

	"guard/internal/esjson"
)

// Values gives the caller's value of a variable, by the name that stands between
// "${" and "}". A list has any number of texts, anything else one; ok tells that
// the caller has the variable at all.
type Values func(name string) (texts []string, list, ok bool)

// Rule is the checked text of one role query. The zero value has no text and
// compiles to an error.
type Rule struct {
	json []byte // the text with each bare variable as a marked string
}

// bare marks a string that stood in the rule without quotes: [${user.roles}]. It
// is a private-use character, which a rule's own text may not hold.
const bare = "\uE000"

// Parse checks the text of a role query: JSON but for variables, one query, only
// clauses that the tables know. Variables are tried with sample values.
func Parse(text string) (*Rule, error) {
	if strings.Contains(text, bare) {
		return nil, errors.New("cannot use a DLS query with the private-use character U+E000")
	}
	json, err := quoteBare(text)
	if err != nil {
		return nil, err
	}
	r := &Rule{json: json}
	if _, err := r.Compile(sample(true)); err != nil {
		// Whether a bare variable is one value or a list is known at run time only.
		if _, again := r.Compile(sample(false)); again != nil {
			return nil, err
		}
	}
	return r, nil
}

// sample is a caller who has every variable.
func sample(lists bool) Values {
	return func(name string) ([]string, bool, bool) {
		if lists && isList(name) {
			return []string{"sample"}, true, true
		}
		if lists {
			return []string{`["sample"]`}, false, true
		}
		return []string{"1"}, isList(name), true
	}
}

func isList(name string) bool {
	switch name {
	case "user.roles", "user_roles", "user.securityRoles", "user_securityRoles":
		return true
	}
	return false
}

// Compile returns r filled with the caller's values, in canonical bytes.
func (r *Rule) Compile(values Values) (Filter, error) {
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, r.json, esjson.RequestLimits())
	if err != nil {
		return MatchNone, fmt.Errorf("cannot parse DLS query: %w", err)
	}
	f, err := written(v, filler{values}.fill)
	if err != nil {
		return MatchNone, fmt.Errorf("cannot use DLS query: %w", err)
	}
	return f, nil
}

// quoteBare makes JSON of a rule's text by quoting the variables that stand
// outside strings.
func quoteBare(text string) (json []byte, err error) {
	inString := false
	for i := 0; i < len(text); i++ {
		switch {
		case inString && text[i] == '\\' && i+1 < len(text):
			json = append(json, text[i], text[i+1])
			i++
			continue
		case text[i] == '"':
			inString = !inString
		case strings.HasPrefix(text[i:], "${"):
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				return nil, fmt.Errorf("cannot use DLS query: unclosed %q at offset %d", "${", i)
			}
			ref := text[i : i+end+1]
			if !inString {
				ref = string(esjson.AppendString(nil, bare+ref))
			}
			json = append(json, ref...)
			i += end
			continue
		}
		json = append(json, text[i])
	}
	return json, nil
}
