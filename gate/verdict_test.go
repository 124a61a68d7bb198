package gate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
	"guard/internal/ask"
)

// keptRole has what decisions can depend on: names, an alias and a stream by pattern, a
// look at each kind of rule, and an expression.
const keptRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["pub-*", "al-*", "ds-2"], allowed_actions: ["*"]}
    - {index_patterns: ["doc-*", "ds-1"], allowed_actions: ["indices:data/read*", "indices:admin/resolve/index"], dls: '{"term":{"level":"info"}}'}
    - {index_patterns: ["/fld-[0-9]/"], allowed_actions: ["indices:data/read*", "indices:admin/resolve/index"], fls: ["~level"]}
`

// changing is a cluster in which one thing changes at a time.
type changing struct {
	rnd     *rand.Rand
	indices map[string]*indexresolver.Index
	streams map[string]*indexresolver.DataStream
	version uint64
}

var (
	changingIndices = []string{"pub-1", "pub-2", "doc-1", "doc-2", "fld-1", "fld-2", "sec-1", "sec-2", ".hid-1", "b-1", "b-2"}
	changingAliases = []string{"al-1", "al-2", "doc-al", "sec-al", "zz"}
	changingStreams = []string{"ds-1", "ds-2"}
)

func newChanging(seed uint64) *changing {
	c := &changing{rand.New(rand.NewPCG(seed, 5)), map[string]*indexresolver.Index{}, map[string]*indexresolver.DataStream{}, 0} //nolint:gosec // G404: repeatable
	for range 30 {
		c.change()
	}
	return c
}

func anyOf[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

// change changes one fact.
func (c *changing) change() {
	name := anyOf(c.rnd, changingIndices)
	x := c.indices[name]
	if x == nil {
		c.indices[name] = &indexresolver.Index{Name: name, UUID: fmt.Sprint(name, c.version), Mapping: []byte(`{"properties":{"level":{"type":"keyword"}}}`)}
		return
	}
	switch c.rnd.IntN(16) {
	case 0:
		delete(c.indices, name)
		for _, s := range c.streams {
			s.Indices = slices.DeleteFunc(s.Indices, func(m string) bool { return m == name })
		}
	case 1:
		x.Closed = !x.Closed && c.rnd.IntN(3) == 0
	case 2:
		x.Hidden = !x.Hidden && c.rnd.IntN(3) == 0
	case 3:
		x.Mapping = fmt.Appendf(nil, `{"properties":{"level":{"type":"keyword"},"f%d":{"type":"text"}}}`, c.rnd.IntN(3))
	case 4:
		x.Sort = anyOf(c.rnd, [][]string{nil, {"level"}})
	case 5, 6:
		c.changeStream(name)
	default:
		c.changeAlias(x)
	}
}

func (c *changing) changeAlias(x *indexresolver.Index) {
	alias := anyOf(c.rnd, changingAliases)
	if i := slices.IndexFunc(x.Aliases, func(m indexresolver.Membership) bool { return m.Alias == alias }); i >= 0 {
		x.Aliases = slices.Delete(slices.Clone(x.Aliases), i, i+1)
		return
	}
	m := indexresolver.Membership{Alias: alias}
	switch c.rnd.IntN(6) {
	case 0, 1:
		m.Filter = []byte(`{"term":{"level":"warn"}}`)
	case 2:
		m.Hidden = true
	}
	x.Aliases = append(slices.Clone(x.Aliases), m)
}

// changeStream puts an index into a stream or takes it out: it is in one at most.
func (c *changing) changeStream(index string) {
	for _, s := range c.streams {
		if i := slices.Index(s.Indices, index); i >= 0 {
			s.Indices = slices.Delete(slices.Clone(s.Indices), i, i+1)
			return
		}
	}
	name := anyOf(c.rnd, changingStreams)
	if c.streams[name] == nil {
		c.streams[name] = &indexresolver.DataStream{Name: name}
	}
	s := c.streams[name]
	s.Hidden = c.rnd.IntN(4) == 0
	s.Indices = append(slices.Clone(s.Indices), index)
}

// state makes the next state of the cluster.
func (c *changing) state(t *testing.T, prev *indexresolver.State) *indexresolver.State {
	t.Helper()
	c.version++
	contents := indexresolver.Contents{ClusterUUID: "c", StateUUID: fmt.Sprint(c.version), Version: c.version, FetchedAt: recordedAt}
	for _, x := range c.indices {
		own := *x
		contents.Indices = append(contents.Indices, own)
	}
	for _, s := range c.streams {
		if len(s.Indices) > 0 {
			contents.DataStreams = append(contents.DataStreams, *s)
		}
	}
	state, err := indexresolver.New(contents, prev)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// keptTargets are requests whose decisions are kept, or close to such.
var keptTargets = []string{
	"/pub-*/_search", "/*/_search", "/_all/_search", "/_search", "/p*,d*/_search", "/*-1/_search", "/doc-*/_search", "/doc-*/_search?expand_wildcards=closed", "/doc-*/_search?expand_wildcards=open,hidden", "/doc-*/_search?size=1", "/doc-*,-doc-2/_search", "/fld-*/_search?allow_no_indices=false",
	"/al-*/_search", "/a*,-al-2/_search", "/ds-*/_search", "/ds-*,pub-1/_search", "/*,-sec-*/_search?expand_wildcards=all", "/*/_search?expand_wildcards=closed",
	"/b-*/_search?ignore_unavailable=true", "/*al*/_search", "/*/_count", "/pub-*,doc-*/_field_caps?fields=*", "/_resolve/index/*", "/_resolve/index/al-*", "/sec-*/_search", "/.h*/_search",
	"/doc-a*/_search", "/doc-*,zz/_search", "/pub-*/_search" + globally, "/al-*/_search" + globally, "/ds-*2/_search" + globally,
}

// globally is the body of a search that is refused where only names are bound.
const globally = ` {"aggs":{"all":{"global":{}}}}`

// keptAnswer has a hit of every index, to see which of them an answer may have.
func keptAnswer() Answer {
	var b bytes.Buffer
	b.WriteString(`{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"total":{"value":1,"relation":"eq"},"max_score":1.0,"hits":[`)
	for i, name := range changingIndices {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"_index":%q,"_id":"1","_score":1.0,"_source":{"level":"info","x":1}}`, name)
	}
	b.WriteString(`]}}`)
	return Answer{Status: 200, ContentType: "application/json", Body: b.Bytes()}
}

// treatedText is what a treatment makes of an answer, in one line.
func treatedText(out Outcome, a Answer) string {
	if out.Kind != Forward || out.Forward.Treat == nil {
		return ""
	}
	switch made, err := out.Forward.Treat.Treat(a); {
	case err != nil:
		return err.Error()
	default:
		return string(made.Body)
	}
}

// TestVerdicts holds the law of what is kept: however the cluster changes, a plan is the
// same as without any memory.
func TestVerdicts(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		for _, maxURI := range []int{512, 60} { // all names fit into a request line, or few
			t.Run(fmt.Sprint(by, maxURI), func(t *testing.T) { checkVerdicts(t, by, maxURI) })
		}
	}
}

func checkVerdicts(t *testing.T, by config.Evaluation, maxURI int) {
	kept := worldBy(t, by, keptRole, staff())
	kept.settings.MaxUpstreamURI = maxURI
	c := newChanging(uint64(maxURI))
	a := keptAnswer()
	var state *indexresolver.State
	for step := range 200 {
		c.change()
		state = c.state(t, state)
		warm := &Snapshot{Generation: 1, policy: kept.policy, state: state, router: kept.router, settings: kept.settings, memo: kept.memo}
		anew := c.state(t, nil)
		for _, target := range keptTargets {
			cold := &Snapshot{Generation: 1, policy: kept.policy, state: anew, router: kept.router, settings: kept.settings, memo: newMemo(0)}
			url, body, _ := strings.Cut(target, " ")
			got, want := planFor(t, warm, "GET", url, body), planFor(t, cold, "GET", url, body)
			if g, w := gist(t, got), gist(t, want); g != w {
				t.Fatalf("step %d: %s\nkept: %s\nanew: %s", step, target, g, w)
			}
			if g, w := treatedText(got, a), treatedText(want, a); g != w {
				t.Fatalf("step %d: answer to %s\nkept: %s\nanew: %s", step, target, g, w)
			}
		}
	}
	if s := kept.memo.verdicts; 2*s.recalled.Load() < s.made.Load() {
		t.Errorf("%d verdicts were recalled and %d made; want a third to be recalled", s.recalled.Load(), s.made.Load())
	}
}

// TestVerdictsAreBounded holds that what is kept takes no more than it may.
func TestVerdictsAreBounded(t *testing.T) {
	const most = 1 << 20
	const each = most / 8
	v := newVerdicts(most)
	for i := range 20 {
		v.add(verdictKey{exprs: fmt.Sprint(i % 10)}, &verdict{cost: each})
	}
	if n := v.bytes.Load(); n != most || v.table.Len() != 8 {
		t.Errorf("%d verdicts take %d bytes; want 8 of %d together", v.table.Len(), n, most)
	}
	if v.add(verdictKey{exprs: "big"}, &verdict{cost: most/4 + 1}) || v.table.Len() != 8 {
		t.Error("a verdict of more than a quarter of the room is kept")
	}
}

// TestVerdictsOfStandings holds that who has the same roles shares verdicts, but where a
// variable tells them apart.
func TestVerdictsOfStandings(t *testing.T) {
	f := func(rule string, shared bool) {
		t.Helper()
		s := worldWith(t, fmt.Sprintf("  cluster_permissions: [\"*\"]\n  index_permissions: [{index_patterns: [\"logs-*\"], allowed_actions: [\"*\"]%s}]\n", rule), staff())
		one, two := s.policy.Principal(ask.Identity{Name: "u", Domain: "one"}), s.policy.Principal(ask.Identity{Name: "u", Domain: "two"})
		for _, who := range []*ask.Principal{one, two} {
			s.Plan(who, requestFor(t, "GET", "/logs-*/_search", ""), Known{Fresh: true})
		}
		if got := s.memo.verdicts.made.Load() == 1; got != shared {
			t.Errorf("%q: shared %v; want %v", rule, got, shared)
		}
	}
	f("", true)
	f(`, dls: '{"term":{"a":"b"}}'`, true)
	f(`, dls: '{"term":{"a":"${user.name}"}}'`, false)
}

// TestVerdictsOfOddLists holds that no list of expressions is taken for another one.
func TestVerdictsOfOddLists(t *testing.T) {
	s := worldWith(t, someRole, staff())
	f := func(header, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, "POST", "/_msearch", header+"\n{}\n")); !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %s in it", header, got, want)
		}
	}
	f(`{"index":["logs-a*","hr"]}`, `"index":["logs-a*","hr"]`)
	f(`{"index":["logs-a*,hr"]}`, "must not contain ','")
	f(`{"index":["*",""]}`, "must not be empty")
	f(`{"index":["*,"]}`, "must not contain ','")
}
