package endpoint

import (
	"fmt"
	"net/http"
	"strings"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// Rules are what the two evaluators of the policy dialect see differently.
type Rules struct {
	// AliasNames tells that names of aliases that are made, removed or read are asked
	// like names of indices, and that the rights of an alias action are asked on its
	// own indices. The older evaluator asks on the indices of all actions together and
	// not on the aliases.
	AliasNames bool
}

// Asked is what a request asks, and the items that its parts stand for.
type Asked struct {
	Parts    []ask.Part
	Searches []Search      // of a multi-search, by slot
	Docs     []DocRef      // of a multi-get, by slot
	Actions  []AliasAction // of an alias request, in order
	Index    CreateIndex   // of an index that is made
	Alias    AliasPut      // of PUT _alias
	Reindex  Reindex       // of a reindex
}

// Ask reads the names of a request out of its path, parameters and body. Strings in
// the result share memory with the request. A bulk asks its envelope alone: its lines
// are read by a BulkParser. The error is an *ask.Rejection.
func (m Match) Ask(q Query, rules Rules) (Asked, error) {
	var one struct { // most requests are one part with one name: that is one allocation
		parts [1]ask.Part
		exprs [1]names.Expr
	}
	exprs, err := m.named(q, one.exprs[:0])
	if err != nil {
		return Asked{}, err
	}
	switch m.Route.Targets {
	case NoTargets, PathIndex, PathName:
		p := m.part(exprs, q.Opts)
		if q.Refreshes && len(m.Route.Refreshing) > 0 {
			p.Privileges = m.Route.Refreshing
		}
		one.parts[0] = p
		return Asked{Parts: one.parts[:]}, nil
	case BulkLines, SnapshotNames:
		one.parts[0] = m.envelope()
		return Asked{Parts: one.parts[:]}, nil
	case MsearchHeaders:
		return m.askSearches(q, exprs)
	case MgetDocs:
		return m.askDocs(q, exprs)
	case AliasActions:
		return m.askAliasActions(q, rules)
	case AliasBody:
		return m.askAliasPut(q, exprs, rules)
	case AliasNamed, AliasLookup:
		return m.askAliasNamed(q, exprs, rules)
	case ReindexBody:
		return m.askReindex(q)
	case CreateIndexBody, NewIndex:
		return m.askNewIndex(q, exprs, rules)
	default:
		panic(fmt.Sprintf("BUG: row %q names its indices in an unknown place", m.Route.ID))
	}
}

// part is the one thing that a request asks whose names stand outside its body.
func (m Match) part(exprs []names.Expr, opts names.Options) ask.Part {
	return ask.Part{
		Slot: ask.WholeRequest, Privileges: m.Route.Privileges,
		Exprs: exprs, Opts: opts, Single: m.Route.Single, Fixed: m.Route.Fixed,
	}
}

// envelope asks for the request as a whole, where its items name the indices.
func (m Match) envelope() ask.Part {
	return ask.Part{Slot: ask.WholeRequest, Privileges: m.Route.Privileges, Fixed: true}
}

// named returns the names outside the body, in room if that is enough; none means that
// nothing was named.
func (m Match) named(q Query, room []names.Expr) ([]names.Expr, error) {
	text, ok := m.Index()
	if m.Route.Targets == PathName {
		text, ok = m.Name()
	}
	if !ok {
		text, ok = q.Index, q.HasIndex
	}
	switch {
	case !ok:
		return nil, nil
	case m.Route.Single:
		e, err := singleName(text)
		return append(room, e), err
	default:
		return splitNames(room, text)
	}
}

// maxNames bounds the names of one list: each wildcard is compared with every name of
// the cluster, so that a small body could cost minutes.
const maxNames = 1000

func tooManyNames(n int) error {
	return &ask.Rejection{
		Status: http.StatusRequestEntityTooLarge, Type: "illegal_argument_exception",
		Public: fmt.Sprintf("index expression holds %d names; want at most %d, or a wildcard", n, maxNames),
		Reason: ask.ReasonTooLarge, Limit: ask.LimitExpressionNames,
	}
}

// splitNames cuts a list at its commas, wherever they stand, as the clusters do, into room
// if that is enough. An empty element is refused: a list of nothing else would mean every
// index.
func splitNames(room []names.Expr, text string) ([]names.Expr, error) {
	if n := 1 + strings.Count(text, ","); n > maxNames {
		return nil, tooManyNames(n)
	}
	if text == "" || strings.HasSuffix(text, ",") {
		return nil, badName("", "must not be empty")
	}
	exprs := append(room, names.Expr(text))
	if strings.Contains(text, ",") {
		exprs = names.Split(text)
	}
	return exprs, checkNames(exprs)
}

func checkNames(exprs []names.Expr) error {
	for _, e := range exprs {
		switch {
		case e == "":
			return badName(e, "must not be empty")
		case e == "_all" && len(exprs) == 1:
		case e[0] == '_':
			return badName(e, "must not start with '_'.")
		case strings.Contains(string(e), ","):
			return badName(e, "must not contain ','")
		}
	}
	return nil
}

// singleName takes text as one name: where exactly one is wanted, the clusters do
// not split at commas.
func singleName(text string) (names.Expr, error) {
	e := names.Expr(text)
	if e == "_all" {
		return e, badName(e, "must not start with '_'.")
	}
	return e, checkNames([]names.Expr{e})
}

func badName(e names.Expr, fault string) error {
	return ask.InvalidIndexName(string(e), fmt.Sprintf("Invalid index name [%s], %s", names.Clip(string(e)), fault))
}

// parse reads a JSON body whose root must be an object.
func parse(body []byte) (esjson.Value, error) {
	v, err := esjson.Parse(new(esjson.Tape), body, esjson.RequestLimits())
	if err != nil {
		return v, badJSON(err)
	}
	if !v.Is(esjson.Object) {
		return v, badBody("parsing_exception", "cannot use %s as request body; want an object", v.Kind())
	}
	return v, nil
}

func badJSON(err error) error {
	return &ask.Rejection{
		Status: http.StatusBadRequest, Type: "parse_exception",
		Public: err.Error(), Reason: ask.ReasonBadRequest,
	}
}

// unknownKey refuses a key that is in no closed list.
func unknownKey(where, key string) error {
	return &ask.Rejection{
		Status: http.StatusBadRequest, Type: "illegal_argument_exception",
		Public: fmt.Sprintf("unknown key [%s] in %s", names.Clip(key), where),
		Reason: ask.ReasonUnknownBody,
	}
}

// textOf reads a member that must be a string.
func textOf(where, key string, v esjson.Value) (string, error) {
	s, err := v.Text()
	if err != nil {
		return "", badBody("illegal_argument_exception", "cannot use %s as [%s] of %s; want a string", v.Kind(), key, where)
	}
	return s, nil
}

// nameOf reads a member that names one index or alias.
func nameOf(where, key string, v esjson.Value) (names.Expr, error) {
	s, err := textOf(where, key, v)
	if err != nil {
		return "", err
	}
	return singleName(s)
}

// namesOf reads a member that lists names: a string, split at commas if commas is
// set, or an array of single names.
func namesOf(where, key string, v esjson.Value, commas bool) ([]names.Expr, error) {
	exprs, err := textsOf(where, key, v, commas)
	if err != nil {
		return nil, err
	}
	return exprs, checkNames(exprs)
}

// textsOf is namesOf without a look at the single names.
func textsOf(where, key string, v esjson.Value, commas bool) ([]names.Expr, error) {
	if !v.Is(esjson.Array) {
		s, err := textOf(where, key, v)
		if err != nil {
			return nil, err
		}
		if commas {
			return splitNames(nil, s)
		}
		return []names.Expr{names.Expr(s)}, nil
	}
	if v.Len() == 0 {
		return nil, badBody("illegal_argument_exception", "cannot use an empty list as [%s] of %s; want at least one name", key, where)
	}
	if v.Len() > maxNames {
		return nil, tooManyNames(v.Len())
	}
	exprs := make([]names.Expr, 0, v.Len())
	for _, e := range v.Elements() {
		s, err := textOf(where, key, e)
		if err != nil {
			return nil, err
		}
		exprs = append(exprs, names.Expr(s))
	}
	return exprs, nil
}
