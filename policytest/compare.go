package policytest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"guard/config"
	"guard/explain"
	"guard/internal/ask"
)

// compare returns what of a report is not as it is wanted.
func compare(want *config.PolicyTestWant, r *explain.Report) []string {
	c := comparison{want: want, report: r}
	c.verdict()
	c.number("status", want.Status, r.Verdict.Status)
	c.text("reason", want.Reason, r.Verdict.Reason)
	if !strings.Contains(r.Verdict.Text, want.Says) {
		c.fault("says", want.Says, r.Verdict.Text)
	}
	c.missing()
	c.items()
	c.rules()
	c.call()
	return c.faults
}

// comparison collects what differs.
type comparison struct {
	want   *config.PolicyTestWant
	report *explain.Report
	faults []string
}

func (c *comparison) fault(key, want, got string) {
	c.faults = append(c.faults, fmt.Sprintf("%s: want %s; got %s", key, orNothing(want), orNothing(got)))
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

func (c *comparison) verdict() {
	want, got := c.want.Verdict, &c.report.Verdict
	switch {
	case want == config.VerdictAllowed && got.Effect != explain.Refused:
		if items := c.refusedItems(); len(items) > 0 && !c.want.Wants("refused_items") {
			c.fault("verdict", want, fmt.Sprint("refused items ", items))
		}
	case want == config.VerdictRefused && got.Effect == explain.Refused:
		if slices.Contains(wrongRequest, got.Reason) && !c.want.Wants("reason") && !c.want.Wants("status") && !c.want.Wants("says") {
			c.fault("verdict", "refused by the policy, or a reason", got.Sentence())
		}
	case want != "" && want != got.Effect:
		c.fault("verdict", want, got.Sentence())
	}
}

// wrongRequest are the reasons that say nothing of the policy: a slip in a test, as in the
// name of an endpoint, would pass for a refusal that is wanted.
var wrongRequest = []string{
	string(ask.ReasonUnknownEndpoint), string(ask.ReasonUnknownParam), string(ask.ReasonUnknownBody), string(ask.ReasonBadRequest),
}

func (c *comparison) number(key string, want, got int) {
	if c.want.Wants(key) && want != got {
		c.fault(key, fmt.Sprint(want), fmt.Sprint(got))
	}
}

func (c *comparison) text(key, want, got string) {
	if c.want.Wants(key) && want != got {
		c.fault(key, want, got)
	}
}

// set compares lists whose order tells nothing.
func (c *comparison) set(key string, want, got []string) {
	if !c.want.Wants(key) {
		return
	}
	want, got = sorted(want), sorted(got)
	if !slices.Equal(want, got) {
		c.fault(key, strings.Join(want, ", "), strings.Join(got, ", "))
	}
}

func sorted[T cmp.Ordered](list []T) []T { return slices.Compact(slices.Sorted(slices.Values(list))) }

// missing compares the cells that are not granted. A wanted one may leave its name out.
func (c *comparison) missing() {
	if !c.want.Wants("missing") {
		return
	}
	var got []string
	for i := range c.report.Parts {
		for _, cell := range c.report.Parts[i].Cells {
			switch named := cell.Action + " on " + cell.Name; {
			case cell.Granted:
			case cell.Name == "" || slices.Contains(c.want.Missing, cell.Action):
				got = append(got, cell.Action)
			default:
				got = append(got, named)
			}
		}
	}
	c.set("missing", c.want.Missing, got)
}

func (c *comparison) items() {
	if !c.want.Wants("refused_items") {
		return
	}
	want, got := sorted(c.want.Refused), c.refusedItems()
	if !slices.Equal(want, got) {
		c.fault("refused_items", fmt.Sprint(want), fmt.Sprint(got))
	}
}

// refusedItems lists the positions of items of which a part is refused, sorted, each once.
func (c *comparison) refusedItems() []int {
	var list []int
	for i := range c.report.Parts {
		if part := &c.report.Parts[i]; part.Item != nil && !part.Allowed {
			list = append(list, *part.Item)
		}
	}
	return sorted(list)
}

// rules compares what is reached and what binds it.
func (c *comparison) rules() {
	var reached []*explain.Group
	var indices []string
	for i := range c.report.Parts {
		part := &c.report.Parts[i]
		for j := range part.Groups {
			switch g := &part.Groups[j]; {
			case !part.Allowed:
			case !g.Nothing:
				reached, indices = append(reached, g), append(indices, g.Indices...)
			case c.want.Wants("documents") && len(c.want.Documents) == 0: // no rule is wanted, and the closest binds
				c.fault("documents", "no rule", "no document of "+strings.Join(g.Indices, ", "))
			}
		}
	}
	c.set("indices", c.want.Indices, indices)
	c.bound("documents", plainAll(c.want.Documents), reached, func(g *explain.Group) []string { return plainAll(g.Documents) })
	c.bound("fields", c.want.Fields, reached, func(g *explain.Group) []string { return g.Fields })
	c.bound("masks", c.want.Masks, reached, func(g *explain.Group) []string { return g.Masks })
}

// bound compares the rules of one kind. Where any are wanted, an index that none of them
// binds is a fault: beside one that is bound it would not be seen that it lies open.
func (c *comparison) bound(key string, want []string, reached []*explain.Group, of func(*explain.Group) []string) {
	var got []string
	for _, g := range reached {
		rules := of(g)
		if len(want) > 0 && len(rules) == 0 {
			c.fault(key, strings.Join(want, ", "), "nothing on "+strings.Join(g.Indices, ", "))
		}
		got = append(got, rules...)
	}
	c.set(key, want, got)
}

func plainAll(queries []string) (list []string) {
	for _, query := range queries {
		list = append(list, plain(query))
	}
	return list
}

// plain is JSON without what tells nothing: blanks. What is no JSON stays as it is.
func plain(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// call compares what the cluster gets.
func (c *comparison) call() {
	request, body := "", ""
	if f := c.report.Forward; f != nil {
		request, body = f.Method+" "+f.Target, f.Body
	}
	c.text("request", c.want.Request, request)
	if c.want.Wants("body") && !sameJSON(c.want.Body, body) {
		c.fault("body", strings.TrimSpace(c.want.Body), strings.TrimSpace(body))
	}
}

// sameJSON compares values, one after the other, whatever the order of their keys.
func sameJSON(a, b string) bool {
	x, errX := values(a)
	y, errY := values(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

func values(text string) (list []any, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	for {
		var v any
		err := dec.Decode(&v)
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("cannot read JSON: %w", err)
		}
		list = append(list, v)
	}
}
