package attack_test

import (
	"fmt"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }

// The rules of the attackers: rows of one department, and fields that nobody else may see.
const rowRule = `{"term":{"dept":"eng"}}`

var (
	hiddenFields = []string{"~ssn", "~salary", "~person.passport", "~kids.kssn"}
	// spelled cannot be told to the cluster: the filter of answers is alone with it.
	spelled = []string{"~/.*ssn/", "~/sal.*/", "~person.p?ssport"}
	shown   = []string{"name", "dept", "bio", "rating", "kids.kname", "person.nick"}
)

// canaries stand in hidden fields only, and hiddenNames in hidden rows only.
var (
	canaries    = []string{"SSN-", "900000", "PASS-"}
	hiddenNames = []string{"bob", "ulf", "zed"}
)

type entry struct {
	patterns []string
	dls      string
	fls      []string
	actions  []string
}

var reading = []string{"read", "indices:monitor/*", "indices:admin/get", "indices:admin/mappings/get", "indices:admin/aliases/get", "indices:admin/resolve/index"}

// attackers are users and what each may do.
var attackers = map[string][]entry{
	"rows":     {{[]string{"hr"}, rowRule, nil, reading}, {[]string{"logs-a-*"}, "", nil, reading}},
	"fields":   {{[]string{"hr"}, "", hiddenFields, reading}},
	"spelled":  {{[]string{"hr"}, "", spelled, reading}},
	"included": {{[]string{"hr"}, "", shown, reading}},
	"both":     {{[]string{"hr"}, rowRule, hiddenFields, reading}},
	"stream":   {{[]string{"events-*"}, rowRule, []string{"~ssn"}, reading}},
	"everyrow": {{[]string{"*"}, rowRule, nil, []string{"*"}}},
	"owner":    {{[]string{"mine*"}, "", nil, []string{"indices_all"}}, {[]string{"hr"}, rowRule, hiddenFields, []string{"crud"}}},
	"other":    {{[]string{"logs-a-*"}, "", nil, []string{"indices_all"}}},
}

const password = "pw"

// policy makes the security folder of the attackers; more roles make it another one.
func policy(t testing.TB, more ...string) map[string]string {
	t.Helper()
	users, roles, mapping := map[string]any{}, map[string]any{}, map[string]any{}
	hash := guardproc.Hash(t, password)
	for name, entries := range attackers {
		var list []any
		for _, e := range entries {
			list = append(list, map[string]any{"index_patterns": e.patterns, "dls": e.dls, "fls": e.fls, "masked_fields": []string{}, "allowed_actions": e.actions})
		}
		users[name] = map[string]any{"hash": hash, "backend_roles": []string{name}}
		roles[name] = map[string]any{"cluster_permissions": []string{"cluster_composite_ops", "cluster_monitor"}, "index_permissions": list}
		mapping[name] = map[string]any{"backend_roles": []string{name}}
	}
	for _, name := range more {
		roles[name] = map[string]any{"cluster_permissions": []string{}, "index_permissions": []any{}}
	}
	return map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", users),
		"roles.yml":          guardproc.Section(t, "roles", roles),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", mapping),
	}
}

const mappings = `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"properties":{
	"name":{"type":"text"},"word":{"type":"keyword"},"dept":{"type":"keyword"},"bio":{"type":"text","copy_to":"all"},"all":{"type":"text"},
	"rating":{"type":"integer"},"hired":{"type":"date"},"ssn":{"type":"keyword","copy_to":"all","fields":{"txt":{"type":"text"}}},
	"salary":{"type":"long"},"pay":{"type":"alias","path":"salary"},
	"person":{"properties":{"nick":{"type":"keyword"},"passport":{"type":"keyword"}}},
	"kids":{"type":"nested","properties":{"kname":{"type":"keyword"},"kssn":{"type":"keyword"}}}}}}`

// load fills the node. Visible rows come first, so that the numbers that a node gives
// to documents do not depend on hidden ones.
func load(t *testing.T, node *testbed.Node) {
	t.Helper()
	if err := node.Reset(); err != nil {
		t.Fatal(err)
	}
	node.Must(t, "PUT", "/hr", mappings)
	for i, who := range []string{"alice eng", "dora eng", "bob sales", "ulf sales", "zed legal"} {
		name, dept, _ := strings.Cut(who, " ")
		node.Must(t, "PUT", fmt.Sprintf("/hr/_doc/%d", i), fmt.Sprintf(`{"name":%[1]q,"word":"word%[1]s","dept":%[2]q,"bio":"keeper of %[1]s","rating":%[3]d,"hired":"202%[3]d-01-05",
			"ssn":"SSN-%[1]s","salary":%[4]d,"person":{"nick":"nick%[1]s","passport":"PASS-%[1]s"},"kids":[{"kname":"kid%[1]s","kssn":"SSN-kid%[1]s"}]}`, name, dept, i, 9000000+i))
	}
	var bulk strings.Builder // more terms than the 128 that some clauses take
	for i := range 150 {
		fmt.Fprintf(&bulk, `{"index":{"_id":"many%[1]d"}}`+"\n"+`{"name":"many%03[1]d","dept":"legal"}`+"\n", i)
	}
	node.Must(t, "POST", "/hr/_bulk", bulk.String())
	for _, index := range []string{"logs-a-1", "logs-b-1"} {
		node.Must(t, "PUT", "/"+index+"/_doc/1", `{"msg":"TOKEN-`+index+`"}`)
	}
	node.Must(t, "POST", "/_aliases", `{"actions":[{"add":{"index":"hr","alias":"hr_eng","filter":`+rowRule+`}},{"add":{"index":"hr","alias":"mixed"}},
		{"add":{"index":"logs-a-1","alias":"mixed"}},{"add":{"index":"logs-b-1","alias":"secret"}}]}`)
	node.Must(t, "PUT", "/_index_template/events", `{"index_patterns":["events-*"],"data_stream":{},"template":{"settings":{"number_of_replicas":0},"mappings":{"properties":{"dept":{"type":"keyword"}}}}}`)
	for _, dept := range []string{"eng", "sales"} {
		node.Must(t, "POST", "/events-x/_doc", `{"@timestamp":"2024-01-01","dept":"`+dept+`","ssn":"SSN-event","msg":"event-`+dept+`"}`)
	}
	node.Must(t, "POST", "/_refresh", "")
}

// start returns a filled node and guard in front of it.
func start(t *testing.T) (*testbed.Node, *guardproc.Proc) {
	t.Helper()
	node := testbed.Cluster(t, testbed.OpenSearch)
	load(t, node)
	return node, guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, policy(t)), Upstream: node.URL})
}

// ask sends a request of an attacker.
func ask(t testing.TB, guard *guardproc.Proc, user, method, path, body string) testbed.Response {
	t.Helper()
	res, err := guard.As(user, password).Do(method, path, body)
	if err != nil {
		t.Fatalf("%s %s as %s: %v", method, path, user, err)
	}
	return res
}
