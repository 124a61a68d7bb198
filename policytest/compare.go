package policytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"guard/config"
	"guard/explain"
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
	want, got := c.want.Verdict, c.report.Verdict.Effect
	allowed := want == config.VerdictAllowed && got != explain.Refused
	if want != "" && want != got && !allowed {
		c.fault("verdict", want, c.report.Verdict.Sentence())
	}
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

func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

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
	var got []int
	for i := range c.report.Parts {
		if part := &c.report.Parts[i]; part.Item != nil && !part.Allowed {
			got = append(got, *part.Item)
		}
	}
	if want := slices.Sorted(slices.Values(c.want.Refused)); !slices.Equal(want, got) {
		c.fault("refused_items", fmt.Sprint(want), fmt.Sprint(got))
	}
}

// rules compares what is reached and what binds it.
func (c *comparison) rules() {
	var indices, documents, fields, masks []string
	for i := range c.report.Parts {
		part := &c.report.Parts[i]
		if !part.Allowed {
			continue
		}
		for _, g := range part.Groups {
			if g.Nothing {
				continue
			}
			indices = append(indices, g.Indices...)
			for _, query := range g.Documents {
				documents = append(documents, plain(query))
			}
			fields, masks = append(fields, g.Fields...), append(masks, g.Masks...)
		}
	}
	var want []string
	for _, query := range c.want.Documents {
		want = append(want, plain(query))
	}
	c.set("indices", c.want.Indices, indices)
	c.set("documents", want, documents)
	c.set("fields", c.want.Fields, fields)
	c.set("masks", c.want.Masks, masks)
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
	for dec.More() {
		var v any
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("cannot read JSON: %w", err)
		}
		list = append(list, v)
	}
	return list, nil
}
