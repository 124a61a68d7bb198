package integration_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/test/guardproc"
	"guard/test/integration"
	"guard/test/testbed"
)

// everythingRoles are the ways to be restricted to everything: the request is parsed,
// rewritten and its answer filtered, and nothing may differ.
const everythingRoles = `
all_rows: {cluster_permissions: ["*"], index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"], dls: '{"match_all":{}}'}]}
all_fields: {cluster_permissions: ["*"], index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"], fls: ["~no_such_field"]}]}
`

// ownRefusal is what guard says of a construct that it refuses under a rule.
var ownRefusal = regexp.MustCompile(`is not (supported|built) yet|is refused: |a (document|field) rule|unknown (clause|key|parameter)`)

// TestTransparency: for a user without rules, and for users restricted to everything,
// an answer through guard is the answer of the cluster: status, headers and body.
func TestTransparency(t *testing.T) {
	opaque, err := integration.ReadOpaque("testdata/opaque.yml")
	if err != nil {
		t.Fatal(err)
	}
	node := shared(t)
	files := policy(t, integration.Strict)
	files["roles.yml"] += everythingRoles
	files["roles_mapping.yml"] += "\nall_rows: {users: [few, both]}\nall_fields: {users: [multi, both]}\n"
	for _, role := range []string{"few_fields: {users: [few]}\n", "red_rows_no_card: {users: [both]}\n", "blue_rows_us: {users: [multi]}\n", "low_grades: {users: [multi]}\n"} {
		files["roles_mapping.yml"] = strings.Replace(files["roles_mapping.yml"], role, "", 1)
	}
	files["roles_mapping.yml"] = strings.Replace(files["roles_mapping.yml"], "users: [dls, multi]", "users: [dls]", 1)
	guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, files), Upstream: node.URL}).Client

	for _, who := range []struct{ user, is string }{
		{"admin", "without rules"}, {"few", "all rows"}, {"multi", "all fields"}, {"both", "all rows and all fields"},
	} {
		t.Run(who.is, func(t *testing.T) {
			equal, listed, refused := 0, 0, map[string]int{}
			for _, c := range reads(t) {
				c.As = who.user
				got, err := c.Do(guard, password)
				if err != nil {
					t.Fatal(err)
				}
				c.As = "-"
				want, err := c.Do(node.Client, "")
				if err != nil {
					t.Fatal(err)
				}
				if why := ownRefusal.FindString(string(got.Body)); who.user != "admin" && got.Status == http.StatusForbidden && (why != "" || strings.HasPrefix(c.Send, "HEAD")) {
					refused[why]++
					continue
				}
				switch diff := difference(want, got); {
				case diff == "":
					equal++
				case who.user != "admin" && opaque.Explains(c):
					listed++
				default:
					t.Errorf("%s %.300s differs (-direct +guard):\n%s", c.Send, c.Body, diff)
				}
			}
			t.Logf("%d answers are equal, %d listed deviations, refused: %v", equal, listed, refused)
		})
	}
}

// reads returns the requests of the table that change nothing, each once.
func reads(t *testing.T) []integration.Case {
	t.Helper()
	cases, err := integration.ReadCases(casesFile)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(cases, func(c integration.Case) bool {
		method, path, _ := strings.Cut(c.Send, " ")
		path, _, _ = strings.Cut(path, "?")
		last := path[strings.LastIndexByte(path, '/')+1:]
		reading := method == "GET" || method == "HEAD" || slices.Contains([]string{"_search", "_count", "_msearch", "_mget", "_field_caps", "_refresh"}, last)
		again := seen[c.Send+c.Body]
		seen[c.Send+c.Body] = true
		return again || !reading || len(c.Before)+len(c.After) > 0 || c.As == "-" || strings.Contains(c.As, ":")
	})
}

// hops are headers that belong to a connection or tell the time.
var hops = []string{"Connection", "Keep-Alive", "Transfer-Encoding", "Date", "Content-Length"}

// difference compares two answers in depth, but for what differs between two runs.
func difference(direct, guard testbed.Response) string {
	type whole struct {
		Status int
		Header http.Header
		Body   any
	}
	form := func(res testbed.Response) whole {
		h := maps.Clone(res.Header)
		for _, name := range hops {
			h.Del(name)
		}
		return whole{res.Status, h, steady(res.Body)}
	}
	return cmp.Diff(form(direct), form(guard))
}

// steady parses a body, numbers as they are written, and drops the time it took.
func steady(body []byte) any {
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return string(body)
	}
	return withoutTook(v)
}

func withoutTook(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "took")
		for key := range v {
			v[key] = withoutTook(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withoutTook(v[i])
		}
	}
	return v
}
