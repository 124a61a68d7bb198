package conformance

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/url"
	"slices"
	"strings"
)

// A call is one entry of the REST API as the suite describes it.
type call struct {
	URL struct {
		Paths []pathForm `json:"paths"`
	} `json:"url"`
	Params map[string]any `json:"params"`
	Body   *struct {
		Required  bool   `json:"required"`
		Serialize string `json:"serialize"` // "bulk" for lines
	} `json:"body"`
}

// A pathForm is one way to write the path of a call.
type pathForm struct {
	Path    string         `json:"path"` // as "/{index}/_search"
	Methods []string       `json:"methods"`
	Parts   map[string]any `json:"parts"`
}

// addCall adds the call that a file of the API describes.
func (s *Suite) addCall(name string, text []byte) error {
	if name == "_common" {
		return json.Unmarshal(text, &s.common)
	}
	var named map[string]call
	if err := json.Unmarshal(text, &named); err != nil {
		return err
	}
	c, ok := named[name]
	if !ok || len(named) != 1 {
		return fmt.Errorf("it describes %d calls; want %s alone", len(named), name)
	}
	s.calls[name] = c
	return nil
}

// errParam is what a client of the makers says without sending anything: the suite's "catch: param".
type errParam struct{ text string }

func (e *errParam) Error() string { return e.text }

// A request is a call with its values.
type request struct {
	method string
	target string // path and query, escaped
	lines  bool   // the body is lines of JSON
}

// request builds the request of the named call. Where the suite allows several methods
// or paths, choice picks one: the same one in each run.
func (s *Suite) request(name string, values map[string]string, body bool, choice string) (request, error) {
	c, ok := s.calls[name]
	if !ok {
		return request{}, fmt.Errorf("the suite describes no call %q", name)
	}
	if !body && c.Body != nil && c.Body.Required {
		return request{}, &errParam{name + " needs a body"}
	}
	parts := c.parts()
	query := url.Values{}
	for key, value := range values {
		switch {
		case parts[key]:
		case c.Params[key] != nil || s.common.Params[key] != nil:
			query.Set(key, value)
		default:
			return request{}, &errParam{fmt.Sprintf("%s takes no %q", name, key)}
		}
	}
	forms := c.fitting(values)
	if len(forms) == 0 {
		return request{}, &errParam{name + " needs more parts of the path"}
	}
	form := forms[pick(choice, len(forms))]
	req := request{
		method: form.Methods[pick(choice+"/method", len(form.Methods))],
		target: form.fill(values),
		lines:  c.Body != nil && c.Body.Serialize == "bulk",
	}
	if len(query) > 0 {
		req.target += "?" + query.Encode()
	}
	return req, nil
}

// parts returns the names that stand in some path of the call.
func (c call) parts() map[string]bool {
	parts := map[string]bool{}
	for _, form := range c.URL.Paths {
		for name := range form.Parts {
			parts[name] = true
		}
	}
	return parts
}

// fitting returns the paths all of whose parts are given, those with the most parts.
func (c call) fitting(values map[string]string) []pathForm {
	var fit []pathForm
	most := 0
	for _, form := range c.URL.Paths {
		if !form.filledBy(values) || len(form.Parts) < most {
			continue
		}
		if len(form.Parts) > most {
			most, fit = len(form.Parts), nil
		}
		fit = append(fit, form)
	}
	return fit
}

func (f pathForm) filledBy(values map[string]string) bool {
	for name := range f.Parts {
		if _, given := values[name]; !given {
			return false
		}
	}
	return true
}

// fill writes the path with its parts escaped.
func (f pathForm) fill(values map[string]string) string {
	segments := strings.Split(f.Path, "/")
	for i, segment := range segments {
		if name, isPart := strings.CutPrefix(segment, "{"); isPart {
			segments[i] = unescaped.Replace(url.PathEscape(values[strings.TrimSuffix(name, "}")]))
		}
	}
	return strings.Join(segments, "/")
}

// unescaped takes back escapes that the makers' clients do not write.
var unescaped = strings.NewReplacer("%2C", ",", "%2A", "*")

// pick chooses one of n by a text, always the same one.
func pick(choice string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(choice))
	return int(h.Sum32() % uint32(n)) //nolint:gosec // G115: n is the length of a short list
}

// isHead reports whether the call can only be asked by HEAD: its answer is yes or no.
func (c call) isHead() bool {
	return !slices.ContainsFunc(c.URL.Paths, func(f pathForm) bool { return !slices.Equal(f.Methods, []string{"HEAD"}) })
}
