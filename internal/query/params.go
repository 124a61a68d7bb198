package query

import (
	"slices"
	"strings"
	"unicode/utf8"

	"guard/internal/esjson"
)

// Endpoint is what a URL's parameters belong to.
type Endpoint uint8

// The endpoints whose bodies this package reads.
const (
	Search Endpoint = 1 << iota
	Count
	MultiSearch // the URL of a multi-search, not its lines
)

// Param is one URL parameter, decoded once. HasValue tells "explain" from
// "explain=".
type Param struct {
	Name, Value string
	HasValue    bool
}

// Params is what CheckParams made of the parameters of one URL.
type Params struct {
	// Keep are those to forward, in their order. What names fields or asks a query
	// under a rule is not among them: it moves into the body, where the walker is.
	Keep []Param

	over esjson.Value // body keys that the URL sets
	tape esjson.Tape
}

// noParams is what a URL without parameters comes to. Nobody writes to it.
var noParams Params

// move says when a parameter is taken out of the URL.
type move uint8

const (
	stay      move = iota
	withQuery      // belongs to q and goes where q goes
	withField      // goes into the body under a field rule
	dropped        // was read before, is not forwarded
)

// param is one row of the table of URL parameters.
type param struct {
	on   Endpoint
	move move
	only []string // values that may be given; nil: any
	flag bool     // refused by the verdict only if it is not false
	verdict
}

var kept = param{on: Search | Count}

// paramTable is the table of URL parameters.
var paramTable = map[string]param{
	// q replaces the query of the body, so it has to be filtered in its place.
	"q":                {on: Search | Count, move: withQuery},
	"df":               {on: Search | Count, move: withQuery},
	"analyzer":         {on: Search | Count, move: withQuery},
	"analyze_wildcard": {on: Search | Count, move: withQuery},
	"default_operator": {on: Search | Count, move: withQuery},
	"lenient":          {on: Search | Count, move: withQuery},

	// The cluster lets these win over the body, or adds them to it; see place.
	"stored_fields":    {on: Search, move: withField},
	"docvalue_fields":  {on: Search, move: withField},
	"_source":          {on: Search, move: withField},
	"_source_includes": {on: Search, move: withField},
	"_source_excludes": {on: Search, move: withField},
	"sort":             {on: Search, move: withField},

	"source":              {on: Search | Count | MultiSearch, move: dropped}, // the body, which was parsed as such
	"source_content_type": {on: Search | Count | MultiSearch, move: dropped},

	// suggest_text alone is harmless, but means nothing without suggest_field.
	"suggest_field": {on: Search, verdict: everyone("suggestions are not built yet")},
	"suggest_mode":  {on: Search, verdict: everyone("suggestions are not built yet")},
	"suggest_size":  {on: Search, verdict: everyone("suggestions are not built yet")},
	"suggest_text":  {on: Search, verdict: everyone("suggestions are not built yet")},

	"explain":          {on: Search, flag: true, verdict: explains},
	"error_trace":      {on: Search | Count | MultiSearch, flag: true, verdict: both(whyText)},
	"verbose_pipeline": {on: Search | MultiSearch, flag: true, verdict: everyone(whyPipe)},
	"search_pipeline":  {on: Search | MultiSearch, only: []string{"_none"}},
	"scroll":           {on: Search, verdict: everyone(whyHandle)},
	"search_type":      {on: Search | MultiSearch, only: []string{"query_then_fetch", "dfs_query_then_fetch"}},
	// An answer in another format cannot be filtered.
	"format":                        {on: Search | Count | MultiSearch, only: []string{"json"}},
	"_slice":                        {on: Search, verdict: everyone(whyHandle)},
	"_source_exclude_vectors":       {on: Search},
	"force_synthetic_source":        {on: Search, flag: true, verdict: everyone("it makes the source anew")},
	"project_routing":               {on: Search | Count | MultiSearch, verdict: everyone(whyIndex)},
	"index":                         {on: Search | Count | MultiSearch, verdict: everyone("an index is named in the path")},
	"type":                          {on: Search | Count, verdict: everyone("mapping types are gone")},
	"include_type_name":             {on: Search, verdict: everyone("mapping types are gone")},
	"stream_scoring_mode":           {on: Search, verdict: everyone("streamed answers are not built yet")},
	"streaming_mode":                {on: Search, verdict: everyone("streamed answers are not built yet")},
	"local":                         {verdict: everyone("it belongs to other endpoints")},
	"master_timeout":                {verdict: everyone("it belongs to other endpoints")},
	"cluster_manager_timeout":       {verdict: everyone("it belongs to other endpoints")},
	"version":                       {on: Search},
	"seq_no_primary_term":           {on: Search},
	"stats":                         {on: Search},
	"size":                          {on: Search},
	"from":                          {on: Search},
	"timeout":                       {on: Search},
	"terminate_after":               kept,
	"min_score":                     {on: Count},
	"track_scores":                  {on: Search},
	"track_total_hits":              {on: Search},
	"include_named_queries_score":   {on: Search, flag: true, verdict: verdict{dls: whyStats}},
	"preference":                    kept,
	"routing":                       kept,
	"request_cache":                 {on: Search},
	"pre_filter_shard_size":         {on: Search | MultiSearch, verdict: verdict{dls: "it tells which shards hold a value, also of hidden documents"}},
	"max_concurrent_shard_requests": {on: Search | MultiSearch},
	"max_concurrent_searches":       {on: MultiSearch},
	"batched_reduce_size":           {on: Search},
	"allow_partial_search_results":  {on: Search},
	"ccs_minimize_roundtrips":       {on: Search | MultiSearch},
	"cancel_after_time_interval":    {on: Search | MultiSearch},
	"coordinator_timeout":           {on: MultiSearch},
	"phase_took":                    {on: Search | MultiSearch},
	"ignore_throttled":              {on: Search | Count | MultiSearch},
	"ignore_unavailable":            {on: Search | Count | MultiSearch},
	"allow_no_indices":              {on: Search | Count | MultiSearch},
	"expand_wildcards":              {on: Search | Count | MultiSearch},
	"rest_total_hits_as_int":        {on: Search | MultiSearch},
	"typed_keys":                    {on: Search | MultiSearch},
	"min_compatible_shard_node":     {on: Search},
	"filter_path":                   {on: Search | Count | MultiSearch},
	"pretty":                        {on: Search | Count | MultiSearch},
	"human":                         {on: Search | Count | MultiSearch},
}

// tellsOfHidden reports whether a parameter, or key of a body, is not passed on under the
// rules. None is a part of what is asked: they say how it is to be found.
func (k *walker) tellsOfHidden(name string) bool {
	switch name {
	case "batched_reduce_size", // the answer counts the batches of shards that ran
		"search_type": // dfs_query_then_fetch adds up the statistics of all indices: one's own document asks for any word
		return k.hidesDocs()
	case "terminate_after": // see oracle.go
		return k.hidesDocs() || k.fieldRule()
	case "timeout": // what was found until then are the first documents
		return k.rules.Order == OfDocuments
	}
	return false
}

// CheckParams judges the parameters of a URL and takes out those whose meaning a
// rule changes: they are placed by AppendSearch or AppendCount. A parameter given
// twice is refused: clusters do not agree which one counts.
func CheckParams(on Endpoint, params []Param, r *Rules) (*Params, error) {
	if len(params) == 0 {
		return &noParams, nil
	}
	p := &Params{}
	moved := map[string]string{}
	k := walker{rules: r}
	_, asks := find(params, "q")
	for i, given := range params {
		if _, again := find(params[:i], given.Name); again {
			return nil, refuseParam(given.Name, "it is given twice")
		}
		if !utf8.ValidString(given.Value) {
			return nil, refuseParam(given.Name, "it is no valid UTF-8")
		}
		row, ok := paramTable[given.Name]
		if !ok || row.on&on == 0 && row.all == "" {
			return nil, refuseParam(given.Name, "unknown parameter")
		}
		if why := k.refusal(row.verdict); why != "" && !(row.flag && given.Value == "false") {
			return nil, refuseParam(given.Name, why)
		}
		if row.only != nil && !slices.Contains(row.only, given.Value) {
			return nil, refuseParam(given.Name, "want "+strings.Join(row.only, " or "))
		}
		switch {
		case row.move == dropped, k.tellsOfHidden(given.Name):
		case row.move == withQuery && asks && (k.docRule() || k.fieldRule()),
			row.move == withField && (k.fieldRule() || k.hidesDocs() && len(r.Thinned) > 0),
			given.Name == "sort" && (k.rules.Order != Untold || k.hidesDocs() && asksOrder(given.Value)),
			given.Name == "track_scores" && k.rules.Order != Untold,
			given.Name == "track_total_hits" && k.hidesDocs():
			moved[given.Name] = given.Value
		default:
			p.Keep = append(p.Keep, given)
		}
	}
	return p, p.place(moved)
}

func find(params []Param, name string) (Param, bool) {
	i := slices.IndexFunc(params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, false
	}
	return params[i], true
}

func refuseParam(name, why string) error {
	return &Refusal{Path: "the URL", Construct: quoteLimit(name), Why: why}
}

// addsUp are the body keys to which the URL adds; others it replaces.
var addsUp = map[string]bool{"sort": true, "docvalue_fields": true}

// place makes the body keys that the moved parameters stand for.
func (p *Params) place(moved map[string]string) error {
	if len(moved) == 0 {
		return nil
	}
	var w esjson.Writer
	w.BeginObject()
	for _, part := range []func(*esjson.Writer, map[string]string) error{placeQuery, placeSource, placeLists, placeSort, placeScores, placeTotal} {
		if err := part(&w, moved); err != nil {
			return err
		}
	}
	w.EndObject()
	over, err := esjson.Parse(&p.tape, w.Bytes(), esjson.RequestLimits())
	if err != nil {
		return refuseParam("q", "it is too long")
	}
	p.over = over
	return nil
}

// placeQuery makes a query_string clause of q and its companions.
func placeQuery(w *esjson.Writer, moved map[string]string) error {
	q, ok := moved["q"]
	if !ok {
		return nil
	}
	w.Key("query")
	w.BeginObject()
	w.Key("query_string")
	w.BeginObject()
	w.Key("query")
	w.Text(q)
	for _, text := range [][2]string{{"df", "default_field"}, {"analyzer", "analyzer"}, {"default_operator", "default_operator"}} {
		if s, ok := moved[text[0]]; ok {
			w.Key(text[1])
			w.Text(s)
		}
	}
	for _, flag := range []string{"analyze_wildcard", "lenient"} {
		s, ok := moved[flag]
		if !ok {
			continue
		}
		on, err := readFlag(flag, s)
		if err != nil {
			return err
		}
		w.Key(flag)
		w.Bool(on)
	}
	w.EndObject()
	w.EndObject()
	return nil
}

// readFlag reads a boolean parameter; a name alone means true.
func readFlag(name, s string) (bool, error) {
	switch s {
	case "", "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, refuseParam(name, "want true or false")
}

// placeSource makes _source; the URL's replaces the body's as a whole.
func placeSource(w *esjson.Writer, moved map[string]string) error {
	wish, given := moved["_source"]
	includes, hasIncludes := moved["_source_includes"]
	excludes, hasExcludes := moved["_source_excludes"]
	if !given && !hasIncludes && !hasExcludes {
		return nil
	}
	w.Key("_source")
	if given && wish == "false" {
		w.Bool(false)
		return nil
	}
	if given && wish != "true" && !hasIncludes {
		includes, hasIncludes = wish, true
	}
	w.BeginObject()
	if hasIncludes {
		placeList(w, "includes", includes)
	}
	if hasExcludes {
		placeList(w, "excludes", excludes)
	}
	w.EndObject()
	return nil
}

func placeList(w *esjson.Writer, key, list string) {
	w.Key(key)
	w.Texts(splitList(list))
}

func placeLists(w *esjson.Writer, moved map[string]string) error {
	for _, key := range []string{"stored_fields", "docvalue_fields"} {
		if list, ok := moved[key]; ok {
			placeList(w, key, list)
		}
	}
	return nil
}

// placeSort makes sort of "field:asc,field".
func placeSort(w *esjson.Writer, moved map[string]string) error {
	list, ok := moved["sort"]
	if !ok {
		return nil
	}
	w.Key("sort")
	w.BeginArray()
	for _, s := range splitList(list) {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			w.Text(s)
			continue
		}
		if dir := s[i+1:]; dir != "asc" && dir != "desc" {
			return refuseParam("sort", "want asc or desc after the colon")
		}
		w.BeginObject()
		w.Key(s[:i])
		w.Text(s[i+1:])
		w.EndObject()
	}
	w.EndArray()
	return nil
}

// placeScores makes track_scores.
func placeScores(w *esjson.Writer, moved map[string]string) error {
	s, ok := moved["track_scores"]
	if !ok {
		return nil
	}
	on, err := readFlag("track_scores", s)
	w.Key("track_scores")
	w.Bool(on)
	return err
}

// placeTotal makes track_total_hits, a flag or a number.
func placeTotal(w *esjson.Writer, moved map[string]string) error {
	if s, ok := moved["track_total_hits"]; ok {
		w.Key("track_total_hits")
		w.Text(s) // clusters take both as text, too
	}
	return nil
}
