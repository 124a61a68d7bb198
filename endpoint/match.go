package endpoint

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"guard/internal/ask"
	"guard/internal/names"
)

// Match is a request on its route. It refers to the path that was matched. The zero
// value has no route.
type Match struct {
	Route *Route
	form  *form
	kinds map[string]ParamKind
	path  []string
	raw   string // the target as the client wrote it, or nothing
}

// Match finds the route of a method and a path, split and decoded once. A literal
// segment wins over a placeholder, which is tried next; a route whose method does
// not fit is no route. The error is an *ask.Rejection.
func (r *Router) Match(verb string, path []string) (Match, error) {
	path = withoutTrailingSlash(path)
	for _, s := range path {
		if fault := segmentFault(s); fault != "" {
			return Match{}, badPath(path, fault)
		}
	}
	if m, ok := methodOf(verb); ok {
		if f := r.root.find(path, m); f != nil {
			return Match{Route: &r.rows[f.row], form: f, kinds: r.kinds[f.row], path: path}, nil
		}
	}
	return Match{}, r.noRoute(verb, path)
}

// MatchRequest is Match for a request, whose target must also spell the words of the
// API without escapes: a node takes /%5Fsearch for a name and not for a search.
func (r *Router) MatchRequest(q *ask.Request) (Match, error) {
	m, err := r.Match(q.Method, q.Path)
	if err != nil {
		return Match{}, err
	}
	m.raw = q.RawTarget
	raw, _, _ := strings.Cut(q.RawTarget, "?")
	if !strings.Contains(raw, "%") {
		return m, nil
	}
	spelled := withoutTrailingSlash(strings.Split(strings.TrimPrefix(raw, "/"), "/"))
	for i, want := range m.form.segments {
		if !isPlaceholder(want) && (i >= len(spelled) || spelled[i] != want) {
			return Match{}, badPath(m.path, fmt.Sprintf("%q must be written without escapes", want))
		}
	}
	return m, nil
}

// withoutTrailingSlash drops one: the clusters ignore it.
func withoutTrailingSlash(path []string) []string {
	if n := len(path); n > 0 && path[n-1] == "" {
		return path[:n-1]
	}
	return path
}

// segmentFault says why a segment has a second meaning, if it has one.
func segmentFault(s string) string {
	switch {
	case s == "":
		return "a segment is empty"
	case s == "." || s == "..":
		return fmt.Sprintf("a segment is %q", s)
	case !utf8.ValidString(s):
		return "a segment is not valid UTF-8"
	default:
		return ""
	}
}

// find returns the form that path and m lead to from n, or nil.
func (n *node) find(path []string, m method) *form {
	if len(path) == 0 {
		return n.routes[m]
	}
	if next := n.literals[path[0]]; next != nil {
		if f := next.find(path[1:], m); f != nil {
			return f
		}
	}
	if n.index != nil && isIndexSegment(path[0]) {
		if f := n.index.find(path[1:], m); f != nil {
			return f
		}
	}
	if n.any != nil {
		return n.any.find(path[1:], m)
	}
	return nil
}

// isIndexSegment reports whether s can name indices: a name never starts with '_',
// so that a misspelt word of the API is not taken for an index.
func isIndexSegment(s string) bool { return s[0] != '_' || s == "_all" }

// noRoute says why nothing matched: no such path, or a path with other methods.
func (r *Router) noRoute(verb string, path []string) error {
	var allowed []string
	for m := range methods {
		if r.root.find(path, m) != nil {
			allowed = append(allowed, methodNames[m])
		}
	}
	if len(allowed) == 0 {
		return &ask.Rejection{
			Status: http.StatusForbidden,
			Public: fmt.Sprintf("unknown endpoint [%s %s]", verb, shown(path)),
			Reason: ask.ReasonUnknownEndpoint,
		}
	}
	return &ask.Rejection{
		Status: http.StatusMethodNotAllowed,
		Type:   "illegal_argument_exception",
		Public: fmt.Sprintf("Incorrect HTTP method for uri [%s] and method [%s], allowed: [%s]", shown(path), verb, strings.Join(allowed, ", ")),
		Reason: ask.ReasonUnknownEndpoint,
	}
}

func badPath(path []string, fault string) error {
	return &ask.Rejection{
		Status: http.StatusBadRequest,
		Type:   "illegal_argument_exception",
		Public: fmt.Sprintf("cannot use path [%s]: %s", shown(path), fault),
		Reason: ask.ReasonBadRequest,
	}
}

func shown(path []string) string { return names.Clip(string(appendPath(nil, path))) }

// Template returns the path of the catalogue that m matched: "/{index}/_search".
func (m Match) Template() string {
	if m.form == nil {
		return ""
	}
	return m.form.template
}

// Index returns what stands for {index} in the path.
func (m Match) Index() (string, bool) { return m.value(slotIndex) }

// ID returns what stands for {id} in the path.
func (m Match) ID() (string, bool) { return m.value(slotID) }

// Name returns what stands for {name} in the path.
func (m Match) Name() (string, bool) { return m.value(slotName) }

func (m Match) value(slot int) (string, bool) {
	if m.form == nil || m.form.at[slot] < 0 {
		return "", false
	}
	return m.path[m.form.at[slot]], true
}

// Kind returns what the parameter called name does on this route.
func (m Match) Kind(name string) ParamKind { return m.kinds[name] }
