package endpoint

import (
	"fmt"
	"slices"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// maxItems bounds the items of one multi-search or multi-get.
const maxItems = 100_000

// Search is one search of a multi-search.
type Search struct {
	Exprs []names.Expr // the header's, else the path's; none means all
	Opts  names.Options
	Body  []byte // the search body, as it came, without its line end

	// rest are the members of the header that do not name indices or change how names
	// are read, printed and in order.
	rest []member
}

type member struct {
	key   string
	value []byte
}

// SetHeader adds a member of the header line that names no index.
func (s *Search) SetHeader(key, value string) {
	s.rest = append(s.rest, member{key: key, value: esjson.AppendString(nil, value)})
}

// WithoutHeader returns s without a key of its header.
func (s Search) WithoutHeader(key string) Search {
	s.rest = slices.DeleteFunc(slices.Clone(s.rest), func(m member) bool { return m.key == key })
	return s
}

// headerRoom is about what a header takes beside its indices.
const headerRoom = 128

// AppendHeader appends a header line, without its line end, that names indices and
// keeps the rest of the client's.
func (s Search) AppendHeader(dst []byte, indices []string) []byte {
	if len(indices) == 0 {
		panic("BUG: header of a multi-search with an empty list of indices")
	}
	return s.AppendHeaderOf(dst, esjson.AppendTexts(nil, indices))
}

// AppendHeaderOf is AppendHeader with the indices as a list in JSON.
func (s Search) AppendHeaderOf(dst, indices []byte) []byte {
	dst = slices.Grow(dst, len(indices)+headerRoom)
	var w esjson.Writer
	w.Reset(dst)
	w.BeginObject()
	w.Key("index")
	w.Raw(indices)
	w.Key("ignore_unavailable")
	w.Bool(s.Opts.IgnoreUnavailable)
	w.Key("allow_no_indices")
	w.Bool(s.Opts.AllowNoIndices)
	w.Key("expand_wildcards")
	w.Text(s.Opts.Expand.String())
	for _, m := range s.rest {
		w.Key(m.key)
		w.Raw(m.value)
	}
	w.EndObject()
	return w.Bytes()
}

// askSearches asks the envelope, and each search in its slot.
func (m Match) askSearches(q Query, exprs []names.Expr) (Asked, error) {
	searches, err := parseMsearch(q.Body, exprs, q.Opts)
	if err != nil {
		return Asked{}, err
	}
	parts := make([]ask.Part, 0, len(searches)+1)
	parts = append(parts, m.envelope())
	for i, s := range searches {
		parts = append(parts, ask.Part{Slot: i, Privileges: m.Route.Items, Exprs: s.Exprs, Opts: s.Opts})
	}
	return Asked{Parts: parts, Searches: searches}, nil
}

// parseMsearch reads pairs of header line and body line. Headers that name no index
// search path; opts are the options of the request as a whole. The body lines are
// cut, not parsed. Blank lines mean what they mean to the clusters: one newline at
// the start and one blank line at the end are nothing, else one is an empty header.
func parseMsearch(body []byte, path []names.Expr, opts names.Options) ([]Search, error) {
	var searches []Search
	var tape esjson.Tape
	if len(body) > 0 && body[0] == '\n' {
		body = body[1:]
	}
	for len(body) > 0 {
		if len(searches) == maxItems {
			return nil, tooMany("searches")
		}
		header, rest, ended := esjson.NextLine(body)
		if !ended {
			return nil, notEnded()
		}
		if len(rest) == 0 && isBlank(header) {
			break
		}
		s := Search{Exprs: path, Opts: opts}
		if err := s.readHeader(&tape, len(searches), header); err != nil {
			return nil, err
		}
		if s.Body, body, ended = esjson.NextLine(rest); !ended && len(rest) > 0 {
			return nil, notEnded()
		}
		if isBlank(s.Body) {
			return nil, badBody("parsing_exception", "search %d of the msearch request has no body; want an object", len(searches))
		}
		searches = append(searches, s)
	}
	if len(searches) == 0 {
		return nil, badBody("action_request_validation_exception", "Validation Failed: 1: no requests added;")
	}
	return searches, nil
}

func notEnded() error {
	return badBody("illegal_argument_exception", `The msearch request must be terminated by a newline [\n]`)
}

func tooMany(what string) error {
	return &ask.Rejection{
		Status: 413, Type: "illegal_argument_exception",
		Public: fmt.Sprintf("request holds more than %d %s", maxItems, what),
		Reason: ask.ReasonTooLarge, Limit: ask.LimitItems,
	}
}

// headerKeys are the keys of a header line, by every spelling that the clusters
// read, with the one that is forwarded.
var headerKeys = map[string]string{
	"index": "index", "indices": "index",
	"expand_wildcards": "expand_wildcards", "expandWildcards": "expand_wildcards",
	"ignore_unavailable": "ignore_unavailable", "ignoreUnavailable": "ignore_unavailable",
	"allow_no_indices": "allow_no_indices", "allowNoIndices": "allow_no_indices",
	"ignore_throttled": "ignore_throttled", "ignoreThrottled": "ignore_throttled",
	"search_type": "search_type", "searchType": "search_type",
	"request_cache": "request_cache", "requestCache": "request_cache",
	"preference": "preference", "routing": "routing",
	"allow_partial_search_results": "allow_partial_search_results", "allowPartialSearchResults": "allow_partial_search_results",
	"ccs_minimize_roundtrips": "ccs_minimize_roundtrips", "ccsMinimizeRoundtrips": "ccs_minimize_roundtrips",
	"cancel_after_time_interval": "cancel_after_time_interval", "cancelAfterTimeInterval": "cancel_after_time_interval",
	"types": "types",
}

func (s *Search) readHeader(tape *esjson.Tape, slot int, line []byte) error {
	if isBlank(line) {
		return nil
	}
	where := fmt.Sprintf("header %d of the msearch request", slot)
	v, err := esjson.Parse(tape, line, esjson.RequestLimits())
	if err != nil {
		return badJSON(err)
	}
	if !v.Is(esjson.Object) {
		return badBody("parsing_exception", "cannot use %s as %s; want an object", v.Kind(), where)
	}
	seen := make(map[string]bool, v.Len())
	for key, value := range v.Members() {
		known, ok := headerKeys[key]
		if !ok {
			return unknownKey(where, key)
		}
		if seen[known] {
			return badBody("illegal_argument_exception", "[%s] stands in %s twice", known, where)
		}
		seen[known] = true
		if value.Is(esjson.Null) && known != "index" {
			continue // the clusters read null as absent
		}
		if err := s.readMember(where, known, value); err != nil {
			return err
		}
	}
	return nil
}

func (s *Search) readMember(where, key string, v esjson.Value) error {
	switch key {
	case "index":
		var err error
		s.Exprs, err = namesOf(where, key, v, true)
		return err
	case "expand_wildcards", "ignore_unavailable", "allow_no_indices":
		values, err := optionValues(where, key, v)
		if err != nil {
			return err
		}
		if err := readIndexOption(&s.Opts, key, values); err != nil {
			return badBody("illegal_argument_exception", "[%s] of %s: %s", key, where, err)
		}
		return nil
	case "types":
		// The high-level client of Elasticsearch 7 always sends an empty list.
		if !v.Is(esjson.Array) || v.Len() > 0 {
			return unknownKey(where, key)
		}
		return nil
	default:
		if v.Is(esjson.Object) || v.Is(esjson.Array) {
			return badBody("illegal_argument_exception", "cannot use %s as [%s] of %s; want one value", v.Kind(), key, where)
		}
		s.rest = append(s.rest, member{key: key, value: esjson.AppendValue(nil, v)})
		return nil
	}
}

// optionValues reads an index option that may be a string, a boolean or a list.
func optionValues(where, key string, v esjson.Value) ([]string, error) {
	if v.Is(esjson.Bool) {
		return []string{v.String()}, nil
	}
	exprs, err := namesOf(where, key, v, true)
	if err != nil {
		return nil, err
	}
	values := make([]string, len(exprs))
	for i, e := range exprs {
		values[i] = string(e)
	}
	return values, nil
}
