package plugin_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/plugin"
	"guard/test/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m) }

var (
	seed     = flag.Uint64("seed", 7, "of the worlds")
	worlds   = flag.Int("worlds", 1, "how many worlds each version gets")
	requests = flag.Int("requests", 150, "how many requests a world gets in each mode")
	shown    = flag.Int("shown", 8, "how many faults are looked at closely and printed")
	dumpFile = flag.String("dump", "", "file to add differences to, as JSON lines")
)

// users is how many each policy has.
const users = 24

// TestPlugin compares on both versions, with do_not_fail_on_forbidden off and on.
func TestPlugin(t *testing.T) {
	for _, n := range []struct {
		version       string
		open, secured testbed.Kind
	}{{"2.19.4", testbed.OpenSearch, testbed.Secured}, {"3.4.0", testbed.OpenSearch3, testbed.Secured3}} {
		t.Run(n.version, func(t *testing.T) {
			policy := plugin.NewPolicy(rand.New(rand.NewPCG(*seed, 1)), users)
			secured := testbed.Own(t, testbed.Options{Kind: n.secured, SecurityConfig: guardproc.WriteSecurity(t, policy.Files(false)), Settings: map[string]string{
				"plugins.security.unsupported.restapi.allow_securityconfig_modification": "true",
				"plugins.security.system_indices.enabled":                                "true",
				"plugins.security.system_indices.permission.enabled":                     "true",
				"plugins.security.system_indices.indices":                                plugin.System,
			}})
			secured.Client = secured.As(plugin.Chief, plugin.Password) // system indices are closed to the test bed's account
			r := &run{policy: policy, version: n.version, open: testbed.Own(t, testbed.Options{Kind: n.open}), secured: secured, found: map[string]int{}}
			for w := range *worlds {
				r.compare(t, plugin.NewWorld(rand.New(rand.NewPCG(*seed, uint64(100+w)))), uint64(w))
			}
			r.report(t)
		})
	}
}

// run compares on the nodes of one version.
type run struct {
	policy        plugin.Policy
	version       string
	open, secured *testbed.Node

	found  map[string]int // by rule
	equal  int
	faults []plugin.Difference
}

// side is one of the two that are compared: as is what users ask, chief makes the world.
type side struct{ as, chief testbed.Client }

func (s side) user(name string) testbed.Client { return s.as.As(name, plugin.Password) }

// rebuild makes the world anew.
func rebuild(node *testbed.Node, s side, w plugin.World) error {
	if err := node.Reset(); err != nil {
		return err
	}
	return plugin.Apply(s.chief, w.Steps())
}

// setMode tells the plugin whether to reduce.
func (r *run) setMode(dnfof bool) error {
	body, err := json.Marshal(map[string]any{"dynamic": plugin.Dynamic(dnfof)})
	if err != nil {
		return err
	}
	res, err := r.secured.As(plugin.Chief, plugin.Password).Do("PUT", "/_plugins/_security/api/securityconfig/config", string(body))
	if err != nil {
		return err
	}
	if res.Status != 200 {
		return fmt.Errorf("cannot set do_not_fail_on_forbidden: status %d: %s", res.Status, res.Body)
	}
	return nil
}

const systemSettings = `policy: {system_indices: {enabled: true, permission_enabled: true, indices: ["` + plugin.System + `"]}}` + "\n"

// compare asks the same of both sides in one world, in both modes.
func (r *run) compare(t *testing.T, w plugin.World, n uint64) {
	for _, dnfof := range []bool{false, true} {
		guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, r.policy.Files(dnfof)), Upstream: r.open.URL, Config: systemSettings})
		if err := r.setMode(dnfof); err != nil {
			t.Fatal(err)
		}
		p := &pair{world: w, version: r.version, dnfof: dnfof, nodes: [2]*testbed.Node{r.open, r.secured}, sides: [2]side{
			{guard.Client, guard.As(plugin.Chief, plugin.Password)}, {r.secured.As("", ""), r.secured.Client},
		}}
		if err := p.anew(); err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(*seed+n, 2))
		for range *requests {
			req, user := plugin.NewRequest(random), r.policy.Users[random.IntN(len(r.policy.Users))]
			d, err := p.ask(req, user)
			if err == nil && d != nil && plugin.Explain(*d) == "" {
				d, err = p.again(req, user, len(r.faults) < *shown)
			}
			if err != nil {
				t.Fatalf("%s as %s: %v", req.Line, user.Name, err)
			}
			r.count(t, d)
		}
		t.Logf("world %d, do_not_fail_on_forbidden %v: %d requests compared so far, %d faults", n, dnfof, r.equal+len(r.faults)+sum(r.found), len(r.faults))
	}
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func (r *run) count(t *testing.T, d *plugin.Difference) {
	if d == nil {
		r.equal++
		return
	}
	if name := plugin.Explain(*d); name != "" {
		r.found[name]++
		return
	}
	r.faults = append(r.faults, *d)
	dump(t, *d)
}

// pair is guard before the open node, and the secured node, with the same world.
type pair struct {
	world   plugin.World
	version string
	dnfof   bool
	nodes   [2]*testbed.Node
	sides   [2]side
}

func (p *pair) anew() error {
	return errors.Join(rebuild(p.nodes[0], p.sides[0], p.world), rebuild(p.nodes[1], p.sides[1], p.world))
}

// ask sends a request to both sides and takes it back; nil if the answers tell the same.
func (p *pair) ask(req plugin.Request, user plugin.User) (*plugin.Difference, error) {
	var got [2]plugin.Outcome
	changed := false
	for i, s := range p.sides {
		if err := plugin.Apply(s.chief, req.Before); err != nil {
			return nil, err
		}
		res, err := plugin.Send(s.user(user.Name), req.Line)
		if err != nil {
			return nil, err
		}
		got[i] = plugin.Read(req.Line, res)
		changed = changed || res.Status < 300
	}
	if !changed && len(req.Before) == 0 {
		req.Undo = nil
	}
	for _, s := range p.sides {
		for _, step := range req.UndoIn(p.world) { // what is not there can't be taken back
			if _, err := plugin.Send(s.chief, step); err != nil {
				return nil, err
			}
		}
	}
	if got[0].Equal(got[1]) {
		return nil, nil
	}
	d := &plugin.Difference{Kind: req.Kind, Line: req.Line, Version: p.version, DNFOF: p.dnfof, User: user, World: p.world, Guard: got[0], Plugin: got[1]}
	var err error
	d.Beyond, err = p.beyond(d)
	return d, err
}

// beyond returns the documents that guard shows in d and that the plugin does not show to
// the same user, even when it is asked for the index by name.
func (p *pair) beyond(d *plugin.Difference) ([]string, error) {
	var list []string
	of := map[string]map[string]bool{} // by index
	for _, hit := range d.ShownMore() {
		index, _, _ := strings.Cut(hit, "/")
		if of[index] == nil {
			line := "GET /" + index + "/_search?size=100"
			res, err := plugin.Send(p.sides[1].user(d.User.Name), line)
			if err != nil {
				return nil, err
			}
			of[index] = plugin.Read(line, res).Hits()
		}
		if !of[index][hit] {
			list = append(list, hit)
		}
	}
	return list, nil
}

// again asks once more for a difference that is no rule's: in a new world, so that
// nothing is left over of what came before, and then with less and less of the
// request. Past the first few faults it looks no closer.
func (p *pair) again(req plugin.Request, user plugin.User, closely bool) (*plugin.Difference, error) {
	if !closely {
		return p.ask(req, user)
	}
	if err := p.anew(); err != nil {
		return nil, err
	}
	d, err := p.ask(req, user)
	if err != nil || d == nil || plugin.Explain(*d) != "" {
		return d, err
	}
	least := p.smaller(*d)
	return &least, nil
}

// smaller returns the difference with the shortest request that still shows one.
func (p *pair) smaller(d plugin.Difference) plugin.Difference {
	if !strings.HasPrefix(d.Line, "GET") && !strings.Contains(d.Line, "_search") && !strings.Contains(d.Line, "_msearch") {
		return d // what it changes would have to be taken back
	}
	for again := true; again; {
		again = false
		for _, line := range plugin.Shorter(d.Line) {
			less, err := p.ask(plugin.Request{Kind: d.Kind, Line: line}, d.User)
			if err == nil && less != nil && plugin.Explain(*less) == "" {
				d, again = *less, true
				break
			}
		}
	}
	return d
}

func (r *run) report(t *testing.T) {
	t.Logf("%5d answers tell the same", r.equal)
	for _, name := range slices.SortedFunc(maps.Keys(r.found), func(a, b string) int { return cmp.Compare(r.found[b], r.found[a]) }) {
		t.Logf("%5d %s", r.found[name], name)
	}
	if r.equal < *requests {
		t.Errorf("%d answers are equal; want at least %d", r.equal, *requests)
	}
	for i, d := range r.faults {
		if i < *shown {
			t.Errorf("%s", show(d))
		}
	}
	if len(r.faults) > *shown {
		t.Errorf("... and %d more", len(r.faults)-*shown)
	}
}

// show prints a difference so that it can be played again.
func show(d plugin.Difference) string {
	roles, err := json.Marshal(d.User)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, do_not_fail_on_forbidden %v, %s of %s\nrequest: %s\nguard:   %.800s (%.200s)\nplugin:  %.800s (%.200s)\nbeyond what the plugin ever shows: %v\nuser:    %s\nworld:\n\t%s",
		d.Version, d.DNFOF, d.Kind, d.User.Name, d.Line, d.Guard.Text(), d.Guard.Reason, d.Plugin.Text(), d.Plugin.Reason, d.Beyond, roles, strings.Join(d.World.Steps(), "\n\t"))
}

func dump(t *testing.T, d plugin.Difference) {
	if *dumpFile == "" {
		return
	}
	f, err := os.OpenFile(*dumpFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := json.NewEncoder(f).Encode(d); err != nil {
		t.Fatal(err)
	}
}
