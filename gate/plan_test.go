package gate

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"guard/config"
	"guard/indexresolver"
	"guard/internal/ask"
)

var update = flag.Bool("update", false, "rewrite the outcomes in testdata/plans")

// staffMapping is the mapping of hr.
const staffMapping = `{"properties":{"name":{"type":"text"},"dept":{"type":"keyword"},"ssn":{"type":"keyword","copy_to":"folded"},"folded":{"type":"text"},"age":{"type":"integer"},"person":{"properties":{"nick":{"type":"keyword"}}}}}`

// planned is the snapshot of the plans in testdata.
func planned(t *testing.T) (*Snapshot, *config.Security) {
	t.Helper()
	sec := readSecurity(t, "testdata/security")
	policy := policyOf(t, sec, 512)
	logs := func(name string, aliases ...indexresolver.Membership) indexresolver.Index {
		return indexresolver.Index{Name: name, Mapping: []byte(`{"properties":{"msg":{"type":"text"},"level":{"type":"keyword"}}}`), Aliases: aliases}
	}
	c := indexresolver.Contents{ClusterUUID: "c", StateUUID: "s", Version: 1, FetchedAt: recordedAt, Indices: []indexresolver.Index{
		{Name: "hr", Mapping: []byte(staffMapping), Aliases: []indexresolver.Membership{{Alias: "staff"}, {Alias: "eng", Filter: []byte(`{"term":{"dept":"eng"}}`)}}},
		logs("logs-a-1", indexresolver.Membership{Alias: "logs-a"}), logs("logs-a-2", indexresolver.Membership{Alias: "logs-a"}),
		logs("logs-b-1"), logs("narrow"),
	}}
	for i := range 40 { // more names than fit into the request line of these tests
		c.Indices = append(c.Indices, logs(fmt.Sprintf("many-with-a-long-name-%02d", i)))
	}
	state, err := indexresolver.New(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewSnapshot(1, policy, state), sec
}

// TestPlans holds whole outcomes: what a request of somebody becomes. A case is a
// line "user METHOD target", lines of a body, and what is wanted behind "= ".
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/plans/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans: %v", err)
	}
	snap, sec := planned(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
				out = append(out, runCase(t, snap, sec, block))
			}
			got := strings.Join(out, "\n\n") + "\n"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(text), got); diff != "" && !*update {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// runCase plans the request of one block and returns the block with its outcome.
func runCase(t *testing.T, snap *Snapshot, sec *config.Security, block string) string {
	t.Helper()
	var kept, body []string
	var first string
	for line := range strings.SplitSeq(block, "\n") {
		switch {
		case strings.HasPrefix(line, "= "):
			continue
		case strings.HasPrefix(line, "#"):
		case first == "":
			first = line
		default:
			body = append(body, line)
		}
		kept = append(kept, line)
	}
	words := strings.SplitN(first, " ", 3)
	if len(words) != 3 {
		t.Fatalf("case %q; want a user, a method and a target", first)
	}
	who := snap.Principal(identityOf(words[0], sec.Users[words[0]]))
	text := strings.Join(body, "\n")
	kind := "application/json"
	if strings.Contains(words[2], "_bulk") || strings.Contains(words[2], "_msearch") {
		kind, text = "application/x-ndjson", text+"\n"
	}
	r := newRequest(t, words[1], words[2], kind, []byte(text))
	out := snap.Plan(who, r, Known{Fresh: true})
	return strings.Join(append(kept, show(t, out, body)...), "\n")
}

// show writes an outcome in lines.
func show(t *testing.T, out Outcome, body []string) []string {
	t.Helper()
	switch out.Kind {
	case Reject:
		return []string{fmt.Sprintf("= reject %d %s: %s", out.Rejection.Status.Code(), out.Rejection.Reason, out.Rejection.Public)}
	case Local:
		first, rest, _ := strings.Cut(string(out.Local.Body), "\n")
		lines := []string{fmt.Sprintf("= local %d %s", out.Local.Status, first)}
		for line := range strings.Lines(rest) {
			lines = append(lines, "= "+strings.TrimRight(line, "\n"))
		}
		return lines
	case Need:
		lines := []string{"= need"}
		for _, c := range out.Needs {
			lines = append(lines, showCall(c, c.Body)...)
		}
		return lines
	case Forward:
		sent := out.Forward.Body
		if out.Forward.Lines != nil {
			sent = pump(t, out.Forward.Lines, body)
		}
		head := "= forward"
		if out.Forward.Treat != nil {
			head += fmt.Sprintf(" treated by %T", out.Forward.Treat)
			if c, ok := out.Forward.Treat.(*documentCheck); ok && c.then != nil {
				head += fmt.Sprintf(" and %T", c.then)
			}
		}
		if out.Forward.ChangesState != nil && out.Forward.ChangesState() {
			head += ", changes state"
		}
		return append([]string{head}, showCall(out.Forward.Call, sent)...)
	}
	t.Fatalf("outcome of kind %d", out.Kind)
	return nil
}

func showCall(c Call, body []byte) []string {
	lines := []string{fmt.Sprintf("= %s %s", c.Method, c.Target)}
	if c.Source == ClientBody {
		return append(lines, "= the client's body")
	}
	for line := range strings.Lines(string(body)) {
		lines = append(lines, "= "+strings.TrimRight(line, "\n"))
	}
	return lines
}

// pump runs the lines of a bulk through their plan.
func pump(t *testing.T, lines Lines, body []string) []byte {
	t.Helper()
	var dst []byte
	for i := 0; i < len(body); i++ {
		hasDocument, err := lines.Action([]byte(body[i]))
		if err != nil {
			return append(dst, "fault: "+asRejection(err).Public...)
		}
		var doc []byte
		if hasDocument {
			i++
			doc = []byte(body[i])
		}
		if dst, err = lines.Item(dst, doc); err != nil {
			t.Fatal(err)
		}
	}
	local, err := lines.End()
	if err != nil {
		t.Fatal(err)
	}
	if local != nil {
		return append(dst, "local: "+string(local.Body)...)
	}
	return dst
}

// TestStaleStateDecidesNothing holds law 10.
func TestStaleStateDecidesNothing(t *testing.T) {
	snap, sec := planned(t)
	f := func(user string, age time.Duration, want Kind) {
		t.Helper()
		r := newRequest(t, "GET", "/hr/_search", "", nil)
		r.Now = recordedAt.Add(age)
		out := snap.Plan(snap.Principal(identityOf(user, sec.Users[user])), r, Known{Fresh: true})
		if out.Kind != want {
			t.Errorf("%s at an age of %v: kind %d; want %d", user, age, out.Kind, want)
		}
		if want == Reject && (out.Rejection.Status != 503 || out.Rejection.Reason != ask.ReasonStateStale) {
			t.Errorf("%s at an age of %v: %+v; want 503 %s", user, age, out.Rejection, ask.ReasonStateStale)
		}
	}
	f("reader", time.Minute, Forward)
	f("reader", time.Minute+time.Second, Reject)
	f("admin", time.Hour, Forward)

	empty := NewSnapshot(1, &Policy{authz: snap.policy, router: snap.router, settings: snap.settings, memo: snap.memo}, nil)
	out := empty.Plan(snap.Principal(identityOf("reader", sec.Users["reader"])), newRequest(t, "GET", "/hr/_search", "", nil), Known{})
	if out.Kind != Reject || out.Rejection.Status != 503 {
		t.Errorf("without a state: %+v; want 503", out)
	}
}

// TestZeroOutcomeRejects holds law 9.
func TestZeroOutcomeRejects(t *testing.T) {
	var out Outcome
	if out.Kind != Reject || out.Rejection.Status.Code() != 403 {
		t.Errorf("zero outcome: kind %d, status %d; want a refusal with 403", out.Kind, out.Rejection.Status.Code())
	}
}

// TestUnknownNameAsksForNewerState holds that a name is refreshed for once.
func TestUnknownNameAsksForNewerState(t *testing.T) {
	snap, sec := planned(t)
	who := snap.Principal(identityOf("reader", sec.Users["reader"]))
	r := newRequest(t, "GET", "/logs-a-new/_search", "", nil)
	if out := snap.Plan(who, r, Known{}); out.Kind != Need || !out.NeedState {
		t.Errorf("first plan: kind %d, newer state %v; want a need for it", out.Kind, out.NeedState)
	}
	if out := snap.Plan(who, r, Known{Fresh: true}); out.Kind != Forward {
		t.Errorf("second plan: kind %d, %v; want the cluster's own answer", out.Kind, out.Rejection.Public)
	}
}
