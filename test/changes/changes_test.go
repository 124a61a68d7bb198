package changes

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
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
	goesOn := l.until(time.Now().Add(*duration))
	var all sync.WaitGroup
	loop := func(seed uint64, f func(*rand.Rand)) {
		all.Go(func() {
			for rnd := rand.New(rand.NewPCG(seed, uint64(time.Now().UnixNano()))); goesOn(); {
				f(rnd)
			}
		})
	}
	// A node changes its state one step at a time: more hands would only wait for each other.
	const hands = 3
	list := w.changers()
	for i := range hands {
		loop(uint64(i), func(rnd *rand.Rand) {
			for n := i; n < len(list) && goesOn(); n += hands {
				list[n](rnd)
			}
		})
	}
	for i := range people {
		p := &people[i]
		if p.name == "streamed" && !w.streams {
			continue
		}
		loop(uint64(100+i), func(rnd *rand.Rand) { l.ask(p, rnd) })
	}
	loop(200, l.own)
	loop(201, l.control)
	all.Wait()
	l.checkSettled()
	w.checkWritten()
	l.checkBusy()
	l.report()
}

// until reports whether the run goes on: until its end, and on a busy machine as long as it
// takes to show anything.
func (l *load) until(end time.Time) func() bool {
	const most = 2 * time.Minute
	return func() bool {
		now := time.Now()
		return now.Before(end) || now.Before(end.Add(most)) && l.lacks() != nil
	}
}

// lacks says of what too little has happened for the run to show anything.
func (l *load) lacks() error {
	const changes, marks = 40, 20
	if n := l.world.changes.Load(); n < changes {
		return fmt.Errorf("%d changes; want at least %d", n, changes)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range people {
		p := &people[i]
		if n := l.shown[p.name]; n < marks && (p.name != "streamed" || l.world.streams) {
			return fmt.Errorf("%s was shown %d marks; want at least %d", p.name, n, marks)
		}
	}
	return nil
}

// checkBusy: a run in which too little happened shows nothing.
func (l *load) checkBusy() {
	if err := l.lacks(); err != nil {
		l.t.Error(err)
	}
	for mode, g := range l.guards {
		if n := g.Metric(l.t, "guard_panics_total"); n != 0 {
			l.t.Errorf("%s: %v panics", mode, n)
		}
	}
}

// control asks the node itself what people ask: what fails there is no fault of guard's.
func (l *load) control(rnd *rand.Rand) {
	p := &people[rnd.IntN(len(people))]
	q := lists[rnd.IntN(len(lists))].on(p.places[rnd.IntN(len(p.places))], "")
	if rnd.IntN(3) == 0 {
		q = singles[rnd.IntN(len(singles))].on(p.single[rnd.IntN(len(p.single))], "")
	}
	res, err := l.world.node.Do(q.method, q.path, q.body)
	if err != nil {
		l.t.Errorf("the node itself: %v", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tally[fmt.Sprint("the node itself ", res.Status)]++
	if res.Status/100 == 5 {
		l.faults[fmt.Sprintf("the node itself: %d %.200s", res.Status, res.Body)]++
	}
}

func (l *load) report() {
	l.t.Logf("%d changes", l.world.changes.Load())
	for mode, g := range l.guards {
		l.t.Logf("%s: the state was read in vain %d times", mode, strings.Count(g.Log(), "stays and grows older"))
	}
	for _, part := range []map[string]int{l.tally, l.shown, l.faults} {
		for _, k := range slices.Sorted(maps.Keys(part)) {
			l.t.Logf("%6d %s", part[k], k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(l.worst)) {
		l.t.Logf("%s was answered by a state that was %v old before he asked", k, l.worst[k])
	}
	for _, k := range slices.Sorted(maps.Keys(l.leaks)) {
		l.t.Logf("%6d LEAK %s", l.leaks[k], k)
	}
}
