package endpoint

import (
	"fmt"
	"regexp"
	"slices"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// Reindex is what the body of a reindex holds beside the names; each may be Invalid.
type Reindex struct {
	Query, Size, Fields esjson.Value // of the source
	Dest                esjson.Value // all of it, its index too
	Conflicts, MaxDocs  esjson.Value

	source []names.Expr
	dest   names.Expr
}

// The parts of a reindex, by their position.
const (
	ReindexSource = 1
	ReindexDest   = 2
)

// What is asked of the indices that a reindex reads, and of the one that it writes to. Nobody has seen the documents, so
// the right to change mappings is asked of everybody.
var (
	fromSource = asked(index("indices:data/read/search"))
	intoDest   = asked(index("indices:data/write/index"), index("indices:data/write/bulk[s]"),
		ask.Privilege{Action: "indices:admin/create", When: ask.IndexMissing}, index("indices:admin/mapping/put"))
	intoDestRefreshed = append(slices.Clone(intoDest), refreshes)
)

// askReindex asks for the request, then on the names of its source and its destination.
func (m Match) askReindex(q Query) (Asked, error) {
	v, err := parse(q.Body)
	if err != nil {
		return Asked{}, err
	}
	var r Reindex
	if err := r.read(v); err != nil {
		return Asked{}, err
	}
	into := intoDest
	if q.Refreshes {
		into = intoDestRefreshed
	}
	return Asked{Reindex: r, Parts: []ask.Part{
		m.envelope(),
		{Slot: ask.WholeRequest, Privileges: fromSource, Exprs: r.source, Opts: m.Route.Opts},
		{Slot: ask.WholeRequest, Privileges: into, Exprs: []names.Expr{r.dest}, Opts: noExpansion, Single: true, Fixed: true},
	}}, nil
}

func (r *Reindex) read(body esjson.Value) error {
	const where = "the reindex request"
	for key, v := range body.Members() {
		var err error
		switch key {
		case "source", "dest":
			err = r.readSide(fmt.Sprintf("[%s] of %s", key, where), key == "dest", v)
		case "conflicts":
			r.Conflicts, err = v, oneOf(where, key, v, "abort", "proceed")
		case "max_docs":
			r.MaxDocs, err = v, positive(where, key, v)
		case "script", "size":
			err = notBuiltKey(where, key)
		default:
			err = unknownKey(where, key)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(r.source) == 0:
		return badBody("action_request_validation_exception", "Validation Failed: 1: use _all if you really want to copy from all existing indexes;")
	case r.dest == "":
		return badBody("action_request_validation_exception", "Validation Failed: 1: index must be specified on [dest];")
	}
	return nil
}

// readSide reads source or dest.
func (r *Reindex) readSide(where string, dest bool, side esjson.Value) error {
	if !side.Is(esjson.Object) {
		return badBody("parsing_exception", "cannot use %s as %s; want an object", side.Kind(), where)
	}
	read := r.readSource
	if dest {
		r.Dest, read = side, r.readDest
	}
	for key, v := range side.Members() {
		if err := read(where, key, v); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reindex) readSource(where, key string, v esjson.Value) (err error) {
	switch key {
	case "index":
		r.source, err = namesOf(where, key, v, true)
	case "query":
		r.Query = v // the walker of queries looks into it
	case "size":
		r.Size, err = v, positive(where, key, v)
	case "_source":
		r.Fields, err = v, sourceFilter(where, key, v)
	case "remote", "slice", "sort":
		err = notBuiltKey(where, key)
	default:
		err = unknownKey(where, key)
	}
	return err
}

func (r *Reindex) readDest(where, key string, v esjson.Value) (err error) {
	switch key {
	case "index":
		r.dest, err = nameOf(where, key, v)
	case "op_type":
		err = oneOf(where, key, v, "index", "create")
	case "version_type":
		err = oneOf(where, key, v, "internal", "external", "external_gt", "external_gte")
	case "routing":
		_, err = textOf(where, key, v)
	case "pipeline":
		err = notBuiltKey(where, key)
	default:
		err = unknownKey(where, key)
	}
	return err
}

func notBuiltKey(where, key string) error {
	return &ask.Rejection{
		Public: fmt.Sprintf("[%s] in %s is not supported yet for users who do not hold every privilege", key, where),
		Reason: ask.ReasonNotBuilt,
	}
}

func oneOf(where, key string, v esjson.Value, want ...string) error {
	s, err := textOf(where, key, v)
	if err == nil && !slices.Contains(want, s) {
		err = badBody("illegal_argument_exception", "cannot use [%s] as [%s] of %s; want one of %v", names.Clip(s), key, where, want)
	}
	return err
}

var wholeNumber = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)

func positive(where, key string, v esjson.Value) error {
	if v.Is(esjson.Number) && wholeNumber.Match(v.Raw()) {
		return nil
	}
	return badBody("illegal_argument_exception", "cannot use %s as [%s] of %s; want a whole number above 0", v.Kind(), key, where)
}

// sourceFilter takes what says which fields are copied: a name, or a list of names.
func sourceFilter(where, key string, v esjson.Value) error {
	_, err := textsOf(where, key, v, false)
	return err
}
