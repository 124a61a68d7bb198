package soak

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"guard/test/guardproc"
	"guard/test/testbed"
)

var duration = flag.Duration("duration", 2*time.Minute, "how long nodes die and policies change")

// TestMain has guard built with the race detector, if there is a C compiler for it.
func TestMain(m *testing.M) {
	if _, err := exec.LookPath("cc"); err == nil {
		_ = os.Setenv(guardproc.RaceEnv, "1") // fails for names that are none
	}
	testbed.Main(m)
}

// settled is what a guard holds that nobody uses.
type settled struct{ goroutines, descriptors float64 }

func (x *traffic) settled() settled {
	return settled{x.guard.Metric(x.t, "go_goroutines"), x.guard.Metric(x.t, "process_open_fds")}
}

// TestSoak mixes traffic of all kinds with reloads every second and nodes that die.
// Every answer is one of those that the model allows, no acknowledged write is lost and
// none is made twice; once the nodes stay up all is answered, and in the end guard holds
// no more than in the beginning.
func TestSoak(t *testing.T) {
	t.Logf("guard is built with the race detector: %v", os.Getenv(guardproc.RaceEnv) == "1")
	node := testbed.Cluster(t, testbed.OpenSearch)
	load(t, node)
	var relays []*relay
	var urls []string
	for range 3 {
		r := startRelay(t, strings.TrimPrefix(node.URL, "http://"))
		relays, urls = append(relays, r), append(urls, "http://"+r.addr)
	}
	guard := guardproc.Start(t, guardproc.Options{
		Security: guardproc.WriteSecurity(t, views[0].policy(t)), Upstream: strings.Join(urls, ","),
		Config: "timeouts: {connect: 2s, upstream: 20s}\n",
	})
	x := newTraffic(t, guard)
	x.runAll(time.Second) // what is made once is made now
	x.http.CloseIdleConnections()
	before := x.settled()

	stop := make(chan struct{})
	var storm sync.WaitGroup
	storm.Go(func() { killNodes(t, relays, stop) })
	storm.Go(func() { x.runAll(*duration) })
	x.reloads(*duration)
	close(stop)
	storm.Wait()

	time.Sleep(3 * time.Second) // nodes that came back are found
	x.calm.Store(true)
	x.runAll(5 * time.Second)

	x.journal.check(t, node, "journal")
	x.stream.check(t, node, "stream")
	x.checkSettled(before)
	if strings.Contains(guard.Log(), "DATA RACE") {
		t.Errorf("the race detector found:\n%s", guard.Log())
	}
	if n := guard.Metric(t, "guard_panics_total"); n != 0 {
		t.Errorf("%v panics", n)
	}
	t.Logf("%d answers checked, %d requests failed with their node; unknown, acknowledged and refused writes: %v planned, %v passed",
		x.whole.Load(), x.failed.Load(), x.journal.counts(), x.stream.counts())
	if x.whole.Load() < 5*int64(duration.Seconds()) || x.failed.Load() == 0 {
		t.Error("too little happened for this test to show anything")
	}
}

// runAll runs each kind of client for a while.
func (x *traffic) runAll(during time.Duration) {
	var all sync.WaitGroup
	end := time.Now().Add(during)
	for i, kind := range x.kinds() {
		all.Go(func() {
			for rnd := rand.New(rand.NewPCG(uint64(i), 1)); time.Now().Before(end) && !x.t.Failed(); {
				kind(rnd)
			}
		})
	}
	all.Wait()
}

// killNodes kills one node after the other, now and then all of them, and revives them.
func killNodes(t *testing.T, relays []*relay, stop <-chan struct{}) {
	rnd := rand.New(rand.NewPCG(3, 3))
	wait := func(most time.Duration) bool {
		select {
		case <-stop:
			return false
		case <-time.After(time.Duration(rnd.Int64N(int64(most)))):
			return true
		}
	}
	for round := 1; ; round++ {
		victims := []*relay{relays[rnd.IntN(len(relays))]}
		if round%10 == 0 {
			victims = relays
		}
		for _, r := range victims {
			r.kill()
		}
		goOn := wait(1500 * time.Millisecond)
		for _, r := range victims {
			if err := r.revive(); err != nil {
				t.Errorf("cannot revive a node: %v", err)
			}
		}
		if !goOn || !wait(3*time.Second) {
			return
		}
	}
}

// reloads changes the policy every second; each tenth is broken and changes nothing.
func (x *traffic) reloads(during time.Duration) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	end := time.Now().Add(during)
	for i := 1; time.Now().Before(end) && !x.t.Failed(); i++ {
		<-every.C
		if i%10 == 0 {
			x.guard.BreakSecurity(x.t, map[string]string{"roles.yml": "_meta: {type: roles, config_version: 2}\nreader: {nonsense: true}\n"})
		}
		x.guard.UpdateSecurity(x.t, map[string]string{"roles.yml": views[i%2].roles(x.t)})
	}
}

// checkSettled waits until guard holds no more than before.
func (x *traffic) checkSettled(before settled) {
	x.t.Helper()
	x.http.CloseIdleConnections()
	const slack = 20 // idle connections to nodes, workers of the runtime
	var now settled
	for range 100 {
		now = x.settled()
		if now.goroutines <= before.goroutines+slack && now.descriptors <= before.descriptors+slack {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	x.t.Errorf("guard holds %s in the end; %s before", now, before)
}

func (s settled) String() string {
	return fmt.Sprintf("%v goroutines and %v descriptors", s.goroutines, s.descriptors)
}
