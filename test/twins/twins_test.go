package twins_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"guard/test/guardproc"
	"guard/test/testbed"
)

var (
	update = flag.Bool("update", false, "rewrite testdata/answered-*.tsv with what was counted")
	whole  = flag.Bool("whole", false, "all engines, and each request of all fields and in all scenarios (about an hour an engine)")
	seed   = flag.Uint64("seed", 1, "of what is chosen at random: another one asks other requests")
	only   = flag.String("only", "", "ask only requests whose name matches this regular expression")
	shown  = flag.Bool("show", false, "show what is asked, with the answer in the first world")
)

// enginesEnv names the engines to run, by commas.
const enginesEnv = "GUARD_TWINS_ENGINES"

func TestMain(m *testing.M) { testbed.Main(m) }

func engines() []testbed.Kind {
	if wanted := os.Getenv(enginesEnv); wanted != "" {
		var kinds []testbed.Kind
		for name := range strings.SplitSeq(wanted, ",") {
			kinds = append(kinds, testbed.Kind(name))
		}
		return kinds
	}
	if *whole {
		return []testbed.Kind{testbed.OpenSearch, testbed.ES710, testbed.OpenSearch3}
	}
	return []testbed.Kind{testbed.OpenSearch, testbed.ES710}
}

// TestTwins asks twin clusters the same, and compares their answers byte by byte.
func TestTwins(t *testing.T) {
	for _, kind := range engines() {
		t.Run(string(kind), func(t *testing.T) {
			node := testbed.Own(t, testbed.Options{Kind: kind})
			for i := range scenarios {
				scenarios[i].load(t, node)
			}
			t.Logf("%s is loaded", kind)
			guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, policy(t)), Upstream: node.URL})
			r := &run{t: t, kind: kind, guard: guard, names: names(), counts: map[string]*count{}}
			begin := time.Now()
			r.all()
			t.Logf("%s: %d requests in %.0f s: %s", kind, r.asked, time.Since(begin).Seconds(), r.summary())
			if *only == "" {
				r.compareCounts()
			}
		})
	}
}

// A run is that of one engine.
type run struct {
	t     *testing.T
	kind  testbed.Kind
	guard *guardproc.Proc
	names *regexp.Regexp

	mu          sync.Mutex // guards what follows
	asked       int
	counts      map[string]*count
	differences int
	differing   map[string]int // by row
	left        map[string]int // differences that the closed list tells of
}

// A twin is a request of a user, to be asked in each world of a scenario.
type twin struct {
	request
	user *user
	at   *scenario
}

// all asks everything.
func (r *run) all() {
	r.differing, r.left = map[string]int{}, map[string]int{}
	filter := regexp.MustCompile(*only)
	work := make(chan twin, 64)
	var workers sync.WaitGroup
	for range 2 * runtime.NumCPU() {
		workers.Go(func() {
			for w := range work {
				r.ask(w)
			}
		})
	}
	for i := range users {
		u := &users[i]
		for _, prefix := range u.prefixes {
			for n, req := range requests(r.t, r.kind, prefix, *whole) {
				if !filter.MatchString(req.row + ": " + req.name) {
					continue
				}
				if !req.valid() {
					r.t.Errorf("%s: %s is no JSON", req.row, req.body)
				}
				for s := range scenarios {
					if *whole || s == (n+len(prefix)+i)%len(scenarios) {
						work <- twin{req, u, &scenarios[s]}
					}
				}
			}
		}
	}
	close(work)
	workers.Wait()
}

// An answer is what came back, without what differs between any two answers.
type answer struct {
	status int
	text   string
}

// varying is what differs between any two answers of one cluster: times, ids of indices and
// nodes, numbers of writes, and where Java keeps an object that a message names.
var varying = regexp.MustCompile(`"took":\d+|"(?:index_uuid|uuid|node|creation_date)":"[^"]*"|"(?:_seq_no|_version|_primary_term)":\d+|[/ ][\w-]{22}\b|@[0-9a-f]{6,8}\b`)

func (r *run) send(w *twin, world int) (answer, error) {
	name := w.at.name + "-" + w.user.worlds[world].name
	put := strings.NewReplacer(index, name)
	res, err := r.guard.As(w.user.name, password).Do(w.method, put.Replace(w.path), put.Replace(w.body))
	if err != nil {
		return answer{}, err
	}
	text := varying.ReplaceAll(r.names.ReplaceAll(res.Body, []byte("$1")), nil)
	return answer{res.Status, string(text)}, nil
}

// ask sends a request in all worlds of its user.
func (r *run) ask(w twin) {
	var answers [3]answer
	for try := 0; try < 2; try++ {
		for i := range answers {
			a, err := r.send(&w, i)
			if err != nil {
				r.t.Errorf("%s as %s: %v", w.name, w.user.name, err)
				return
			}
			answers[i] = a
		}
		if answers[1] == answers[2] && answers[0] == answers[1] {
			break
		}
	}
	r.judge(&w, answers)
}

// judge compares the answers, and counts how the request ended.
func (r *run) judge(w *twin, answers [3]answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	key := w.row + "\t" + w.user.name
	if r.counts[key] == nil {
		r.counts[key] = &count{}
	}
	r.counts[key].add(answers[1])
	if *shown {
		r.t.Logf("%s in %s: %s %s %s\n%d %.2000s", w.user.name, w.at.name, w.method, w.path, w.body, answers[1].status, answers[1].text)
	}
	pairs := [][2]int{{1, 2}}
	if r.comparesNone(w) {
		pairs = append(pairs, [2]int{0, 1})
	}
	for _, p := range pairs {
		if answers[p[0]] == answers[p[1]] {
			continue
		}
		if l := leftoverOf(w, p); l != nil {
			r.left[l.entry]++
			continue
		}
		r.differing[w.row+"\t"+w.user.name]++
		if r.differences++; r.differences <= 400 {
			a, b := apart(answers[p[0]].text, answers[p[1]].text)
			r.t.Errorf("%s in %s, %s and %s: %s %s %s\n %d %s\n %d %s", w.user.name, w.at.name, w.user.worlds[p[0]].what(), w.user.worlds[p[1]].what(),
				w.method, w.path, w.body, answers[p[0]].status, a, answers[p[1]].status, b)
		}
	}
}

// comparesNone reports whether the answer must be that of an index that hides nothing. What
// words weigh follows from how many documents hold them, which the closed list tells of.
func (r *run) comparesNone(w *twin) bool {
	return !(w.user.documents && w.weighs) && !(w.user.fields && w.at.apart)
}

// apart returns both texts from a little before they differ.
func apart(a, b string) (string, string) {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	at = max(0, at-120)
	cut := func(s string) string { return s[min(at, len(s)):min(at+400, len(s))] }
	return cut(a), cut(b)
}

// summary tells how many requests ended in which way.
func (r *run) summary() string {
	var all count
	for _, c := range r.counts {
		all.answered += c.answered
		all.refused += c.refused
		all.failed += c.failed
		all.broken += c.broken
	}
	var rows []string
	for _, m := range []map[string]int{r.differing, r.left} {
		for name, n := range m {
			rows = append(rows, fmt.Sprintf("\n  %s: %d", name, n))
		}
	}
	slices.Sort(rows)
	return fmt.Sprintf("%d answered, %d refused, %d failed, %d broken; %d differences%s", all.answered, all.refused, all.failed, all.broken, r.differences, strings.Join(rows, ""))
}
