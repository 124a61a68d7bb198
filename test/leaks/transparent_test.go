package leaks_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"guard/test/leaks"
)

// Channels whose requests are ambiguous or no requests at all: guard refuses those whoever sends them.
var ambiguous = []string{"URLT", "BODY", "HTTP"}

// noise is what differs between two answers to one request; _cat/count begins with the time.
var noise = regexp.MustCompile(`(?m)^\d{10} \d\d:\d\d:\d\d|"took":\d+|"(?:_scroll_id|pit_id)":"[^"]*"|"(?:creation_time|start_time_in_millis|running_time_in_nanos|id)":\d+|"@timestamp":"[^"]*"`)

// clocks are cases whose answers tell times or how much was done: no two are equal.
var clocks = []string{"PAGE-05a", "TMPL-01f", "META-02i", "META-02n", "OWN-META-02l", "OWN-META-02m"}

// bare sends the case to the node itself. Where it has to leak it proves that the
// attack works at all; and who may do all has to get the same through guard.
func bare(t *testing.T, direct, admin leaks.Target, c *leaks.Case, leaking bool) {
	t.Helper()
	if err := direct.World.Prepare(c); err != nil {
		t.Errorf("%s: %v", c.ID, err)
		return
	}
	want, err := direct.Run(c)
	if err != nil {
		t.Errorf("%s: control: %v", c.ID, err)
		return
	}
	if leaking && want.Verdict != leaks.Leak {
		t.Errorf("%s: control: %s does not leak on a bare node: %s\n%s", c.ID, c.Request.String(), want.Verdict, show(want))
	}
	// After a write the second answer would not be the first.
	if !plain(c) || direct.World.Written() {
		return
	}
	got, err := admin.Run(c)
	if err != nil {
		t.Errorf("%s: %v", c.ID, err)
		return
	}
	if want.Answer == nil || got.Answer == nil || want.Answer.Status != got.Answer.Status || canonical(want.Answer.Body) != canonical(got.Answer.Body) {
		t.Errorf("%s: %s\nguard answers one who may do all %s\nthe node answers %s", c.ID, c.Request.String(), show(got), show(want))
	}
}

// plain reports whether the case is one request that guard takes from those who may do all.
func plain(c *leaks.Case) bool {
	return c.Request.Raw == "" && c.Request.Auth == "" && len(c.Pre)+len(c.Verify) == 0 &&
		!slices.Contains(ambiguous, c.Channel) && !slices.Contains(clocks, c.ID)
}

// canonical is the body without noise, its keys in order.
func canonical(body []byte) string {
	body = noise.ReplaceAll(body, []byte(`"-":0`))
	var v any
	if json.Unmarshal(body, &v) != nil {
		return string(body)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return string(body)
	}
	return string(text)
}
