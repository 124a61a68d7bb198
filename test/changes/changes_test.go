package changes

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"guard/test/guardproc"
	"guard/test/testbed"
)

var duration = flag.Duration("duration", 7*time.Second, "how long each engine is changed")

func TestMain(m *testing.M) { testbed.Main(m) }

var modeNames = slices.Sorted(maps.Keys(modes))

var engines = []testbed.Kind{testbed.OpenSearch, testbed.OpenSearch3, testbed.ES710}

// TestChanges: while names come, go and mean something else, no answer shows what its
// reader was not granted at any moment of the request, by a state that is not older than
// promised.
func TestChanges(t *testing.T) {
	for _, kind := range engines {
		t.Run(string(kind), func(t *testing.T) { testChanges(t, kind) })
	}
}

func testChanges(t *testing.T, kind testbed.Kind) {
	w := &world{t: t, node: testbed.Cluster(t, kind), streams: kind != testbed.ES710}
	w.load()
	guards := map[string]*guardproc.Proc{}
	for _, mode := range modeNames {
		guards[mode] = guardproc.Start(t, guardproc.Options{
			Security: guardproc.WriteSecurity(t, policy(t, mode, roles)), Upstream: w.node.URL,
			Config: fmt.Sprintf("state: {max_age: %v}\n", staleness),
		})
	}
	l := newLoad(t, w, guards)
	end := time.Now().Add(*duration)
	var all sync.WaitGroup
	loop := func(seed uint64, f func(*rand.Rand)) {
		all.Go(func() {
			for rnd := rand.New(rand.NewPCG(seed, uint64(time.Now().UnixNano()))); time.Now().Before(end); {
				f(rnd)
			}
		})
	}
	for i, f := range w.changers() {
		loop(uint64(i), f)
	}
	for i := range people {
		p := &people[i]
		if p.name == "streamed" && !w.streams {
			continue
		}
		loop(uint64(100+i), func(rnd *rand.Rand) { l.ask(p, rnd) })
	}
	all.Wait()
	l.report()
}

func (l *load) report() {
	l.t.Logf("%d changes", l.world.changes.Load())
	for _, part := range []map[string]int{l.tally, l.shown, l.faults} {
		for _, k := range slices.Sorted(maps.Keys(part)) {
			l.t.Logf("%6d %s", part[k], k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(l.worst)) {
		l.t.Logf("%v %s", l.worst[k], k)
	}
	for _, k := range slices.Sorted(maps.Keys(l.leaks)) {
		l.t.Logf("%6d LEAK %s", l.leaks[k], k)
	}
}
