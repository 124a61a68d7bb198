package main

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/explain"
	"guard/test/guardproc"
	"guard/test/written"
)

const (
	sampleSecurity = "../../deploy/sample/security"
	sampleState    = "../../deploy/sample/tests/state.json"
	sampleTests    = "../../deploy/sample/tests/policy.yml"
)

// explained asks guard explain for JSON about the sample.
func explained(t *testing.T, args ...string) explain.Report {
	t.Helper()
	out, err := command(t, "", append([]string{"explain", "--security", sampleSecurity, "--state", sampleState, "--format", "json"}, args...)...)
	if err != nil {
		t.Fatalf("guard explain %q: %v\n%s", args, err, out)
	}
	var r explain.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return r
}

// TestExplain: a report has who asks and why he has his roles, what is asked of which
// entry, which rules bind and what the cluster gets.
func TestExplain(t *testing.T) {
	r := explained(t, "--user", "anna", "POST", "/cust*,nosuch/_search?ignore_unavailable=true", `{"query":{"term":{"name":"Ada"}}}`)
	if r.Verdict.Effect != explain.Forwarded || r.Request.Template != "/{index}/_search" || r.Cluster.Engine != "opensearch 2.19.4" {
		t.Errorf("got %+v of %+v on %+v", r.Verdict, r.Request, r.Cluster)
	}
	role := []explain.Role{{Name: "analyst_north", Defined: true, By: []string{"backend_roles [analysts] (" + sampleSecurity + "/roles_mapping.yml:7)"}}}
	if diff := cmp.Diff(role, r.User.Roles); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
	if len(r.Parts) != 1 {
		t.Fatalf("got parts %+v; want one", r.Parts)
	}
	part := r.Parts[0]
	if diff := cmp.Diff([]explain.Group{{Indices: []string{"customers"}, Documents: []string{`{"term": {"region": "north"}}`}}}, part.Groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if !part.Allowed || len(part.Cells) == 0 || !part.Cells[0].Granted || part.Cells[0].Entries[0].Path != "analyst_north.index_permissions[0]" {
		t.Errorf("got part %+v; want it granted by the first entry of analyst_north", part)
	}
	if r.Forward == nil || !strings.Contains(r.Forward.Body, `"region"`) || strings.Contains(r.Forward.Target, "*") {
		t.Errorf("got forwarded %+v; want the rule in it and names written out", r.Forward)
	}
}

// TestExplainRefusal: a refusal names what is missing and who has it.
func TestExplainRefusal(t *testing.T) {
	r := explained(t, "-u", "sam", "DELETE", "/customers")
	want := []explain.Cell{{Action: "indices:admin/delete", Name: "customers", Roles: []string{"all_access"}, Entries: []explain.Entry{{Path: "all_access"}}}}
	if r.Verdict.Effect != explain.Refused || r.Verdict.Status != 403 || r.Forward != nil || len(r.Parts) != 1 {
		t.Fatalf("got %+v, forwarded %+v, parts %+v", r.Verdict, r.Forward, r.Parts)
	}
	if diff := cmp.Diff(want, r.Parts[0].Cells); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

// TestExplainBulk: each item of a bulk is a part, and what the cluster gets has only those
// that are allowed.
func TestExplainBulk(t *testing.T) {
	files := reader(t, "writer", "orders-*")
	files["roles.yml"] = guardproc.Section(t, "roles", map[string]any{"writer": map[string]any{
		"cluster_permissions": []string{"cluster_composite_ops"},
		"index_permissions":   []any{map[string]any{"index_patterns": []string{"orders-*"}, "allowed_actions": []string{"write"}}},
	}})
	out, err := command(t, "", "explain", "--security", guardproc.WriteSecurity(t, files), "--state", sampleState, "--format", "json",
		"--user", "anna", "POST", "/_bulk", "{\"delete\":{\"_index\":\"customers\",\"_id\":\"1\"}}\n{\"delete\":{\"_index\":\"orders-2025\",\"_id\":\"2\"}}\n")
	var r explain.Report
	if err != nil || json.Unmarshal([]byte(out), &r) != nil || len(r.Parts) != 3 || r.Forward == nil {
		t.Fatalf("got %v, parts %+v, forwarded %+v:\n%s", err, r.Parts, r.Forward, out)
	}
	first, second := r.Parts[1], r.Parts[2]
	if *first.Item != 0 || first.Allowed || *second.Item != 1 || !second.Allowed {
		t.Errorf("got items %+v and %+v; want the first refused alone", first, second)
	}
	if strings.Contains(r.Forward.Body, "customers") || !strings.Contains(r.Forward.Body, "orders-2025") {
		t.Errorf("the cluster gets %s; want the second item alone", r.Forward.Body)
	}
}

// TestExplainAsks: what is asked of the cluster before a request can be decided is shown.
func TestExplainAsks(t *testing.T) {
	r := explained(t, "--user", "anna", "GET", "/customers/_doc/c1")
	if r.Verdict.Effect != explain.Asks || len(r.Calls) == 0 || !strings.Contains(r.Calls[0].Body, "north") || r.Forward != nil {
		t.Errorf("got %+v with calls %+v; want the search under the rule", r.Verdict, r.Calls)
	}
}

// TestExplainForms: text and page say what JSON says, and a page escapes what it shows.
func TestExplainForms(t *testing.T) {
	for _, form := range []string{"text", "html"} {
		out, err := command(t, "", "explain", "--security", sampleSecurity, "--state", sampleState, "--format", form,
			"--user", "<b>x", "--backend-role", "support", "GET", "/customers/_search")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"support_agent", "roles_mapping.yml:9", "indices:data/read/search", "customers", "~iban"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not say %q:\n%s", form, want, out)
			}
		}
		if form == "html" && strings.Contains(out, "<b>x") {
			t.Error("the page holds a name as markup")
		}
	}
}

// TestExplainText: nothing of a request begins a line of its own or commands a terminal.
func TestExplainText(t *testing.T) {
	out, err := command(t, "", "explain", "--security", sampleSecurity, "--state", sampleState, "-u", "anna", "GET", "/x%0aFORWARDED%09%1b[2J/_count")
	if err != nil || !strings.Contains(out, "[x FORWARDED \ufffd[2J]") || strings.Contains(out, "\nFORWARDED") || strings.Contains(out, "\x1b") {
		t.Errorf("got %v:\n%q", err, out)
	}
}

// TestExplainScreens: what never comes to a plan is refused as serve refuses it, and names
// the endpoint all the same.
func TestExplainScreens(t *testing.T) {
	f := func(user, target, endpoint string, status int, text string, more ...string) {
		t.Helper()
		r := explained(t, append([]string{"-u", user, "POST", target, "{}"}, more...)...)
		if v := r.Verdict; v.Effect != explain.Refused || v.Status != status || !strings.Contains(v.Text, text) || r.Request.Endpoint != endpoint {
			t.Errorf("%s by %s: got %+v of endpoint %q", target, user, v, r.Request.Endpoint)
		}
	}
	f("admin", "/customers/_search?q=a b", "search", 400, "byte 0x20 at offset 22 of the target; want it percent-encoded")
	f("anna", "/customers/_search?q=Zo\u00eb", "search", 400, "want it percent-encoded")
	f("anna", "/customers/_search", "search", 406, "[text/plain] is not supported", "--content-type", "text/plain")
	f("anna", "/customers/../_search", "", 400, "dot segments are not resolved")
	f("anna", "/customers/_nosuch", "", 403, "unknown endpoint")
}

// TestExplainCurl: a curl line is read as curl would send it, without its password.
func TestExplainCurl(t *testing.T) {
	f := func(method, target, body, user, contentType string, words ...string) {
		t.Helper()
		q, err := parseCurl(words)
		if err != nil {
			t.Errorf("curl %q: %v", words, err)
			return
		}
		got := []string{q.method, q.target, string(q.body), q.who.Name, q.contentType}
		if diff := cmp.Diff([]string{method, target, body, user, contentType}, got); diff != "" {
			t.Errorf("curl %q (-want +got):\n%s", words, diff)
		}
	}
	const form, js = "application/x-www-form-urlencoded", "application/json"
	f("GET", "/_cat/indices?v", "", "anna", "", "-sku", "anna:pw", "https://h:9200/_cat/indices?v")
	f("POST", "/a/_search", `{"a":1}`, "", js, "-H", "Content-Type: application/json", "h/a/_search", "-d", `{"a":1}`)
	f("POST", "/a/_search", "x", "", form, "h/a/_search", "-dx")
	f("PUT", "/a", "{}", "", js, "--json", "{}", "-XPUT", "http://h/a")
	f("GET", "/a?q=1&b=2", "", "", form, "-G", "http://h/a?q=1", "-d", "b=2")
	f("HEAD", "/", "", "", "", "-I", "http://h")
	f("POST", "/a/_refresh", "", "", form, "-d", "", "h/a/_refresh")
	f("GET", "/a", "", "anna", "", "anna:pw@h/a")
	f("GET", "/a", "", "sam", "", "https://anna:pw@h/a", "-u", "sam:pw")
	f("POST", "/a", "{}", "anna", js, "https://h/a", "-H", "content-type: application/json", "-H", "Authorization: Basic YW5uYTpwdw==", "-b", "c=1", "--data-raw", "{}", "--compressed")

	for _, words := range [][]string{{"--proxy", "x", "h"}, {"-sZ", "h"}, {"-X"}, {}, {"http://a/", "http://b/"}} {
		if q, err := parseCurl(words); err == nil {
			t.Errorf("curl %q: got %+v; want an error", words, q)
		}
	}
}

// TestExplainCurlFlags: what flags say wins over what the curl line says, each by itself.
func TestExplainCurlFlags(t *testing.T) {
	r := explained(t, "--backend-role", "support", "--content-type", "application/json", "--", "curl", "-u", "new:pw", "h/customers/_search", "-d", "{}")
	if r.User.Name != "new" || len(r.User.Roles) != 1 || r.User.Roles[0].Name != "support_agent" || r.Verdict.Effect != explain.Forwarded {
		t.Errorf("got %+v for %+v; want it forwarded for new with the role of support", r.Verdict, r.User)
	}
}

func TestExplainRefuses(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		if out, err := command(t, "", append([]string{"explain", "--security", sampleSecurity}, args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("guard explain %q: got %v, printed %q; want an error with %q", args, err, out, want)
		}
	}
	f("nobody sends the request", "--state", sampleState, "GET", "/")
	f(`no account "nosuch"`, "--state", sampleState, "-u", "nosuch", "GET", "/")
	f(`attribute "dept"`, "--state", sampleState, "-u", "x", "--attr", "dept=1", "GET", "/")
	f("want METHOD TARGET [BODY]", "--state", sampleState, "-u", "anna", "GET")
	f(`--format "xml"`, "--format", "xml", "-u", "anna", "GET", "/")
	f("cannot read the target; want a path", "--state", sampleState, "-u", "anna", "GET", "http://anna:p%w@h/")
	f("cannot read the target; want a path", "--state", sampleState, "-u", "anna", "GET", "customers/_search")
	f("guard explain wants METHOD TARGET [BODY]")
	f("cannot open the saved state", "--state", "nosuch.json", "-u", "anna", "GET", "/")
	f("cannot read the saved state", "--state", sampleTests, "-u", "anna", "GET", "/")
}

// TestStateFile: a state is written over no device or pipe, and over no folder.
func TestStateFile(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	if err := syscall.Mkfifo(state, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{state, filepath.Dir(state)} {
		if err := writeState(nil, file); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%s: got %v; want it refused", file, err)
		}
	}
}

// TestPolicyTests: the tests of the sample pass and use every entry of its roles.
func TestPolicyTests(t *testing.T) {
	junit := filepath.Join(t.TempDir(), "results.xml")
	out, err := command(t, "", "test", "--security", sampleSecurity, "--junit", junit, "--min-coverage", "100", sampleTests)
	if err != nil || !strings.Contains(out, "10 tests, 0 failed\n") || !strings.Contains(out, "(100 %)") {
		t.Errorf("got %v:\n%s", err, out)
	}
	xml, err := os.ReadFile(junit) //nolint:gosec // G304: of this test
	if err != nil || !strings.Contains(string(xml), `<testsuite name="guard test" tests="10" failures="0">`) {
		t.Errorf("got JUnit %s, %v", xml, err)
	}
}

// TestPolicyTestsFail: each thing that can be wanted fails where it is not so, and says
// what is.
func TestPolicyTestsFail(t *testing.T) {
	f := func(test, want string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "tests.yml")
		if err := os.WriteFile(file, []byte("tests:\n  - "+test+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := command(t, "", "test", "--security", sampleSecurity, "--state", sampleState, file)
		if !errors.Is(err, errTold) || !strings.Contains(out, want) {
			t.Errorf("%s: got %v; want a failure with %q:\n%s", test, err, want, out)
		}
	}
	f(`{as: {user: anna, by: sam}, send: GET /customers/_search, want: allowed}`, "verdict: want allowed; got REFUSED")
	f(`{as: {user: root, admin: true}, send: GET /, want: allowed}`, `no administrator "root"`)
	f(`{as: anna, send: GET /customers/_search, want: refused}`, "verdict: want refused; got FORWARDED")
	f(`{as: anna, send: DELETE /customers, want: allowed}`, "verdict: want allowed; got REFUSED")
	f(`{as: anna, send: DELETE /customers, want: {status: 404}}`, "status: want 404; got 403")
	f(`{as: anna, send: DELETE /customers, want: {reason: x}}`, "reason: want x; got no_privilege")
	f(`{as: anna, send: DELETE /customers, want: {says: xyz}}`, "says: want xyz; got ")
	f(`{as: anna, send: DELETE /customers, want: {missing: []}}`, "missing: want nothing; got indices:admin/delete on customers")
	f(`{as: anna, send: GET /customers/_search, want: {indices: []}}`, "indices: want nothing; got customers")
	f(`{as: anna, send: GET /customers/_search, want: {documents: []}}`, `documents: want nothing; got {"term":{"region":"north"}}`)
	f(`{as: sam, send: GET /customers/_search, want: {fields: [~iban]}}`, "fields: want ~iban; got ~birthday, ~iban")
	f(`{as: {user: x, backend_roles: [analysts, support]}, send: "GET /logs-shop,orders-2025/_count", want: {documents: ['{"term":{"region":"north"}}']}}`, `documents: want {"term":{"region":"north"}}; got nothing on .ds-logs-shop-000001`)
	f(`{as: sam, send: GET /customers/_search, want: {masks: [x]}}`, "masks: want x; got nothing")
	f(`{as: anna, send: GET /customers/_search, want: {request: GET /x}}`, "request: want GET /x; got ")
	f(`{as: anna, send: GET /customers/_search, want: {body: "{}"}}`, "body: want {}; got ")
	f(`{as: admin, send: {request: POST /_bulk, body: "{}"}, want: {refused_items: [1]}}`, "refused_items: want [1]; got []")
	f(`{as: anna, send: {request: POST /_mget, body: '{"docs": [{"_index": "logs-shop", "_id": "1"}]}'}, want: allowed}`, "verdict: want allowed; got refused items [0]")
	f(`{as: anna, send: GET /customers/_serach, want: refused}`, "verdict: want refused by the policy, or a reason; got REFUSED with 403, unknown endpoint")
	f(`{as: anna, send: {request: POST /customers/_search, body: "{"}, want: refused}`, "verdict: want refused by the policy, or a reason; got REFUSED with 400, bad request")
	f(`{as: anna, send: GET /customers/_mapping, want: {body: "}"}}`, "body: want }; got nothing")
	f(`{as: nosuch, send: GET /, want: allowed}`, `no account "nosuch"`)
}

// TestPolicyTestsNothing: that no document is shown, for want of an attribute, does not pass
// for no rule.
func TestPolicyTestsNothing(t *testing.T) {
	files := reader(t, "own", "orders-*")
	files["roles.yml"] = guardproc.Section(t, "roles", map[string]any{"own": map[string]any{
		"index_permissions": []any{map[string]any{
			"index_patterns": []string{"orders-*"}, "allowed_actions": []string{"read"}, "dls": `{"term":{"region":"${attr.internal.region}"}}`,
		}},
	}})
	file := filepath.Join(t.TempDir(), "tests.yml")
	if err := os.WriteFile(file, []byte("tests:\n  - {as: anna, send: GET /orders-2025/_search, want: {verdict: forwarded, documents: []}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(t, "", "test", "--security", guardproc.WriteSecurity(t, files), "--state", sampleState, file)
	if !errors.Is(err, errTold) || !strings.Contains(out, "documents: want no rule; got no document of orders-2025") {
		t.Errorf("got %v:\n%s", err, out)
	}
}

// TestPolicyTestsFaults: what is wrong with a file of tests is told with its place, all at once.
func TestPolicyTestsFaults(t *testing.T) {
	_, err := config.ParsePolicyTests("t.yml", []byte("tests:\n  - {as: {}, send: GET, want: maybe, woont: 1}\n  - {as: x, send: {request: \"GET /a {}\", body: b}, want: {}}\n"))
	var faults config.Faults
	if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Line != 2 || !strings.Contains(faults[0].Msg, "woont") {
		t.Errorf("got %v; want the unknown key alone, before anything else is looked at", err)
	}
	_, err = config.ParsePolicyTests("t.yml", []byte("tests:\n  - {as: {}, send: GET, want: maybe}\n  - {as: x, send: {request: \"GET /a {}\", body: b}, want: {}}\n"))
	if !errors.As(err, &faults) || len(faults) != 5 {
		t.Errorf("got %v; want five faults", err)
	}
	_, err = config.ParsePolicyTests("t.yml", []byte("tests:\n  - {as: x, send: GET /, want: {verdict: '', says: ''}}\n"))
	if !errors.As(err, &faults) || len(faults) != 2 {
		t.Errorf("got %v; want both wishes refused that nothing can fail", err)
	}
	_, err = config.ParsePolicyTests("t.yml", []byte("state: x\n"))
	if !errors.As(err, &faults) || len(faults) != 1 {
		t.Errorf("got %v; want a file without tests refused", err)
	}
}

var update = flag.Bool("update", false, "write the outputs in docs/explain.md anew")

// TestExplainDocs holds docs/explain.md to what the commands print.
func TestExplainDocs(t *testing.T) {
	f := func(block string, failing bool, args ...string) {
		t.Helper()
		out, err := command(t, "", args...)
		if (err != nil) != failing {
			t.Fatalf("guard %q: %v", args, err)
		}
		text := "    $ guard " + strings.Join(args, " ") + "\n\n"
		for line := range strings.Lines(out) {
			text += strings.TrimRight("    "+line, " \n") + "\n"
		}
		written.Block(t, "docs/explain.md", block, strings.TrimRight(text, "\n")+"\n", *update)
	}
	t.Chdir("../..")
	const security, state = "deploy/sample/security", "deploy/sample/tests/state.json"
	f("explained", false, "explain", "--security", security, "--state", state, "--user", "anna", "GET", "/cust*/_search?q=name:Ada")
	f("refused", false, "explain", "--security", security, "--state", state, "--user", "sam", "DELETE", "/customers")
	f("tested", false, "test", "--security", security, "deploy/sample/tests/policy.yml")
}

// identitiesConfig is a configuration for the sample in which sam may ask in anna's name.
func identitiesConfig(t *testing.T) string {
	t.Helper()
	security, err := filepath.Abs(sampleSecurity)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "guard.yml")
	text := "security: " + security + "\nupstream: {urls: [\"http://127.0.0.1:1\"]}\npolicy: {admin_dn: [\"CN=root,OU=ops\"], impersonation: {sam: [anna, nobody]}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestExplainIdentities: who asks in another's name is decided on as the other, and who is an
// administrator by no role at all; a report names both.
func TestExplainIdentities(t *testing.T) {
	file := identitiesConfig(t)
	asked := func(args ...string) explain.Report {
		t.Helper()
		out, err := command(t, "", append([]string{"explain", "--config", file, "--state", sampleState, "--format", "json"}, args...)...)
		if err != nil {
			t.Fatalf("guard explain %q: %v\n%s", args, err, out)
		}
		var r explain.Report
		_, report, _ := strings.Cut(out, "\n") // behind the warning that nobody can log in as an administrator
		if err := json.Unmarshal([]byte(report), &r); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return r
	}
	request := []string{"GET", "/customers/_search"}
	own := asked(append([]string{"--user", "anna"}, request...)...)
	by := asked(append([]string{"--user", "anna", "--by", "sam"}, request...)...)
	if by.User.By != "sam" {
		t.Errorf("got %+v; want who asks in it", by.User)
	}
	by.User.By = ""
	if diff := cmp.Diff(own, by); diff != "" {
		t.Errorf("reports of anna (-herself +asked by sam):\n%s", diff)
	}
	for _, other := range []string{"sam", "nosuch", "CN=root,OU=ops"} {
		r := asked(append([]string{"--user", other, "--by", "sam"}, request...)...)
		if want := "'sam' is not allowed to impersonate as '" + other + "'"; r.Verdict.Status != 403 || r.Verdict.Text != want || r.Forward != nil {
			t.Errorf("%s: got %+v; want 403 %s", other, r.Verdict, want)
		}
	}
	if r := asked(append([]string{"--user", "nobody", "--by", "sam"}, request...)...); r.Verdict.Text != "No such user:nobody" {
		t.Errorf("got %+v; want that there is no such user", r.Verdict)
	}
	r := asked("--admin", "--user", "cn=root,ou=ops", "DELETE", "/.opendistro_security")
	if !r.User.Admin || !r.User.Unrestricted || len(r.User.Roles) > 0 || r.Verdict.Effect != explain.Forwarded {
		t.Errorf("got %+v of %+v; want an administrator's request forwarded", r.Verdict, r.User)
	}
	tests := filepath.Join(t.TempDir(), "tests.yml")
	if err := os.WriteFile(tests, []byte("tests:\n"+
		"  - {as: {user: anna, by: sam}, send: GET /customers/_search, want: {verdict: forwarded, indices: [customers]}}\n"+
		"  - {as: {user: sam, by: anna}, send: GET /customers/_search, want: {verdict: refused, status: 403, says: not allowed to impersonate}}\n"+
		"  - {as: {user: \"CN=root,OU=ops\", admin: true}, send: DELETE /customers, want: forwarded}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := command(t, "", "test", "--config", file, "--state", sampleState, tests); err != nil || !strings.Contains(out, "3 tests, 0 failed") {
		t.Errorf("guard test: %v:\n%s", err, out)
	}
	text, err := command(t, "", "explain", "--config", file, "--state", sampleState, "--user", "anna", "--by", "sam", "GET", "/")
	if err != nil || !strings.Contains(text, "sam, in the user's name") {
		t.Errorf("%v: %s; want who asks", err, text)
	}
	for flags, want := range map[string]string{
		"--admin --user anna": "no administrator \"anna\"", "--admin --user x --by sam": "nobody may", "--user x --by nosuch": "no account \"nosuch\"",
		"--user x --by sam --backend-role r": "made up",
	} {
		args := append([]string{"explain", "--config", file, "--state", sampleState}, strings.Fields(flags)...)
		if _, err := command(t, "", append(args, request...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want an error with %q", flags, err, want)
		}
	}
}
