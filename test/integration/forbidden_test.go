package integration_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/test/guardproc"
	"guard/test/testbed"
)

// pubPolicy lets the user pub do everything on pub*, by the rules of "v4".
func pubPolicy(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"config.yml":         "_meta: {type: config, config_version: 2}\nconfig:\n  dynamic:\n    privileges_evaluation_type: v4\n    authc:\n      basic:\n        http_authenticator: {type: basic}\n        authentication_backend: {type: internal}\n",
		"internal_users.yml": guardproc.Section(t, "internalusers", map[string]any{"pub": map[string]any{"hash": guardproc.Hash(t, password)}}),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", map[string]any{"pub": map[string]any{"users": []string{"pub"}}}),
		"roles.yml": guardproc.Section(t, "roles", map[string]any{"pub": map[string]any{
			"cluster_permissions": []string{"*"},
			"index_permissions":   []any{map[string]any{"index_patterns": []string{"pub*"}, "allowed_actions": []string{"*"}}},
		}}),
	}
}

// spelling are requests that would spell out names which begin with sec, .sec or sx. Those
// marked by '=' are answered as the cluster itself answers where it has no such name.
var spelling = []string{
	"=GET /sec-*/_search?allow_no_indices=false", "=GET /sec-*,pub-1/_search?allow_no_indices=false", "=GET /.s*/_count?allow_no_indices=false",
	"=GET /sec-*/_mapping?allow_no_indices=false", "GET /s*?allow_no_indices=false", "=HEAD /sec-*?allow_no_indices=false",
	"=GET /_resolve/index/sec-*?allow_no_indices=false", "=GET /sec-*/_field_caps?fields=*&allow_no_indices=false",
	"=GET /sec-*/_alias?allow_no_indices=false", "=GET /_cat/indices/sec-*?allow_no_indices=false", "=POST /sec-*/_refresh?allow_no_indices=false",
	"=DELETE /sec-*?allow_no_indices=false", "GET /sec-*/_search", "GET /sec-*/_count?expand_wildcards=closed", "GET /sec-*/_alias?expand_wildcards=closed",
	"GET /_resolve/index/sx*?expand_wildcards=none", "GET /_resolve/index/sx*", "GET /pub-1,sec-*/_count?expand_wildcards=closed&allow_no_indices=false",
	"GET /sec-1/_search", "GET /sec-1,pub-1/_count?ignore_unavailable=true", "GET /pub-*,-sx*/_count", "GET /*,-sec-1/_count", "GET /_cluster/health/sec-*",
	`POST /_msearch {"index":["sec-*","pub-1"],"allow_no_indices":false}` + "\n{}\n", `POST /_msearch {"index":["sec-*"],"expand_wildcards":"closed"}` + "\n{}\n",
	`=POST /_aliases {"actions":[{"add":{"index":"sec-*","alias":"pub-al"}}]}`, `=POST /_aliases {"actions":[{"add":{"indices":["pub-1","sec-*"],"alias":"pub-al"}}]}`,
	`POST /_aliases {"actions":[{"add":{"index":"sec-1","alias":"pub-al"}}]}`, "DELETE /*/_alias/sx-al", "=PUT /sec-*/_alias/pub-al",
}

// TestForbiddenIsMissing holds on a real cluster that what is not granted and what does not
// exist are answered alike, and as the cluster answers.
func TestForbiddenIsMissing(t *testing.T) {
	node := shared(t)
	t.Cleanup(func() {
		for _, name := range []string{"pub-1", "pub-seen", "sec-1", "sec-2", ".sec-dot", "zz-1"} {
			apply(t, node, "DELETE /"+name+"?ignore_unavailable=true")
		}
	})
	apply(t, node, `PUT /pub-1/_doc/1?refresh=true {"a":1}`)
	guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, pubPolicy(t)), Upstream: node.URL}).As("pub", password)
	answers := func(target testbed.Client) map[string]string {
		got := map[string]string{}
		for _, line := range spelling {
			got[line] = answerTo(t, target, strings.TrimPrefix(line, "="))
		}
		return got
	}
	missing := answers(guard)
	for _, line := range spelling {
		own, ok := strings.CutPrefix(line, "=")
		if !ok {
			continue
		}
		if want := answerTo(t, node.Client, own); withoutHeader(missing[line]) != withoutHeader(want) {
			t.Errorf("%s\n got %s\nwant %s, as the cluster says", own, missing[line], want)
		}
	}
	for _, line := range []string{
		`PUT /sec-1/_doc/1?refresh=true {"a":1}`, `PUT /.sec-dot {"settings":{"index.hidden":true}}`, `PUT /sec-2`, `POST /sec-2/_close`,
		`PUT /zz-1 {"aliases":{"sx-al":{}}}`, `PUT /pub-1/_alias/sx-2`, "PUT /pub-seen",
	} {
		apply(t, node, line)
	}
	within(t, 10*time.Second, "200", func() string {
		res, err := guard.Do("HEAD", "/pub-se*?allow_no_indices=false", "")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(res.Status)
	})
	apply(t, node, "DELETE /pub-seen")
	within(t, 10*time.Second, "404", func() string {
		res, err := guard.Do("HEAD", "/pub-se*?allow_no_indices=false", "")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(res.Status)
	})
	forbidden := answers(guard)
	for _, line := range spelling {
		if forbidden[line] != missing[line] {
			t.Errorf("%s\nwithout them %s\n   with them %s", line, missing[line], forbidden[line])
		}
	}
}

var took = regexp.MustCompile(`"took":\d+`)

// answerTo sends "METHOD PATH BODY" and returns the whole answer: status, headers and body.
func answerTo(t *testing.T, target testbed.Client, line string) string {
	t.Helper()
	method, rest, _ := strings.Cut(line, " ")
	path, body, _ := strings.Cut(rest, " ")
	res, err := target.Do(method, path, body)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return fmt.Sprintf("%d %s\n%s", res.Status, headersOf(res.Header), took.ReplaceAll(res.Body, []byte(`"took":0`)))
}

func headersOf(h http.Header) string {
	h.Del("Date")
	var list []string
	for _, key := range slices.Sorted(maps.Keys(h)) {
		list = append(list, key+": "+strings.Join(h[key], ", "))
	}
	return strings.Join(list, "; ")
}

// withoutHeader returns the status and the body of an answer.
func withoutHeader(answer string) string {
	head, body, _ := strings.Cut(answer, "\n")
	status, _, _ := strings.Cut(head, " ")
	return status + " " + body
}
