package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"guard/authz"
	"guard/config"
	"guard/endpoint"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
)

// pubRole grants everything on pub* and nothing else.
const pubRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["pub*", ".pub*"], allowed_actions: ["*"]}
`

// forbiddenThing is something that the principal of pubRole may not see, and a name of it.
type forbiddenThing struct {
	kind, name string
	indices    []indexresolver.Index
	streams    []indexresolver.DataStream
	aliasOf    []string // names of visible indices that get it as an alias
}

// forbiddenThings are of every kind that a name can be.
func forbiddenThings() []forbiddenThing {
	const generation = ".ds-sec-ds-000001"
	stream := func(hidden bool) ([]indexresolver.Index, []indexresolver.DataStream) {
		return []indexresolver.Index{{Name: generation, Hidden: true}}, []indexresolver.DataStream{{Name: "sec-ds", Hidden: hidden, Indices: []string{generation}}}
	}
	of := func(kind, name string, x indexresolver.Index) forbiddenThing {
		if x.Name == "" {
			x.Name = name
		}
		return forbiddenThing{kind: kind, name: name, indices: []indexresolver.Index{x}}
	}
	list := []forbiddenThing{
		of("open", "sec-1", indexresolver.Index{}),
		of("closed", "sec-1", indexresolver.Index{Closed: true}),
		of("hidden", "sec-1", indexresolver.Index{Hidden: true}),
		of("hidden and closed", "sec-1", indexresolver.Index{Hidden: true, Closed: true}),
		of("dot name", ".sec-1", indexresolver.Index{}),
		of("hidden dot name", ".sec-1", indexresolver.Index{Hidden: true}),
		of("security index", ".opendistro_security", indexresolver.Index{Hidden: true}),
		of("alias", "sec-al", indexresolver.Index{Name: "zz-1", Aliases: []indexresolver.Membership{{Alias: "sec-al"}}}),
		of("hidden alias", "sec-al", indexresolver.Index{Name: "zz-1", Aliases: []indexresolver.Membership{{Alias: "sec-al", Hidden: true}}}),
		of("filtered alias", "sec-al", indexresolver.Index{Name: "zz-1", Aliases: []indexresolver.Membership{{Alias: "sec-al", Filter: []byte(`{"match_all":{}}`)}}}),
		of("alias of a closed index", "sec-al", indexresolver.Index{Name: "zz-1", Closed: true, Aliases: []indexresolver.Membership{{Alias: "sec-al"}}}),
		{kind: "alias of an index that is seen", name: "sec-al", aliasOf: []string{"pub-1"}},
		{kind: "alias of indices that are seen, one closed", name: "sec-al", aliasOf: []string{"pub-1", "pub-closed"}},
	}
	indices, streams := stream(false)
	list = append(list,
		forbiddenThing{kind: "data stream", name: "sec-ds", indices: indices, streams: streams},
		forbiddenThing{kind: "backing index", name: generation, indices: indices, streams: streams})
	indices, streams = stream(true)
	return append(list, forbiddenThing{kind: "hidden data stream", name: "sec-ds", indices: indices, streams: streams})
}

// seenWorld is what pubRole sees, and x, if any.
func seenWorld(t *testing.T, x *forbiddenThing) *Snapshot {
	t.Helper()
	indices := []indexresolver.Index{
		{Name: "pub-1", Aliases: []indexresolver.Membership{{Alias: "pub-al"}}}, {Name: "pub-2"},
		{Name: "pub-closed", Closed: true}, {Name: "pub-hidden", Hidden: true}, {Name: ".ds-pub-ds-000001", Hidden: true},
	}
	streams := []indexresolver.DataStream{{Name: "pub-ds", Indices: []string{".ds-pub-ds-000001"}}}
	if x != nil {
		indices, streams = append(indices, x.indices...), append(streams, x.streams...)
		for i := range indices {
			if slices.Contains(x.aliasOf, indices[i].Name) {
				indices[i].Aliases = append(indices[i].Aliases, indexresolver.Membership{Alias: x.name})
			}
		}
	}
	return worldBy(t, config.EvaluationV4, pubRole, indices, streams...)
}

// wordings are the ways to write the name of x in an expression.
func wordings(x string) []string {
	begins := x[:2] + "*"
	list := []string{x, x + ",pub-1", "pub-1," + x, "pub-*," + x, "nosuch," + x, "-" + x, "<" + x + ">"}
	for _, w := range []string{begins, "*" + x[1:]} {
		list = append(list, w, w+",pub-1", "pub-*,"+w, w+","+x, "pub-2,"+w+",nosuch*", w+",-"+x, "pub-*,-"+w, w+",-pub-1")
	}
	return append(list, "*", "_all", "*,-"+x, "*,-pub-2", "pub-*,-"+x, ".*", "far:"+begins)
}

// indexOptionSets are the combinations of the options that say how names are read.
func indexOptionSets() []map[string]string {
	var sets []map[string]string
	for _, none := range []string{"", "false"} {
		for _, unavailable := range []string{"", "true"} {
			for _, expand := range []string{"", "closed", "hidden", "none", "all"} {
				set := map[string]string{}
				for key, v := range map[string]string{"allow_no_indices": none, "ignore_unavailable": unavailable, "expand_wildcards": expand} {
					if v != "" {
						set[key] = v
					}
				}
				sets = append(sets, set)
			}
		}
	}
	return sets
}

// wordedRequest is a request that names indices.
type wordedRequest struct{ method, target, body string }

// requestsOn are the requests of a route on an expression: in each place that it has.
func requestsOn(t *testing.T, route *endpoint.Route, expr string, options map[string]string) []wordedRequest {
	t.Helper()
	if len(options) > 0 && !slices.ContainsFunc(route.Params, func(p endpoint.Param) bool { return p.Kind == endpoint.IndexOption }) {
		return nil
	}
	w := worder{expr: expr, escaped: strings.NewReplacer("<", "%3C", ">", "%3E").Replace(expr), options: options}
	w.method, _, _ = strings.Cut(route.Methods, ",")
	for _, path := range route.Paths {
		switch route.Targets {
		case endpoint.NoTargets, endpoint.SnapshotNames: // a snapshot says what its names are
		case endpoint.PathIndex, endpoint.CreateIndexBody:
			body := `{}`
			if route.Body == endpoint.ByQueryBody {
				body = `{"query":{"match_all":{}}}`
			}
			w.add(path, w.escaped, "", body)
		case endpoint.PathName:
			w.add(path, "", w.escaped, "")
		case endpoint.MsearchHeaders:
			w.searches(path)
		case endpoint.MgetDocs:
			w.add(path, w.escaped, "", `{"ids":["1"]}`)
			w.add(path, "pub-2", "", fmt.Sprintf(`{"docs":[{"_index":%q,"_id":"1"}]}`, expr))
		case endpoint.BulkLines:
			for _, op := range []string{"index", "create", "delete", "update"} {
				w.add(path, "pub-2", "", fmt.Sprintf("{%q:{\"_index\":%q,\"_id\":\"1\"}}\n{\"doc\":{}}", op, expr))
			}
		case endpoint.ReindexBody:
			w.add(path, "", "", `{"source":{"index":[`+w.quoted()+`]},"dest":{"index":"pub-2"}}`)
			w.add(path, "", "", fmt.Sprintf(`{"source":{"index":"pub-1"},"dest":{"index":%q}}`, expr))
		case endpoint.NewIndex:
			w.add(path, w.escaped, "pub-new", "")
			w.add(path, "pub-al", w.escaped, "")
			w.add(path, "pub-1", w.escaped, "")
			if !strings.Contains(expr, ",") && !strings.Contains(expr, "*") {
				w.add(path, "pub-al", "pub-new", fmt.Sprintf(`{"aliases":{%q:{}}}`, expr))
			}
		case endpoint.AliasActions:
			w.aliasActions(path)
		case endpoint.AliasBody:
			w.add(path, w.escaped, "pub-new", `{"alias":"pub-new"}`)
			w.add(path, "pub-1", w.escaped, `{}`)
		case endpoint.AliasNamed, endpoint.AliasLookup:
			w.add(path, w.escaped, "pub-al", "")
			w.add(path, w.escaped, "pub*", "")
			// What is removed by a pattern of aliases tells of those that its index has.
			if route.Targets == endpoint.AliasLookup || !strings.Contains(expr, "*") && expr != "_all" {
				w.add(path, "pub-1", w.escaped, "")
			}
		default:
			t.Fatalf("route %s names indices in a place that this test does not know", route.ID)
		}
	}
	return w.list
}

// worder writes requests on one expression.
type worder struct {
	method        string
	expr, escaped string
	options       map[string]string
	list          []wordedRequest
}

// add adds a request with the options in its URL.
func (w *worder) add(path, index, name, body string) {
	target := strings.NewReplacer("{index}", index, "{name}", name, "{id}", "1").Replace(path)
	if len(w.options) > 0 {
		var query []string
		for key, v := range w.options {
			query = append(query, key+"="+v)
		}
		slices.Sort(query)
		target += "?" + strings.Join(query, "&")
	}
	w.list = append(w.list, wordedRequest{w.method, target, body})
}

// quoted is the expression as the elements of an array.
func (w *worder) quoted() string { return `"` + strings.ReplaceAll(w.expr, ",", `","`) + `"` }

// searches names the expression in the URL, and in the header with the options there.
func (w *worder) searches(path string) {
	w.add(path, w.escaped, "", "{}\n{}\n")
	header := []string{`"index":[` + w.quoted() + `]`}
	for key, v := range w.options {
		header = append(header, fmt.Sprintf("%q:%q", key, v))
	}
	slices.Sort(header)
	w.list = append(w.list, wordedRequest{w.method, strings.ReplaceAll(path, "{index}", "pub-2"), "{" + strings.Join(header, ",") + "}\n{}\n"})
}

func (w *worder) aliasActions(path string) {
	for _, action := range []string{
		`{"add":{"indices":[%s],"alias":"pub-new"}}`, `{"remove":{"indices":[%s],"alias":"pub-al"}}`, `{"remove":{"indices":[%s],"alias":"p*"}}`,
		`{"remove_index":{"indices":[%s]}}`, `{"add":{"index":"pub-1","aliases":[%s]}}`,
		`{"add":{"index":"pub-2","alias":"pub-new"}},{"remove_index":{"indices":[%s]}}`,
	} {
		w.add(path, "", "", `{"actions":[`+fmt.Sprintf(action, w.quoted())+`]}`)
	}
}

// plan is what becomes of r, in one line; a bulk is run.
func (r wordedRequest) plan(t *testing.T, s *Snapshot) string {
	t.Helper()
	body := r.body
	if strings.HasSuffix(r.target, "_bulk") {
		body = ""
	}
	request := requestFor(t, r.method, r.target, body)
	out := s.Plan(s.Principal(ask.Identity{Name: "u"}), request, Known{Fresh: len(r.target)%4 > 0})
	lines := strings.Split(r.body, "\n")
	if strings.HasPrefix(lines[0], `{"delete"`) {
		lines = lines[:1]
	}
	return fmt.Sprint(out.Kind, out.NeedState, strings.Join(show(t, out, lines), "|"))
}

// sentPattern returns a pattern among the names of indices that a plan sends, or one that
// it takes out, which matches name: the cluster's answer would tell of it.
func sentPattern(plan, name string, targets endpoint.Targets) string {
	_, sent, ok := strings.Cut(plan, "|= ")
	if !ok {
		return ""
	}
	sent = strings.ReplaceAll(strings.ReplaceAll(sent, `"`, ""), strings.Join(nothing, ","), "")
	_, target, _ := strings.Cut(sent, " /")
	target, _, _ = strings.Cut(target, "|")
	path, _, _ := strings.Cut(target, "?")
	lists := strings.Split(path, "/")
	if targets == endpoint.AliasLookup { // patterns of aliases are looked for on indices that are seen
		lists = lists[:1]
	}
	for _, header := range strings.Split(sent, "index:[")[1:] {
		list, _, _ := strings.Cut(header, "]")
		lists = append(lists, list)
	}
	for _, e := range strings.Split(strings.Join(lists, ","), ",") {
		excluded := names.Expr(strings.TrimPrefix(e, "-"))
		if p, ok := excluded.Pattern(); ok && excluded.IsWildcard() && p.Match(name) {
			return e
		}
	}
	return ""
}

// TestForbiddenIsMissing holds that by "v4" a name that is not granted and one that does
// not exist are the same to every endpoint of the catalogue, however it is written and
// whatever it is the name of: what becomes of the request tells nothing, and neither can
// what the cluster makes of it.
func TestForbiddenIsMissing(t *testing.T) {
	c := comparison{without: seenWorld(t, nil), missing: map[wordedRequest]string{}}
	routes := slices.DeleteFunc(endpoint.Catalogue(), func(r endpoint.Route) bool { return r.NotBuilt })
	for _, x := range forbiddenThings() {
		with := seenWorld(t, &x)
		for i := range routes {
			for _, options := range indexOptionSets() {
				for _, expr := range wordings(x.name) {
					for _, r := range requestsOn(t, &routes[i], expr, options) {
						c.compare(t, with, &x, &routes[i], r)
					}
				}
			}
		}
	}
	if c.plans < 100_000 {
		t.Errorf("compared %d plans; want more: the catalogue is not asked", c.plans)
	}
}

// comparison compares plans with those of a world without any forbidden thing.
type comparison struct {
	without *Snapshot
	missing map[wordedRequest]string // what becomes of a request there
	plans   int
}

func (c *comparison) compare(t *testing.T, with *Snapshot, x *forbiddenThing, route *endpoint.Route, r wordedRequest) {
	t.Helper()
	c.plans++
	if _, ok := c.missing[r]; !ok {
		c.missing[r] = r.plan(t, c.without)
	}
	got := r.plan(t, with)
	if e := sentPattern(got, x.name, route.Targets); e != "" {
		t.Fatalf("%s, %s %s %s: sends %s, which matches [%s] (%s): %s", route.ID, r.method, r.target, r.body, e, x.name, x.kind, got)
	}
	if got != c.missing[r] {
		t.Fatalf("%s, %s %s %s: without [%s] (%s): %s; with it: %s", route.ID, r.method, r.target, r.body, x.name, x.kind, c.missing[r], got)
	}
}

// TestNothingGranted holds what a wildcard is answered of which nothing granted is left.
func TestNothingGranted(t *testing.T) {
	x := forbiddenThings()[0]
	s := seenWorld(t, &x)
	f := func(method, target, body, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, method, target, body)); got != want {
			t.Errorf("%s %s %s: %s; want %s", method, target, body, got, want)
		}
	}
	const missing = "reject 404 not_found: no such index [sec-*]"
	f("GET", "/sec-*/_search", "", "GET /.none*,-*/_search")
	f("GET", "/sec-*/_search?allow_no_indices=false", "", missing)
	f("GET", "/sec-*,pub-1/_search?allow_no_indices=false", "", missing)
	f("GET", "/s*/_count?expand_wildcards=closed", "", "GET /.none*,-*/_count?expand_wildcards=open")
	f("GET", "/pub-c*/_alias?expand_wildcards=closed&allow_no_indices=false", "", "GET /pub-c*/_alias?expand_wildcards=closed&allow_no_indices=false")
	f("DELETE", "/sec-*?allow_no_indices=false", "", missing)
	f("GET", "/_resolve/index/sec-*?allow_no_indices=false", "", missing)
	f("HEAD", "/sec-*?allow_no_indices=false", "", missing)
	// The cluster would take out the indices of an alias that is not granted.
	f("GET", "/pub-*,-sx*/_count", "", "GET /pub-1,pub-2,pub-ds/_count?ignore_unavailable=true")
	f("GET", "/pub-*,-sx/_count?ignore_unavailable=true", "", "GET /pub-1,pub-2,pub-ds/_count?ignore_unavailable=true")
	f("GET", "/pub-*,-pub-2*/_count", "", "GET /pub-*,-pub-2*/_count")
	// A name that is written is refused, whether it exists or not.
	f("GET", "/sec-1/_search", "", "reject 403 no_privilege: "+none("indices:data/read/search", "sec-1"))
	f("GET", "/sec-2/_search", "", "reject 403 no_privilege: "+none("indices:data/read/search", "sec-2"))
	f("GET", "/sec-*,sec-1/_search?allow_no_indices=false", "", "reject 403 no_privilege: "+none("indices:data/read/search", "sec-*, sec-1"))

	// Each alias action means what is granted for it.
	const add = `{"add":{"index":"%s","alias":"pub-new"}}`
	actions := func(indices string) string { return `{"actions":[` + fmt.Sprintf(add, indices) + `]}` }
	f("POST", "/_aliases", actions("sec-*"), missing)
	f("POST", "/_aliases", actions("sec-1"), "reject 403 no_privilege: "+none("indices:admin/aliases", "sec-1"))
	f("POST", "/_aliases", actions("*-*"), `POST /_aliases | {"actions":[{"add":{"indices":["pub-1","pub-2","pub-ds"],"alias":"pub-new"}}]}`)
	f("PUT", "/*1/_alias/pub-new", "", "PUT /pub-1/_alias/pub-new")
	f("DELETE", "/*/_alias/sec-al", "", "reject 403 no_privilege: "+none("indices:admin/aliases", "sec-al"))
}

// TestAliasActionsApart holds that an action on aliases means the names that are granted
// for it, and not those that another one of the request is granted for.
func TestAliasActionsApart(t *testing.T) {
	const role = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["pub*"], allowed_actions: ["indices:admin/aliases"]}
    - {index_patterns: ["old*"], allowed_actions: ["indices:admin/delete"]}
`
	s := worldBy(t, config.EvaluationV4, role, []indexresolver.Index{{Name: "pub-1"}, {Name: "old-1"}})
	const body = `{"actions":[{"add":{"index":"*1","alias":"pub-new"}},{"remove_index":{"index":"*1"}}]}`
	const want = `POST /_aliases | {"actions":[{"add":{"indices":["pub-1"],"alias":"pub-new"}},{"remove_index":{"indices":["old-1"]}}]}`
	if got := gist(t, planFor(t, s, "POST", "/_aliases", body)); got != want {
		t.Errorf("%s: %s; want %s", body, got, want)
	}
}

// TestForbiddenIsExplained holds that the names which a request must not tell of are shown
// to whoever asks why.
func TestForbiddenIsExplained(t *testing.T) {
	x := forbiddenThings()[0]
	s := seenWorld(t, &x)
	e := s.Explain(s.Principal(ask.Identity{Name: "u"}), requestFor(t, "GET", "/sec-*,pub-1/_search?allow_no_indices=false", ""), Known{Fresh: true})
	if len(e.Parts) != 1 {
		t.Fatalf("explained %d parts; want 1", len(e.Parts))
	}
	cells, _ := e.Parts[0].Decision.Matrix(10)
	if !slices.ContainsFunc(cells, func(c authz.Cell) bool { return c.Target == "sec-1" && !c.Granted }) {
		t.Errorf("the matrix is %+v; want sec-1 in it", cells)
	}
}
