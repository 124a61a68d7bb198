package changes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"guard/test/guardproc"
	"guard/test/testbed"
)

const password = "pw"

// The indices by the beginning of their names:
//
//	pub    granted by name to three people: as it is, under a document rule, under a field rule
//	mem    members of aliases; granted through these alone
//	sec    granted now and then, through an alias that moves
//	swap   granted to who may use everything
//	vault  granted to nobody; a rule hides its documents from who may use everything
//
// Aliases begin with al (granted by name), fa (the same, with a filter) or dark (granted
// to nobody); streams with ds.
var people = []person{
	{
		name: "wide", group: "wide", mixed: true, always: []string{"al-w", "pub-", "mem-", "sec-", "swap-", "own-", "ds-"}, namesOf: []string{"vault-"},
		places: []string{"", "/_all", "/*", "/swap-1", "/swap-*", "/swap-1,pub-0", "/mem-1", "/vault-*", "/vault-1", "/dark-1"}, single: []string{"/swap-1", "/vault-1", "/mem-1"},
	},
	{
		name: "pub", group: "pub", always: []string{"pub-"},
		places: []string{"", "/_all", "/pub-*", "/p*", "/pub-0", "/pub-1", "/pub-0,pub-1", "/pub-*,-pub-1", "/dark-*", "/vault-1", "/*"}, single: []string{"/pub-0", "/pub-1", "/pub-2", "/vault-1", "/dark-1"},
	},
	{
		// A write by the name of an alias that is gone makes an index of that name.
		name: "aliased", group: "aliased", always: []string{"al-w"},
		places: []string{"", "/_all", "/al-*", "/al-1", "/al-2", "/al-3", "/al-1,al-2", "/a*", "/mem-1", "/fa-1", "/al-w", "/*"}, single: []string{"/al-1", "/al-3", "/mem-1", "/fa-1"},
	},
	{
		name: "streamed", group: "streamed", always: []string{"ds-"},
		places: []string{"", "/_all", "/ds-*", "/ds-app", "/d*", "/.ds-ds-app-000001", "/.ds-*", "/*"}, single: []string{"/.ds-ds-app-000001"},
	},
	{
		name: "rows", group: "pub", always: []string{"pub-"}, tenant: "red",
		places: []string{"", "/_all", "/pub-*", "/pub-0", "/pub-1", "/p*,-pub-0", "/*"}, single: []string{"/pub-0", "/pub-1"},
	},
	{
		name: "fields", group: "pub", always: []string{"pub-"}, noPins: true,
		places: []string{"", "/_all", "/pub-*", "/pub-0", "/pub-1", "/p*,-pub-0", "/*"}, single: []string{"/pub-0", "/pub-1"},
	},
}

// entry is one of a role's entries for indices.
type entry struct {
	patterns []string
	dls      string
	fls      []string
	actions  []string
}

var using = []string{"crud", "indices:monitor/*", "indices:admin/get", "indices:admin/mappings/get", "indices:admin/aliases/get", "indices:admin/resolve/index"}

const ownRows = `{"term":{"tenant":"red"}}`

var roles = map[string][]entry{
	"wide":     {{patterns: []string{"*"}, actions: []string{"*"}}, {patterns: []string{"vault-*"}, dls: `{"term":{"tenant":"nobody"}}`, actions: []string{"read"}}},
	"pub":      {{patterns: []string{"pub-*"}, actions: using}},
	"aliased":  {{patterns: []string{"al-*", "fa-*"}, actions: using}},
	"streamed": {{patterns: []string{"ds-*"}, actions: using}},
	"rows":     {{patterns: []string{"pub-*"}, dls: ownRows, actions: using}},
	"fields":   {{patterns: []string{"pub-*"}, fls: []string{"~pin"}, actions: using}},
	"owner":    {{patterns: []string{"own-*"}, actions: []string{"indices_all"}}},
}

// modes are the ways in which roles are read, as lines of config.yml.
var modes = map[string]string{
	"strict":   "do_not_fail_on_forbidden: false",
	"reducing": "do_not_fail_on_forbidden: true",
	"v4":       "privileges_evaluation_type: v4",
}

// policy makes the security folder of a mode; each role has one user, of its name.
func policy(t testing.TB, mode string, roles map[string][]entry) map[string]string {
	t.Helper()
	users, all, mapping := map[string]any{}, map[string]any{}, map[string]any{}
	hash := guardproc.Hash(t, password)
	for name, entries := range roles {
		var list []any
		for _, e := range entries {
			list = append(list, map[string]any{"index_patterns": e.patterns, "dls": e.dls, "fls": e.fls, "masked_fields": []string{}, "allowed_actions": e.actions})
		}
		users[name] = map[string]any{"hash": hash, "backend_roles": []string{name}}
		all[name] = map[string]any{"cluster_permissions": []string{"cluster_composite_ops", "cluster_monitor"}, "index_permissions": list}
		mapping[name] = map[string]any{"backend_roles": []string{name}}
	}
	return map[string]string{
		"config.yml": "_meta: {type: config, config_version: 2}\nconfig:\n  dynamic:\n    " + modes[mode] + `
    authc:
      basic:
        http_enabled: true
        order: 0
        http_authenticator: {type: basic, challenge: false}
        authentication_backend: {type: internal}
`,
		"internal_users.yml": guardproc.Section(t, "internalusers", users),
		"roles.yml":          guardproc.Section(t, "roles", all),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", mapping),
	}
}

// world is a node that changes, and the truth about it.
type world struct {
	t       *testing.T
	node    *testbed.Node
	streams bool // the engine has data streams
	journal journal
	lives   atomic.Int64 // of indices, so far
	rolled  atomic.Int64 // how often the write alias was
	changes atomic.Int64
}

// do sends a change to the node itself; it has to succeed.
func (w *world) do(method, path, body string) {
	res, err := w.node.Do(method, path, body)
	switch {
	case err != nil:
		w.t.Errorf("%s %s: %v", method, path, err)
	case res.Status/100 != 2:
		w.t.Errorf("%s %s %s: status %d: %.300s", method, path, body, res.Status, res.Body)
	}
	w.changes.Add(1)
}

func (w *world) aliases(actions ...string) {
	w.do("POST", "/_aliases", `{"actions":[`+strings.Join(actions, ",")+`]}`)
}

func add(index, alias string) string {
	return fmt.Sprintf(`{"add":{"index":%q,"alias":%q}}`, index, alias)
}

func addFiltered(index, alias, tenant string) string {
	return fmt.Sprintf(`{"add":{"index":%q,"alias":%q,"filter":{"term":{"tenant":%q}}}}`, index, alias, tenant)
}

func remove(index, alias string) string {
	return fmt.Sprintf(`{"remove":{"index":%q,"alias":%q}}`, index, alias)
}

func removeIndex(index string) string { return fmt.Sprintf(`{"remove_index":{"index":%q}}`, index) }

const mappings = `"mappings":{"properties":{"mark":{"type":"keyword"},"tenant":{"type":"keyword"},"secret":{"type":"boolean"},"pin":{"type":"keyword"},"by":{"type":"keyword"}%s}}`

// make makes an index with documents of both tenants, and with the aliases. What nobody
// may see has a field, ids and a flag of its own.
func (w *world) make(index string, aliases ...string) {
	more := ""
	if strings.HasPrefix(index, "vault-") {
		more = `,"vault-field":{"type":"keyword"}`
	}
	for i, a := range aliases {
		aliases[i] = fmt.Sprintf("%q:{}", a)
	}
	w.do("PUT", "/"+index, `{"settings":{"number_of_shards":1,"number_of_replicas":0},"aliases":{`+strings.Join(aliases, ",")+`},`+fmt.Sprintf(mappings, more)+`}`)
	w.fill(index)
}

func (w *world) fill(index string) {
	var bulk strings.Builder
	life := w.lives.Add(1)
	hidden := strings.HasPrefix(index, "vault-")
	for i, tenant := range []string{"red", "blue", "red", "blue"} {
		id := fmt.Sprint(i)
		if hidden {
			id = "v" + id
		}
		fmt.Fprintf(&bulk, `{"create":{"_id":%q}}`+"\n"+`{"@timestamp":"2024-01-01","mark":%q,"pin":%q,"tenant":%q,"secret":%v}`+"\n",
			id, markOf("doc", index, life, tenant), markOf("pin", index, life, tenant), tenant, hidden)
	}
	w.do("POST", "/"+index+"/_bulk?refresh=true", bulk.String())
}

// load fills an empty node with what is there before anything changes.
func (w *world) load() {
	if err := w.node.Reset(); err != nil {
		w.t.Fatal(err)
	}
	w.do("PUT", "/_cluster/settings", `{"persistent":{"action.auto_create_index":"false"}}`) // a late write makes no index
	for _, index := range []string{"vault-1", "vault-2", "sec-1", "sec-2", "pub-0", "pub-1", "pub-2", "swap-1", "own-0"} {
		w.make(index)
	}
	for _, name := range []string{"swap-1", "mem-1", ".ds-ds-app-000001"} {
		w.journal.grant("writes", name) // it is what its writers think
	}
	w.enter("mem-1", "al-1")
	w.enter("mem-0", "al-2")
	w.enter("mem-2", "al-2")
	w.enter("mem-3", "al-3")
	w.enter("mem-4", "fa-1")
	w.aliases(add("pub-0", "dark-1"), add("vault-1", "dark-1"))
	w.journal.grant("aliased", "mem-w-000001")
	w.make("mem-w-000001")
	w.aliases(`{"add":{"index":"mem-w-000001","alias":"al-w","is_write_index":true}}`)
	if w.streams {
		w.do("PUT", "/_index_template/ds", `{"index_patterns":["ds-*"],"data_stream":{},"template":{"settings":{"number_of_shards":1,"number_of_replicas":0},`+fmt.Sprintf(mappings, "")+`}}`)
		w.do("PUT", "/_data_stream/ds-app", "")
		w.fill("ds-app")
	}
}

// enter makes an index that an alias of aliased leads to.
func (w *world) enter(index, alias string) {
	w.journal.grant("aliased", index)
	w.make(index, alias)
}

// pause lets guard catch up, or not.
func pause(rnd *rand.Rand) { time.Sleep(time.Duration(rnd.IntN(120)) * time.Millisecond) }
