package gate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/config"
	"guard/internal/ask"
)

// crowdRoles differ in what can tell one principal's decisions from another's: variables in
// names and rules, dates, expressions that can run out of time, and rules that free or bind.
const crowdRoles = keptRole + `own:
  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["${user.name}-*", "${attr.team}-1"], allowed_actions: ["*"]}
personal:
  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["doc-*", "pub-1"], allowed_actions: ["*"], dls: '{"term":{"level":"${attr.team}"}}'}
dated:
  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["<b-{now/M{M}}>", "<sec-{now+4M/M{M}}>", "<doc-{now+8M/M{M}}>"], allowed_actions: ["*"]}
expressed:
  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["/(?!sec)[a-z]+-1/"], allowed_actions: ["*"], fls: ["level"]}
widest:
  cluster_permissions: ["indices:data/read*"]
  index_permissions:
    - {index_patterns: ["*"], allowed_actions: ["indices:data/read*"]}
reader:
  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["b-*", "sec-al"], allowed_actions: ["indices:data/read*"], dls: '{"match_none":{}}'}
`

// crowd makes principals of some roles. Many have the roles of others, and other values.
func crowd(rnd *rand.Rand) []*ask.Principal {
	roles := []string{"u", "own", "personal", "dated", "expressed", "widest", "reader"}
	var list []*ask.Principal
	for i := range 24 {
		own := []string{anyOf(rnd, roles)}
		for range i % 3 {
			if r := anyOf(rnd, roles); !slices.Contains(own, r) {
				own = append(own, r)
			}
		}
		if i%2 == 1 {
			own = list[i-1].Roles
		}
		who := &ask.Principal{Identity: ask.Identity{Name: anyOf(rnd, []string{"pub", "doc", "sec", "b"})}, Roles: own}
		switch rnd.IntN(4) {
		case 0: // the variable has no value
		case 1:
			who.Attributes = map[string]string{"attr.team": "sec", "attr.internal.service": "true"}
		default:
			who.Attributes = map[string]string{"attr.team": anyOf(rnd, []string{"sec", "pub", "info"})}
		}
		list = append(list, who)
	}
	return list
}

// TestVerdictsOfACrowd is TestVerdicts with many principals beside each other, of whom some
// look on an older state than others, and with room for few verdicts. Time passes meanwhile.
func TestVerdictsOfACrowd(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		for _, most := range []int64{8 << 10, 1 << 20} {
			t.Run(fmt.Sprint(by, most), func(t *testing.T) { checkCrowd(t, by, most) })
		}
	}
}

func checkCrowd(t *testing.T, by config.Evaluation, most int64) {
	kept := worldBy(t, by, crowdRoles, staff())
	kept.memo = newMemo(most)
	rnd := rand.New(rand.NewPCG(uint64(most), 9)) //nolint:gosec // G404: repeatable
	c, people, a := newChanging(uint64(most)), crowd(rnd), keptAnswer()
	var states []*Snapshot // each with one that remembers nothing behind it
	for step := range 150 {
		for range 1 + rnd.IntN(3) { // some changes are taken back before anybody looks
			c.change()
		}
		var last *Snapshot
		if n := len(states); n > 0 {
			last = states[n-2]
		}
		warm := &Snapshot{Generation: 1, policy: kept.policy, router: kept.router, settings: kept.settings, memo: kept.memo}
		if last == nil {
			warm.state = c.state(t, nil)
		} else {
			warm.state = c.state(t, last.state)
		}
		cold := &Snapshot{Generation: 1, policy: kept.policy, state: c.state(t, nil), router: kept.router, settings: kept.settings}
		states = append(states, warm, cold)
		for range 60 {
			at := len(states) - 2 // a request that began earlier still looks on an older one
			if rnd.IntN(4) == 0 {
				at = 2 * rnd.IntN(len(states)/2)
				at = max(at, len(states)-20)
			}
			who, target := anyOf(rnd, people), anyOf(rnd, keptTargets)
			cold := *states[at+1]
			cold.memo = newMemo(0)
			url, body, _ := strings.Cut(target, " ")
			r := requestFor(t, "GET", url, body)
			r.Now = recordedAt.Add(time.Duration(step) * 20 * 24 * time.Hour)
			states[at].state.Confirm(r.Now)
			cold.state.Confirm(r.Now)
			got, want := states[at].Plan(who, r, Known{Fresh: true}), cold.Plan(who, r, Known{Fresh: true})
			if g, w := gist(t, got), gist(t, want); g != w {
				t.Fatalf("step %d: %s as %+v\nkept: %s\nanew: %s", step, target, who, g, w)
			}
			if g, w := treatedText(got, a), treatedText(want, a); g != w {
				t.Fatalf("step %d: answer to %s as %+v\nkept: %s\nanew: %s", step, target, who, g, w)
			}
		}
	}
	k := (&Snapshot{memo: kept.memo}).Kept()
	if k.Bytes > most || k.Recalled < 10 {
		t.Errorf("%d bytes are kept, %d verdicts recalled and %d made; want at most %d bytes, and some recalled", k.Bytes, k.Recalled, k.Made, most)
	}
}
