package changes

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/test/guardproc"
	"guard/test/testbed"
	"guard/test/written"
)

var (
	births = flag.Int("births", 2, "indices made in each way, on each engine, to see when they can be used")
	update = flag.Bool("update", false, "write how long births took into docs/benchmarks.md")
)

// benchmarks is the page with what births took, from here.
const benchmarks = "../../docs/benchmarks.md"

// way is how an index comes to be and how it is asked for.
type way struct {
	title string
	who   string
	// through tells that the index is made through guard, else on the node.
	through bool
	place   string // @ is the name of the index
	// once tells that the first request has to find it: guard may not wait to be told.
	once bool
}

var ways = []way{
	{title: "on the node, asked for by a wildcard that is granted", who: "newcomer", place: "new-*", once: true},
	{title: "on the node, by one that means more than is granted", who: "newcomer", place: "ne*"},
	{title: "on the node, by a wildcard under a document rule", who: "newrows", place: "new-*"},
	{title: "on the node, by its name", who: "newcomer", place: "@", once: true},
	{title: "on the node, by its name under a document rule", who: "newrows", place: "@", once: true},
	{title: "through guard, by a wildcard that means more than is granted", who: "newcomer", through: true, place: "ne*", once: true},
	{title: "through guard, by a wildcard under a document rule", who: "newrows", through: true, place: "new-*", once: true},
	{title: "through guard, by its name", who: "newcomer", through: true, place: "@", once: true},
}

// newcomers are the people of TestBirths.
var newcomers = map[string][]entry{
	"newcomer": {{patterns: []string{"new-*"}, actions: using}},
	"newrows":  {{patterns: []string{"new-*"}, dls: ownRows, actions: using}},
	"maker":    {{patterns: []string{"new-*"}, actions: []string{"indices_all"}}},
}

// TestBirths measures how long after an index is there the first request finds it. What
// it measures is not judged; but where nothing has to be learnt first, the first request
// has to find it.
func TestBirths(t *testing.T) {
	load := loadAverage()
	var table strings.Builder
	table.WriteString("| engine | an index is made | usable after, ms | requests until then |\n|---|---|---|---|\n")
	for _, kind := range engines {
		t.Run(string(kind), func(t *testing.T) {
			m := newMaternity(t, kind)
			table.WriteString(m.row("(none: the same request for what is there)", m.quiet()))
			for _, way := range ways {
				table.WriteString(m.row(way.title, m.measure(way)))
			}
		})
	}
	t.Logf("median (least–most) of %d:\n%s", *births, table.String())
	if *update && !t.Failed() {
		head := fmt.Sprintf("Median (least–most) of %d each, %s, %d cores, load average %s before the run, %s.\n\n", *births, runtime.Version(), runtime.NumCPU(), load, time.Now().UTC().Format("2006-01-02"))
		written.Block(t, benchmarks, "births: go test ./test/changes -run TestBirths -births 30 -update", head+table.String(), true)
	}
}

// maternity is a node on which indices are made, and guard before it.
type maternity struct {
	t     *testing.T
	node  *testbed.Node
	guard *guardproc.Proc
	made  int
}

func newMaternity(t *testing.T, kind testbed.Kind) *maternity {
	m := &maternity{t: t, node: testbed.Cluster(t, kind)}
	if err := m.node.Reset(); err != nil {
		t.Fatal(err)
	}
	m.create(m.node.Client, "new-first")
	m.create(m.node.Client, "neighbour")
	m.guard = guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, policy(t, "reducing", newcomers)), Upstream: m.node.URL})
	m.await("ne*", "newcomer", 1)
	return m
}

// create returns when the cluster has the name; its shard may still be on its way.
func (m *maternity) create(by testbed.Client, index string) {
	m.t.Helper()
	by.Must(m.t, "PUT", "/"+index+"?wait_for_active_shards=0", `{"settings":{"number_of_shards":1,"number_of_replicas":0},`+fmt.Sprintf(mappings, "")+`}`)
}

// found returns how many indices a person is told of: a request that waits for no shard.
func (m *maternity) found(who, place string) int {
	m.t.Helper()
	res, err := m.guard.As(who, password).Do("GET", "/"+place+"/_alias", "")
	if err != nil {
		m.t.Fatal(err)
	}
	if res.Status == http.StatusNotFound {
		return 0
	}
	var got map[string]any
	if err := json.Unmarshal(res.Body, &got); err != nil || res.Status != http.StatusOK {
		m.t.Fatalf("%s asks for %s: status %d: %.300s", who, place, res.Status, res.Body)
	}
	return len(got)
}

// await asks until a person is told of so many indices, and returns how often it asked.
func (m *maternity) await(place, who string, want int) int {
	m.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for n := 1; ; n++ {
		switch got := m.found(who, place); {
		case got == want:
			return n
		case time.Now().After(deadline):
			m.t.Fatalf("%s is told of %d indices at %s; want %d", who, got, place, want)
		}
	}
}

// took is what some births cost.
type took struct {
	after []time.Duration
	asked []int
}

// quiet measures the search alone.
func (m *maternity) quiet() (all took) {
	for range *births {
		began := time.Now()
		m.found("newcomer", "ne*")
		all.after, all.asked = append(all.after, time.Since(began)), append(all.asked, 1)
	}
	return all
}

func (m *maternity) measure(way way) (all took) {
	m.t.Helper()
	for range *births {
		time.Sleep(time.Duration(200+rand.IntN(200)) * time.Millisecond) // guard waits for news again
		m.made++
		index := fmt.Sprintf("new-%d", m.made)
		place, want := strings.ReplaceAll(way.place, "@", index), 1
		if place != index {
			want = m.found(way.who, place) + 1
		}
		if way.through {
			m.create(m.guard.As("maker", password), index)
		} else {
			m.create(m.node.Client, index)
		}
		began := time.Now()
		n := m.await(place, way.who, want)
		all.after, all.asked = append(all.after, time.Since(began)), append(all.asked, n)
		if way.once && n != 1 {
			m.t.Errorf("%s: request %d was the first that found %s", way.title, n, index)
		}
		m.node.Must(m.t, "DELETE", "/"+index, "")
		m.await("ne*", "newcomer", 1)
		m.await("new-*", "newrows", 1)
	}
	return all
}

// row is a line of the table.
func (m *maternity) row(title string, all took) string {
	slices.Sort(all.after)
	slices.Sort(all.asked)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	n := len(all.after)
	return fmt.Sprintf("| %s %s | %s | %.1f (%.1f–%.1f) | %d (%d–%d) |\n", m.node.Kind, m.node.Version, title,
		ms(all.after[n/2]), ms(all.after[0]), ms(all.after[n-1]), all.asked[n/2], all.asked[0], all.asked[n-1])
}

// loadAverage is what the machine was busy with in the last minute, where it tells.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	last, _, _ := strings.Cut(string(text), " ")
	return last
}
