package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"guard/internal/esjson"
	"guard/internal/query"
)

// cleanError is cleanErrorUnder where no filter was added.
func cleanError(a Answer) (Answer, error) { return cleanErrorUnder(a, query.Free) }

// cleanErrorUnder keeps of an error of the cluster what its shape needs: types, and
// reasons that do not print the query that ran. What is no error of a cluster is replaced,
// for whoever stands between says no more than its status; what could hold documents is not
// understood, whatever its status: nothing has filtered it. beside are the members that the
// error may have with it.
func cleanErrorUnder(a Answer, filter query.Filter, beside ...string) (Answer, error) {
	if len(a.Body) == 0 {
		return a, nil // the answer to a HEAD
	}
	var tape esjson.Tape
	v, err := parseAnswer(&tape, a)
	if err != nil || !v.Is(esjson.Object) {
		return withoutText(a), nil
	}
	if err := withoutDocuments(v); err != nil {
		return Answer{}, fmt.Errorf("cannot read the cluster's answer with status %d: %w", a.Status, err)
	}
	if !isError(v, beside) {
		return withoutText(a), nil
	}
	c := cleaner{secrets: filterTexts(filter)}
	a.Body = c.print(v, len(a.Body))
	return a, nil
}

// documentMembers hold documents, or what was made of them. No error of the clusters has
// a member of such a name at any depth.
var documentMembers = []string{"hits", "aggregations", "_source", "docs", "responses"}

// withoutText is an error of which the status alone is told.
func withoutText(a Answer) Answer {
	a.Body = []byte(`{"error":{"root_cause":[{"type":"exception","reason":"the cluster failed"}],"type":"exception","reason":"the cluster failed"}}`)
	a.ContentType = jsonType
	return a
}

// isError reports whether v is an error of a cluster and nothing more, but for what may stand
// beside it.
func isError(v esjson.Value, beside []string) bool {
	e, ok := v.Lookup("error")
	if !ok || !e.Is(esjson.Object) && !e.Is(esjson.String) {
		return false
	}
	for key := range v.Members() {
		if key != "error" && key != "status" && !slices.Contains(beside, key) {
			return false
		}
	}
	return true
}

// withoutDocuments returns nil if no member of v, at any depth, could hold documents.
func withoutDocuments(v esjson.Value) error {
	for key, m := range v.Members() {
		if slices.Contains(documentMembers, key) {
			return fmt.Errorf("it has %q in an error", key)
		}
		if err := withoutDocuments(m); err != nil {
			return err
		}
	}
	for _, e := range v.Elements() {
		if err := withoutDocuments(e); err != nil {
			return err
		}
	}
	return nil
}

// cleaner prints an answer again with less in its errors and failures.
type cleaner struct {
	w       esjson.Writer
	secrets []string // texts that no error may hold
}

// Members of errors that show the inside of the cluster or repeat the request as it
// ran, and those that hold no free text.
var (
	droppedMembers = []string{"stack_trace", "node", "script_stack", "script", "suppressed", "failed_shards", "_scroll_id"}
	plainMembers   = []string{"type", "phase", "index", "index_uuid", "resource.id", "resource.type", "lang", "_index", "_id", "status"}
)

// cleanReasons prints an answer again, each text inside an error or failure as c.reason
// lets it.
func cleanReasons(a Answer, c cleaner) (Answer, error) {
	var tape esjson.Tape
	v, err := parseAnswer(&tape, a)
	if err != nil {
		return Answer{}, err
	}
	a.Body = c.print(v, len(a.Body))
	return a, nil
}

// print prints v, which took size bytes.
func (c *cleaner) print(v esjson.Value, size int) []byte {
	c.w.Reset(make([]byte, 0, size))
	c.value(v, false)
	return c.w.Bytes()
}

// value prints v; inside tells that v belongs to an error or a failure.
func (c *cleaner) value(v esjson.Value, inside bool) {
	switch {
	case v.Is(esjson.Object):
		c.w.BeginObject()
		for key, m := range v.Members() {
			if !inside || !slices.Contains(droppedMembers, key) {
				c.w.Key(key)
				c.member(key, m, inside)
			}
		}
		c.w.EndObject()
	case v.Is(esjson.Array):
		c.w.BeginArray()
		for _, e := range v.Elements() {
			c.value(e, inside)
		}
		c.w.EndArray()
	case inside && v.Is(esjson.String):
		c.text(v)
	default:
		c.w.Value(v)
	}
}

func (c *cleaner) member(key string, v esjson.Value, inside bool) {
	switch {
	case !inside:
		if key == "hits" || key == "aggregations" || key == "_source" {
			c.w.Value(v) // documents: filtered elsewhere, and whatever they hold is no error
			return
		}
		c.value(v, key == "error" || key == "failures" || key == "_shards")
	case slices.Contains(plainMembers, key):
		c.w.Value(v)
	default:
		c.value(v, true)
	}
}

// text prints what of a text may be sent; all of it as it was written.
func (c *cleaner) text(v esjson.Value) {
	whole := v.String()
	if kept := c.reason(whole); kept != whole {
		c.w.Text(kept)
		return
	}
	c.w.Value(v)
}

// untoldReason stands for a reason of which nothing may be sent.
const untoldReason = "the query failed"

// reason returns what of a text may be sent. Under a rule that is what a query says that has
// a word of the rule and one that has another, alike: whoever sends words would find out by
// the answer which ones the rule has.
func (c *cleaner) reason(whole string) string {
	text := whole
	for _, r := range shardNumbers {
		text = r.number.ReplaceAllString(text, r.kept)
	}
	if i := strings.IndexAny(text, "{\n"); i >= 0 {
		text = strings.TrimRight(text[:i], " :[")
	}
	if len(c.secrets) == 0 || slices.ContainsFunc(toldForms, func(form *regexp.Regexp) bool { return form.MatchString(text) }) {
		return text
	}
	text = withoutVariables(text)
	if text == "" && whole != "" || slices.ContainsFunc(c.secrets, func(s string) bool { return strings.Contains(text, s) }) {
		return untoldReason
	}
	return text
}

// toldForms are reasons of which no rule is the cause, whose query is one of many parts of a
// search: they say what is wrong with the names, the sorts or the size of a request.
var toldForms = []*regexp.Regexp{
	regexp.MustCompile(`^(?i)no mapping found for \[[^\[\]]*\] in order to sort on$`),
	regexp.MustCompile(`^no such index \[[^\[\]]*\]( and no indices exist)?$`),
	regexp.MustCompile(`^alias \[[^\[\]]*\] missing$`),
	regexp.MustCompile(`^routing is required for \[[^\[\]]*\]/\[.*\]$`),
	regexp.MustCompile(`^maxClauseCount is set to \d+$`),
	regexp.MustCompile(`^Unable to find a field mapper for field \[[^\[\]]*\]\. No 'missing' value defined\.$`),
	regexp.MustCompile(`^(Result window|Batch size|Rescore window) (is )?(too large|\[\d+\] is too large)[^"'\[]*( \[\d+\][^"'\[]*)*(\[[a-z._]+\][^"'\[]*)?$`),
	regexp.MustCompile(`^Trying to create too many buckets\.[^"'\[]*\[\d+\][^"'\[]*(\[\d+\][^"'\[]*)?(\[[a-z._]+\][^"'\[]*)?$`),
	regexp.MustCompile(`^The length of \[[^\[\]]*\] field of doc of \[[^\[\]]*\] index has exceeded \[\d+\]`),
}

// variable is where a reason may go on with what a request, a rule or a document holds.
var variable = regexp.MustCompile("[\"'`\\[<]|No enum constant|(?:^|[\\s:=(,])[-+]?\\d")

// withoutVariables cuts a reason at the first place that may hold what is not the cluster's
// own text. In front may stand the name of a clause in brackets.
func withoutVariables(text string) string {
	from := 0
	if end := strings.IndexByte(text, ']'); end > 0 && text[0] == '[' && filterWords[text[1:end]] {
		from = end + 1
	}
	if at := variable.FindStringIndex(text[from:]); at != nil {
		text = text[:from+at[0]]
	}
	return strings.TrimRight(text, " :=(,")
}

// shardNumbers are the numbers by which a shard knows its documents and words, where errors
// print them, and what is kept of such a place. They count the documents, the objects of
// nested fields and the words that came before, hidden ones among them. A word that a shard
// looks for by its number can be one of a hidden document.
var shardNumbers = []struct {
	number *regexp.Regexp
	kept   string
}{
	{regexp.MustCompile(`(failed to collapse) -?\d+`), "$1"},
	{regexp.MustCompile(`(?i)\b(doc(?: ?id)?)[:=]? ?(?:\d+|\[\d+\])`), "$1"}, // "for doc [3]", "docID=3"
	{regexp.MustCompile(`\[\d+\] (doc) of `), "$1 of "},
	{regexp.MustCompile(`(Index) -?\d+ (out of bounds for length) \d+`), "$1 $2"}, // of words, where an aggregation has an array of them
	{regexp.MustCompile(`(Term) \[[0-9a-f ]*\]`), "$1"},                           // "Term [61 62] exists in doc values but not in the terms index"
}

// minSecret is the length from which a text of a filter is looked for: shorter ones stand in
// any sentence.
const minSecret = 3

// filterTexts lists the texts that a filter would be known by: its values and the names
// of its fields.
func filterTexts(f query.Filter) []string {
	if f == query.Free || f == query.None {
		return nil
	}
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(f.JSON()), answerLimits()) // the cluster's, if it is an alias's
	if err != nil {
		return nil
	}
	var out []string
	collectTexts(v, &out)
	slices.Sort(out)
	return slices.Compact(out)
}

func collectTexts(v esjson.Value, out *[]string) {
	if v.Is(esjson.String) || v.Is(esjson.Number) {
		addSecret(v.String(), out)
	}
	for key, m := range v.Members() {
		if key == "_index" {
			continue // names that the client may know
		}
		if !filterWords[key] {
			addSecret(key, out)
		}
		collectTexts(m, out)
	}
	for _, e := range v.Elements() {
		collectTexts(e, out)
	}
}

func addSecret(s string, out *[]string) {
	if len(s) >= minSecret {
		*out = append(*out, strings.Clone(s))
	}
}

// filterWords are keys of queries: any error may name them.
var filterWords = map[string]bool{
	"bool": true, "must": true, "filter": true, "should": true, "must_not": true, "minimum_should_match": true, "term": true, "terms": true,
	"range": true, "exists": true, "field": true, "match": true, "match_all": true, "match_none": true, "match_phrase": true, "prefix": true,
	"wildcard": true, "regexp": true, "fuzzy": true, "ids": true, "values": true, "value": true, "query": true, "query_string": true,
	"simple_query_string": true, "multi_match": true, "fields": true, "nested": true, "path": true, "gt": true, "gte": true, "lt": true, "lte": true,
	"boost": true, "constant_score": true, "dis_max": true, "queries": true, "score_mode": true, "operator": true, "default_operator": true,
	"default_field": true, "case_insensitive": true, "format": true, "time_zone": true, "script": true, "source": true, "lang": true, "params": true,
}
