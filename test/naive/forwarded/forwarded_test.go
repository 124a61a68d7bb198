package forwarded

import (
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/gate"
	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
	"guard/test/naive"
	"guard/test/naive/worlds"
)

// rounds is how many policies are asked.
var rounds = flag.Int("rounds", 1000, "policies that are asked, 24 searches each")

// TestForwarded holds law 3 for searches: what is forwarded shows the documents that are
// granted, and on no later state of the cluster one that is not.
func TestForwarded(t *testing.T) {
	if testing.Short() {
		*rounds = min(*rounds, 150)
	}
	seen := map[string]int{}
	for seed := range *rounds {
		askMany(t, worlds.Roll(uint64(seed)^1<<40), seen) //nolint:gosec // G115: not negative
		if t.Failed() {
			return
		}
	}
	t.Logf("%v", seen)
	if seen["recalled"] < *rounds/10 {
		t.Errorf("only %d decisions were recalled", seen["recalled"])
	}
}

// askMany has two people ask the same searches under one policy, while the cluster changes:
// what was decided is kept where it still holds.
func askMany(t *testing.T, d worlds.Dice, seen map[string]int) {
	t.Helper()
	c := naive.Case{Policy: d.Policy(), World: d.World()}
	c.Policy.Roles = searchable(c.Policy.Roles)
	policy, err := policyOf(c.Policy)
	if err != nil {
		t.Fatal(err)
	}
	people := []naive.Who{d.Who(), d.Who()}
	asks := []naive.Ask{searchOf(d), searchOf(d), searchOf(d), searchOf(d)}
	var state *indexresolver.State
	for generation := range 3 {
		if generation > 0 {
			c.World = d.Change(c.World)
		}
		if state, err = worlds.State(c.World, state); err != nil {
			t.Fatal(err)
		}
		s := gate.NewSnapshot(uint64(generation), policy, state) //nolint:gosec // G115: a small number
		for i := range 8 {
			c.Who, c.Ask = people[i%2], asks[i/2]
			q := question{c, d.Later(c.World, c.Ask.Exprs)}
			how, fault := q.check(s)
			if seen[how]++; fault != "" {
				fail(t, q, fault)
				return
			}
		}
		if generation == 2 {
			seen["recalled"] += int(s.Kept().Recalled)
		}
	}
}

// question is a search, and what the cluster is when it gets it.
type question struct {
	naive.Case
	later naive.World
}

// fail reports a search as small as it can be made.
func fail(t *testing.T, q question, fault string) {
	t.Helper()
	if again := q.fault(); again == "" {
		t.Errorf("fails only behind other searches: %s\n%s", fault, worlds.Print(q.Case))
		return
	}
	q.Case = worlds.Shrink(q.Case, func(c naive.Case) bool { return question{c, q.later}.fault() != "" })
	inLater := q.Case
	inLater.World = q.later
	q.later = worlds.Shrink(inLater, func(c naive.Case) bool { return question{q.Case, c.World}.fault() != "" }).World
	t.Errorf("%s\nasked:\n%s\nlater:\n%s", q.fault(), worlds.Print(q.Case), worlds.Print(naive.Case{World: q.later}))
}

// fault checks q on a snapshot of its own.
func (q question) fault() string {
	s, err := snapshot(q.Case)
	if err != nil {
		return ""
	}
	_, fault := q.check(s)
	return fault
}

// searchable grants searches where a role grants anything else.
func searchable(roles map[string]naive.Role) map[string]naive.Role {
	out := map[string]naive.Role{}
	for name, r := range roles {
		for i := range r.Entries {
			if len(r.Entries[i].Actions) > 0 {
				r.Entries[i].Actions = append(slices.Clone(r.Entries[i].Actions), "indices:data/read/search")
			}
		}
		out[name] = r
	}
	return out
}

func searchOf(d worlds.Dice) naive.Ask {
	a := d.Ask()
	a.Privileges = []naive.Privilege{{Action: "indices:data/read/search"}}
	a.Single, a.Fixed, a.Opts.IgnoreAliases, a.Opts.IgnoreDataStreams = false, false, false, false
	if d.IntN(5) == 0 {
		a.Exprs = []string{[]string{"alf", "alg", "alr", "al", "nosuch"}[d.IntN(5)]} // what others may join
	}
	a.Exprs = slices.DeleteFunc(a.Exprs, func(e string) bool { return e == "" || strings.Contains(e, ",") })
	return a
}

// snapshot is of the policy and cluster of a question alone.
func snapshot(c naive.Case) (*gate.Snapshot, error) {
	policy, err := policyOf(c.Policy)
	if err != nil {
		return nil, err
	}
	state, err := worlds.State(c.World, nil)
	if err != nil {
		return nil, err
	}
	return gate.NewSnapshot(1, policy, state), nil
}

func policyOf(p naive.Policy) (*gate.Policy, error) {
	compiled, err := worlds.Policy(p)
	if err != nil {
		return nil, err
	}
	policy, _, err := gate.NewPolicy(compiled, gate.Settings{MaxUpstreamURI: 4096, MaxDepth: 64, MaxStateAge: 48 * time.Hour, MaxKept: 1 << 20})
	return policy, err
}

// request writes a search as a client would.
func request(a naive.Ask) *ask.Request {
	r := &ask.Request{Method: http.MethodGet, Now: a.Now, Params: []ask.Param{
		{Name: "expand_wildcards", Value: a.Opts.Expand.String(), HasValue: true},
		{Name: "ignore_unavailable", Value: fmt.Sprint(a.Opts.IgnoreUnavailable), HasValue: true},
		{Name: "allow_no_indices", Value: fmt.Sprint(a.Opts.AllowNoIndices), HasValue: true},
	}}
	if len(a.Exprs) > 0 {
		r.Path = append(r.Path, strings.Join(a.Exprs, ","))
	}
	r.Path = append(r.Path, "_search")
	return r
}

// check plans a search and says what became of it, and what is wrong with that.
func (q question) check(s *gate.Snapshot) (how, fault string) {
	want := naive.Evaluate(q.Case)
	who := s.Principal(worlds.Identity(q.Who))
	if who.Unrestricted {
		return "unrestricted", ""
	}
	out := s.Plan(who, request(q.Ask), gate.Known{Fresh: true})
	switch {
	case out.Kind == gate.Reject:
		return q.checkRefusal(want, &out.Rejection)
	case out.Kind != gate.Forward:
		return "other", fmt.Sprintf("outcome %d", out.Kind)
	case !want.Allow:
		return "other", "forwarded " + out.Forward.Target + ", and nothing is granted"
	}
	sent, query, err := read(out.Forward.Call, q.Ask.Now)
	if err != nil {
		return "other", err.Error()
	}
	how = "forwarded"
	if len(want.Bound) == 0 {
		how = "nothing"
	}
	if fault := q.checkNow(sent, query, want); fault != "" {
		return how, out.Forward.Target + " " + string(out.Forward.Body) + ": " + fault
	}
	if fault := q.checkLater(sent, query, want); fault != "" {
		return how, out.Forward.Target + " " + string(out.Forward.Body) + ": " + fault
	}
	return how, ""
}

// checkRefusal says whether a search may be refused so.
func (q question) checkRefusal(want naive.Answer, r *ask.Rejection) (how, fault string) {
	how = "refused: " + string(r.Reason)
	switch {
	case want.Bad, !want.Allow && r.Status.Code() == 403:
		return how, ""
	case !want.Allow:
		return how, fmt.Sprintf("nothing is granted, and yet: %d %s", r.Status, r.Public)
	case r.Reason == ask.ReasonNotFound && (len(want.Missing) > 0 || !q.Ask.Opts.AllowNoIndices || !q.Ask.Opts.IgnoreUnavailable):
		return how, ""
	case r.Reason == ask.ReasonNotBuilt || r.Reason == ask.ReasonRestricted:
		return how + " " + r.Public, ""
	}
	return how, fmt.Sprintf("refused: %d %s %s", r.Status, r.Reason, r.Public)
}

// read says what a cluster reads of a call: which names it searches, and the query.
func read(c gate.Call, now time.Time) (sent naive.Ask, query any, err error) {
	target, params, _ := strings.Cut(c.Target, "?")
	parts := strings.Split(strings.TrimPrefix(target, "/"), "/")
	if parts[len(parts)-1] != "_search" || len(parts) > 2 {
		return sent, nil, fmt.Errorf("forwarded to %s; want a search", c.Target)
	}
	if len(parts) == 2 {
		list, err := url.PathUnescape(parts[0])
		if err != nil {
			return sent, nil, err
		}
		for _, e := range names.Split(list) {
			sent.Exprs = append(sent.Exprs, string(e))
		}
	}
	values, err := url.ParseQuery(params)
	if err != nil {
		return sent, nil, err
	}
	sent.Now = now
	sent.Opts.IgnoreUnavailable = values.Get("ignore_unavailable") == "true"
	sent.Opts.AllowNoIndices = values.Get("allow_no_indices") != "false"
	if sent.Opts.Expand, err = names.ParseExpand(strings.Split(values.Get("expand_wildcards"), ",")...); err != nil {
		return sent, nil, err
	}
	query = parsed([]byte(`{"match_all":{}}`))
	if len(c.Body) > 0 {
		if body := parsed(c.Body).(map[string]any); body["query"] != nil {
			query = body["query"]
		}
	}
	return sent, query, nil
}

// checkNow holds that on the cluster that was decided for the search finds exactly what is
// granted.
func (q question) checkNow(sent naive.Ask, query any, want naive.Answer) string {
	found, ok := naive.Searched(q.World, sent)
	if !ok {
		return "the cluster takes that for no names"
	}
	for _, x := range q.World.Indices {
		got, reached := found[x.Name]
		wanted, granted := want.Bound[x.Name]
		if reached && !granted && !q.findsNothing(x, query) {
			return fmt.Sprintf("searches %s, which is not granted", x.Name)
		}
		if !reached && granted && !want.Rules[x.Name].None {
			return fmt.Sprintf("does not search %s, which is granted", x.Name)
		}
		if !slices.Equal(got.Routing, wanted.Routing) && reached && granted {
			return fmt.Sprintf("searches %s by the routing %v; want %v", x.Name, got.Routing, wanted.Routing)
		}
		where := calledBy(x)
		for _, doc := range documents {
			shown := reached && showsAny(got.Filters, doc, where) && shows(query, doc, where)
			should := granted && showsAny(wanted.Filters, doc, where) && ruled(want.Rules[x.Name], doc, where)
			if shown != should {
				return fmt.Sprintf("shows %v of %s: %v; want %v", doc, x.Name, shown, should)
			}
		}
	}
	return ""
}

func (q question) findsNothing(x naive.Index, query any) bool {
	return !slices.ContainsFunc(documents, func(d document) bool { return shows(query, d, calledBy(x)) })
}

// calledBy lists by which names a query finds an index: the field _index knows aliases.
func calledBy(x naive.Index) on {
	list := on{x.Name}
	for _, a := range x.Aliases {
		list = append(list, a.Name)
	}
	return list
}

// checkLater holds that on what the cluster could be by then the search finds nothing that
// was not granted, but what is granted then.
func (q question) checkLater(sent naive.Ask, query any, want naive.Answer) string {
	found, _ := naive.Searched(q.later, sent)
	then := q.Case
	then.World = q.later
	for _, x := range q.later.Indices {
		bound, reached := found[x.Name]
		if !reached {
			continue
		}
		_, decided := want.Bound[x.Name]
		rules, granted := naive.Granted(then, x.Name)
		where := calledBy(x)
		for _, doc := range documents {
			shown := showsAny(bound.Filters, doc, where) && shows(query, doc, where)
			if shown && !(decided && ruled(want.Rules[x.Name], doc, where)) && !(granted && ruled(rules, doc, where)) {
				return fmt.Sprintf("shows %v of %s later", doc, x.Name)
			}
		}
	}
	return ""
}
