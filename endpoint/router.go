package endpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// method is a small number for an HTTP method that the catalogue knows.
type method uint8

const (
	methodGet method = iota
	methodHead
	methodPost
	methodPut
	methodDelete
	methods
)

var methodNames = [methods]string{"GET", "HEAD", "POST", "PUT", "DELETE"}

// methodOf does not loop over methodNames: it runs for each request.
func methodOf(name string) (method, bool) {
	switch name {
	case "GET":
		return methodGet, true
	case "HEAD":
		return methodHead, true
	case "POST":
		return methodPost, true
	case "PUT":
		return methodPut, true
	case "DELETE":
		return methodDelete, true
	default:
		return 0, false
	}
}

// Router finds the route of a request. It is immutable.
type Router struct {
	root  *node
	rows  []Route
	kinds []map[string]ParamKind // by row
}

// node is a place in the trie of path templates.
type node struct {
	literals map[string]*node
	index    *node // {index}: nothing that starts with '_' but _all
	any      *node // every other placeholder
	routes   [methods]*form
}

// form is one path template of one row.
type form struct {
	row      int
	template string
	segments []string
	above    []*node    // the place that each segment is looked up in
	at       [slots]int // position of each placeholder, or -1
	// indexed is the form of the same row with {index} in addition; the form itself if
	// it has one, nil if the row has none.
	indexed *form
}

// Compile checks the table and builds its router. It reports every fault at once:
// rows that overlap, rows that leave a column out, rows that contradict themselves.
func Compile(table []Route) (*Router, error) {
	r := &Router{root: &node{}, rows: slices.Clone(table)}
	var faults []error
	ids := map[string]bool{}
	for i := range r.rows {
		row := &r.rows[i]
		if row.ID == "" || ids[row.ID] {
			faults = append(faults, fmt.Errorf("row %d: id %q is empty or used before", i, row.ID))
		}
		ids[row.ID] = true
		kinds, err := row.check()
		r.kinds = append(r.kinds, kinds)
		if err == nil {
			err = r.add(i)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("row %q: %w", row.ID, err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("cannot compile the endpoint catalogue: %w", err)
	}
	return r, nil
}

func (r *Router) add(row int) error {
	ms, err := parseMethods(r.rows[row].Methods)
	if err != nil {
		return err
	}
	forms := make([]*form, len(r.rows[row].Paths))
	for i, template := range r.rows[row].Paths {
		if forms[i], err = parseTemplate(template); err != nil {
			return err
		}
		forms[i].row = row
		if err = r.insert(forms[i], ms); err != nil {
			return err
		}
	}
	for _, f := range forms {
		f.indexed = withIndex(f, forms)
	}
	if alien := r.rows[row].IndexedPath; alien != "" {
		if forms[0].indexed, err = parseTemplate(alien); err == nil {
			err = r.insert(forms[0].indexed, nil) // for its places alone
		}
	}
	return err
}

func parseMethods(text string) ([]method, error) {
	var list []method
	for _, name := range strings.Split(text, ",") {
		m, ok := methodOf(name)
		if !ok || slices.Contains(list, m) {
			return nil, fmt.Errorf("cannot use method %q in %q; want each of GET, HEAD, POST, PUT, DELETE once", name, text)
		}
		list = append(list, m)
	}
	return list, nil
}

func parseTemplate(text string) (*form, error) {
	f := &form{template: text, at: [slots]int{-1, -1, -1}}
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return nil, fmt.Errorf("cannot use path %q; want a leading '/'", text)
	}
	if rest == "" {
		return f, nil
	}
	f.segments = strings.Split(rest, "/")
	for i, s := range f.segments {
		slot := slices.Index(slotNames[:], s)
		switch {
		case s == "" || s == "." || s == ".." || strings.ContainsAny(s, "{}") && !isPlaceholder(s):
			return nil, fmt.Errorf("cannot use segment %q of path %q", s, text)
		case slot >= 0 && f.at[slot] >= 0:
			return nil, fmt.Errorf("cannot use path %q: %s stands twice", text, s)
		case slot >= 0:
			f.at[slot] = i
		}
	}
	return f, nil
}

func isPlaceholder(s string) bool {
	return len(s) > 2 && s[0] == '{' && strings.IndexByte(s, '}') == len(s)-1
}

func (r *Router) insert(f *form, ms []method) error {
	n := r.root
	for _, s := range f.segments {
		f.above = append(f.above, n)
		n = n.child(s)
	}
	for _, m := range ms {
		if other := n.routes[m]; other != nil {
			return fmt.Errorf("%s %s is the same request as %s of row %q", methodNames[m], f.template, other.template, r.rows[other.row].ID)
		}
		n.routes[m] = f
	}
	return nil
}

// child returns the place below n for a segment of a template, making it if needed.
func (n *node) child(segment string) *node {
	at := &n.any
	switch {
	case segment == slotNames[slotIndex]:
		at = &n.index
	case !isPlaceholder(segment):
		if n.literals == nil {
			n.literals = map[string]*node{}
		}
		if n.literals[segment] == nil {
			n.literals[segment] = &node{}
		}
		return n.literals[segment]
	}
	if *at == nil {
		*at = &node{}
	}
	return *at
}

// withIndex finds the form that says the same as f and names indices too.
func withIndex(f *form, forms []*form) *form {
	if f.at[slotIndex] >= 0 {
		return f
	}
	for _, g := range forms {
		i := g.at[slotIndex]
		if i >= 0 && slices.Equal(slices.Delete(slices.Clone(g.segments), i, i+1), f.segments) {
			return g
		}
	}
	return nil
}
