package gate

import (
	"strings"

	"guard/internal/esjson"
	"guard/internal/query"
)

// cleanError is cleanErrorUnder where no filter was added.
func cleanError(a Answer) (Answer, error) { return cleanErrorUnder(a, query.Free) }

// cleanErrorUnder keeps of an error of the cluster what its shape needs: types, and
// reasons that do not print the query that ran. What is not JSON is replaced.
func cleanErrorUnder(a Answer, filter query.Filter) (Answer, error) {
	if len(a.Body) == 0 {
		return a, nil // the answer to a HEAD
	}
	out, err := cleanReasons(a, filter)
	if err != nil {
		out = a
		out.Body = []byte(`{"error":{"root_cause":[{"type":"exception","reason":"the cluster failed"}],"type":"exception","reason":"the cluster failed"}}`)
		out.ContentType = jsonType
	}
	return out, nil
}

// dropped are members of errors that show the inside of the cluster or repeat the
// request as it ran.
var dropped = map[string]bool{"stack_trace": true, "node": true, "script_stack": true, "script": true, "suppressed": true, "failed_shards": true}

// cleanReasons prints an answer again, each "reason" text inside an error or failure
// cut where a query begins, and replaced where it names a value of the filter.
func cleanReasons(a Answer, filter query.Filter) (Answer, error) {
	var tape esjson.Tape
	v, err := parseAnswer(&tape, a)
	if err != nil {
		return Answer{}, err
	}
	c := cleaner{secrets: filterTexts(filter)}
	c.w.Reset(make([]byte, 0, len(a.Body)))
	c.value(v, false)
	a.Body = c.w.Bytes()
	return a, nil
}

type cleaner struct {
	w       esjson.Writer
	secrets []string
}

// value prints v; inside tells that v belongs to an error or a failure.
func (c *cleaner) value(v esjson.Value, inside bool) {
	switch {
	case v.Is(esjson.Object):
		c.w.BeginObject()
		for key, m := range v.Members() {
			if inside && dropped[key] {
				continue
			}
			c.w.Key(key)
			if inside && key == "reason" && m.Is(esjson.String) {
				c.w.Text(c.reason(m.String()))
				continue
			}
			c.value(m, inside || key == "error" || key == "failures" || key == "_shards")
		}
		c.w.EndObject()
	case inside && v.Is(esjson.Array):
		c.w.BeginArray()
		for _, e := range v.Elements() {
			c.value(e, true)
		}
		c.w.EndArray()
	default:
		c.w.Value(v)
	}
}

// reason returns what of a reason may be sent.
func (c *cleaner) reason(text string) string {
	if i := strings.IndexAny(text, "{\n"); i >= 0 {
		text = strings.TrimRight(text[:i], " :[")
	}
	for _, s := range c.secrets {
		if strings.Contains(text, s) {
			return "the query failed"
		}
	}
	return text
}

// minSecret is the length from which a text of a filter is looked for in reasons:
// shorter ones stand in any sentence.
const minSecret = 3

// filterTexts lists the texts of a filter, keys of its clauses apart.
func filterTexts(f query.Filter) []string {
	if f == query.Free || f == query.None {
		return nil
	}
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, []byte(f.JSON()), esjson.RequestLimits())
	if err != nil {
		return nil
	}
	var out []string
	collectTexts(v, &out)
	return out
}

func collectTexts(v esjson.Value, out *[]string) {
	if v.Is(esjson.String) || v.Is(esjson.Number) {
		if s := v.String(); len(s) >= minSecret {
			*out = append(*out, strings.Clone(s))
		}
	}
	for key, m := range v.Members() {
		if key != "_index" { // names that the client may know
			collectTexts(m, out)
		}
	}
	for _, e := range v.Elements() {
		collectTexts(e, out)
	}
}
