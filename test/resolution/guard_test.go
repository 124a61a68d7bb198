package resolution_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"guard/gate"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
	"guard/test/guardproc"
	"guard/test/resolution"
	"guard/test/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }

// roles are the ways to hold everything on every index and yet not be unrestricted, so that
// guard parses the request and writes it anew: by one pattern, name by name, since nothing is
// covered by a regular expression, and under a rule.
const roles = `_meta: {type: roles, config_version: 2}
star: {cluster_permissions: ["cluster:monitor/main"], index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"]}]}
each: {cluster_permissions: ["cluster:monitor/main"], index_permissions: [{index_patterns: ["/.*/"], allowed_actions: ["*"]}]}
rows: {cluster_permissions: ["cluster:monitor/main"], index_permissions: [{index_patterns: ["*"], allowed_actions: ["*"], dls: '{"match_all":{}}'}]}
`

const config = `_meta: {type: config, config_version: 2}
config:
  dynamic:
    EVALUATION
    authc:
      basic:
        http_enabled: true
        order: 0
        http_authenticator: {type: basic, challenge: true}
        authentication_backend: {type: internal}
`

// asker is a user by whom a question can be asked through guard.
type asker struct {
	testbed.Client
	ruled bool
}

// askers are the users under each way to decide.
func askers(t *testing.T, node *testbed.Node) []asker {
	t.Helper()
	users, mapping := map[string]any{}, map[string]any{}
	for _, name := range []string{"star", "each", "rows"} {
		users[name] = map[string]any{"hash": guardproc.Hash(t, "secret")}
		mapping[name] = map[string]any{"users": []string{name}}
	}
	var all []asker
	for _, evaluation := range []string{"privileges_evaluation_type: v4", "do_not_fail_on_forbidden: true", "do_not_fail_on_forbidden: false"} {
		p := guardproc.Start(t, guardproc.Options{Upstream: node.URL, Security: guardproc.WriteSecurity(t, map[string]string{
			"roles.yml": roles, "config.yml": strings.Replace(config, "EVALUATION", evaluation, 1),
			"internal_users.yml": guardproc.Section(t, "internalusers", users), "roles_mapping.yml": guardproc.Section(t, "rolesmapping", mapping),
		})})
		for _, name := range slices.Sorted(maps.Keys(users)) {
			all = append(all, asker{p.As(name, "secret"), name == "rows"})
		}
	}
	return all
}

const (
	lists   = 1000 // that are drawn
	workers = 4
)

// used counts by which rows of docs/compatibility.md differences were explained.
var used sync.Map

// checkGrammar asks each case of the node and of guard, a search or a listing in turn, and
// compares the two answers, and the node's with what the resolver predicts.
func checkGrammar(t *testing.T, node *testbed.Node, s *indexresolver.State, streams bool) {
	t.Helper()
	all := askers(t, node)
	cases := resolution.Cases(streams, lists)
	// Neither the asker nor the endpoint shall go with the options.
	rand.New(rand.NewPCG(15, 16)).Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	var equal, explained atomic.Int64
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(cases); i += workers {
				a := all[i%len(all)]
				c := resolution.Compared{Case: cases[i], Listing: i%2 == 1 && cases[i].Path != "", Ruled: a.ruled}
				switch why, err := ask2(node.Client, a.Client, &c); {
				case err != nil:
					t.Errorf("%q with %q: %v", c.Text, c.Query, err)
				case why == "":
					equal.Add(1)
				case slices.Contains(rows(), why):
					used.Store(why, true)
					explained.Add(1)
				default:
					t.Errorf("%s differs:\nnode  %d %.500s\nguard %d %.500s", why, c.Want.Status, c.Want.Body, c.Got.Status, c.Got.Body)
				}
				checkPrediction(t, s, c)
			}
		})
	}
	group.Wait()
	t.Logf("%d cases: %d answers are equal, %d differ as explained", len(cases), equal.Load(), explained.Load())
	if equal.Load() < 1000 {
		t.Errorf("only %d answers were equal", equal.Load())
	}
}

// ask2 asks both and returns what explains the difference, nothing if there is none, and
// the request if nothing does. A difference has to stand when it is looked at again: the
// day of date math may have changed.
func ask2(node, guard testbed.Client, c *resolution.Compared) (why string, err error) {
	path := "/" + c.Path + "/_search?_source=false&size=100&" + c.Query
	switch {
	case c.Listing:
		path = "/_resolve/index/" + c.Path + "?" + c.Query
	case c.Path == "":
		path = path[1:]
	}
	for range 2 {
		want, err := node.Do("GET", path, "")
		if err != nil {
			return "", err
		}
		got, err := guard.Do("GET", path, "")
		if err != nil {
			return "", err
		}
		c.Want, c.Got = resolution.Reply{Status: want.Status, Body: want.Body}, resolution.Reply{Status: got.Status, Body: got.Body}
		if c.Want.Equal(c.Got) && want.Header.Get("Content-Type") == got.Header.Get("Content-Type") {
			return "", nil
		}
		if why = c.Explain(); why != "" {
			return why, nil
		}
	}
	return guard.User + ": GET " + path, nil
}

func rows() []string {
	var all []string
	for _, e := range resolution.Explanations {
		all = append(all, e.Row)
	}
	return all
}

// checkPrediction compares the node's answer with what the resolver makes of the state by
// itself, as Got.
func checkPrediction(t *testing.T, s *indexresolver.State, c resolution.Compared) {
	t.Helper()
	o, err := resolution.Options(c.Query)
	if err != nil {
		t.Error(err)
		return
	}
	exprs, now := names.Split(c.Text), time.Now()
	if slices.Contains(exprs, "") {
		return // refused before it is resolved
	}
	var indices, wanted string
	var fault *ask.Rejection
	c.Got = resolution.Reply{Status: http.StatusOK}
	if c.Listing {
		indices, fault = listing(s, exprs, o, now)
	} else if fault = resolution.Fault(s, exprs, o, now); fault == nil {
		p := resolution.Predict(s, exprs, o, now)
		r, _ := s.Resolve(exprs, o, now) // it has no fault
		c.Got.Status, indices = p.Status, unbound(s, r, p.Indices)
	}
	if fault != nil {
		c.Got = resolution.Reply{Status: fault.Status.Code(), Body: gate.ErrorBody(fault)}
	}
	switch {
	case c.Got.Status != http.StatusOK && c.Got.Body == nil && c.Want.Status == c.Got.Status:
		return // a closed index: the cluster says which
	case c.Got.Status == http.StatusOK && c.Want.Status == http.StatusOK && c.Listing:
		wanted = strings.Join(resolution.ListedNames(c.Want.Body), ",")
	case c.Got.Status == http.StatusOK && c.Want.Status == http.StatusOK:
		wanted = hits(t, c.Want.Body)
	case c.Want.Equal(c.Got):
		return
	}
	if c.Want.Status == c.Got.Status && c.Got.Status == http.StatusOK && indices == wanted {
		return
	}
	if c.Explain() == "" {
		t.Errorf("%q with %q (listing: %v): predicted %d %q %s; the node says %d %q %.300s", c.Text, c.Query, c.Listing, c.Got.Status, indices, c.Got.Body, c.Want.Status, wanted, c.Want.Body)
	}
}

// listing predicts the names that _resolve/index lists, or its error.
func listing(s *indexresolver.State, exprs []names.Expr, o names.Options, now time.Time) (string, *ask.Rejection) {
	r, err := s.ResolveListing(exprs, o, now, nil)
	var rejection *ask.Rejection
	switch {
	case errors.As(err, &rejection):
		return "", rejection
	case len(r.Faults) > 0:
		return "", r.Faults[0].Rejection()
	}
	var list []string
	for _, target := range r.Targets {
		list = append(list, target.Name)
	}
	return strings.Join(list, ","), nil
}

// TestExplanations: each difference that the tests accept is on the page.
func TestExplanations(t *testing.T) {
	page, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows() {
		if !strings.Contains(string(page), "\n| "+row) {
			t.Errorf("docs/compatibility.md has no row that begins with %q", row)
		}
	}
}
