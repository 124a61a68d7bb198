package oracle_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"guard/test/guardproc"
	"guard/test/oracle"
	"guard/test/oracle/answer"
	"guard/test/testbed"
)

const caseDeviations = "testdata/deviations_of_cases.yml"

// caseNodes are the versions that were measured, and the nodes to compare on.
var caseNodes = []struct {
	version string
	kind    testbed.Kind
}{{"2.19.4", testbed.OpenSearch}, {"3.4.0", testbed.OpenSearch3}}

// readCaseFiles reads all parts, by the names of their files.
func readCaseFiles(t *testing.T) map[string]*oracle.CaseFile {
	t.Helper()
	paths, err := filepath.Glob("testdata/cases/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	files := map[string]*oracle.CaseFile{}
	for _, path := range paths {
		f, err := oracle.ReadCases(path)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(filepath.Base(path), ".yml")] = f
	}
	return files
}

// TestCases replays the measured cases on both versions: guard answers what the
// plugin did, or what is listed, with its reason.
func TestCases(t *testing.T) {
	list, err := oracle.ReadCaseDeviations(caseDeviations)
	if err != nil {
		t.Fatal(err)
	}
	files := readCaseFiles(t)
	r := &caseRun{list: list, used: map[string]bool{}}
	for _, n := range caseNodes {
		node := testbed.Own(t, testbed.Options{Kind: n.kind})
		for _, part := range slices.Sorted(maps.Keys(files)) {
			f := files[part]
			for i := range f.Groups {
				g := &f.Groups[i]
				for _, mode := range g.Modes {
					t.Run(strings.Join([]string{n.version, part, g.Name, mode}, "/"), func(t *testing.T) { r.group(t, node, n.version, f, g, mode) })
				}
			}
		}
	}
	t.Logf("%d answers are the plugin's, %d are listed to differ", r.equal, r.differ)
	for _, d := range list {
		for key := range d.Cases {
			if !r.used[key] && !t.Failed() {
				t.Errorf("%s: %s is listed, and guard does not answer so any more", caseDeviations, key)
			}
		}
	}
}

// TestCaseGroups holds that each case is replayed, or said why not.
func TestCaseGroups(t *testing.T) {
	replayed, skipped := 0, 0
	for part, f := range readCaseFiles(t) {
		for _, c := range f.Cases {
			switch g := f.Group(c.ID); {
			case g == nil:
				t.Errorf("%s: case %s is in no group", part, c.ID)
			case g.Skip == "" && len(g.Modes) == 0:
				t.Errorf("%s: group %q has neither a mode nor a reason", part, g.Name)
			case g.Skip != "":
				skipped++
			default:
				replayed++
			}
		}
	}
	t.Logf("%d cases are replayed, %d can't be", replayed, skipped)
}

// caseRun counts how answers compare.
type caseRun struct {
	list          []oracle.CaseDeviation
	used          map[string]bool // keys of the list that were met
	equal, differ int
}

// group runs the cases of one group against a fresh world.
func (r *caseRun) group(t *testing.T, node *testbed.Node, version string, f *oracle.CaseFile, g *oracle.CaseGroup, mode string) {
	if err := node.Reset(); err != nil {
		t.Fatal(err)
	}
	if err := f.Load(node.Client); err != nil {
		t.Fatal(err)
	}
	security, err := f.Security(mode)
	if err != nil {
		t.Fatal(err)
	}
	guard := guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, security), Upstream: node.URL, Config: g.Settings})
	for i := range f.Cases {
		if c := &f.Cases[i]; f.Group(c.ID) == g {
			r.check(t, guard.Client, c, version, mode)
		}
	}
}

func (r *caseRun) check(t *testing.T, guard testbed.Client, c *oracle.Case, version, mode string) {
	t.Helper()
	is := c.Wanted(version, mode)
	if is == "" {
		return
	}
	status, want, err := oracle.Measured(c.Send, is)
	if err != nil {
		t.Fatalf("%s: %v", c.ID, err)
	}
	res, err := sendCase(guard, c)
	if err != nil {
		t.Errorf("%s: %v", c.ID, err)
		return
	}
	_, path, _ := strings.Cut(c.Send, " ")
	got := oracle.Comparable(oracle.Anonymous(answer.Canonical(answer.FormOf(path), res.Status, res.Body)))
	if want != nil {
		got = oracle.Alike(got, want)
	}
	told := fmt.Sprintf("%d %s", res.Status, answer.Text(got))
	if res.Status == status && (want == nil || len(oracle.Differences(got, want)) == 0) {
		r.equal++
		return
	}
	key, listed := oracle.ListedAnswer(r.list, c.ID, version, mode)
	r.used[key] = true
	if told == listed {
		r.differ++
		return
	}
	t.Errorf("%s %s %s: %s as %s %.300s\n got %s\nwant %d %s\nlisted as %q: %s", c.ID, version, mode, c.Send, c.As, c.Body, told, status, answer.Text(want), key, listed)
	dumpCase(t, c.ID, version, mode, told, fmt.Sprintf("%d %s", status, answer.Text(want)))
}

// dumpCase adds a difference to the file of -dump.
func dumpCase(t *testing.T, id, version, mode, guard, plugin string) {
	t.Helper()
	if *dumpFile == "" {
		return
	}
	line, err := json.Marshal(map[string]string{"id": id, "version": version, "mode": mode, "guard": guard, "plugin": plugin})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(*dumpFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}

// sendCase sends the request of a case as its user, with the headers that it has.
func sendCase(target testbed.Client, c *oracle.Case) (testbed.Response, error) {
	user, _, wrong := strings.Cut(c.As, " with a wrong password")
	password := oracle.Password
	switch {
	case c.As == "no credentials":
		user, password = "", ""
	case wrong:
		password = "wrong"
	}
	method, path, _ := strings.Cut(c.Send, " ")
	if len(c.Headers) == 0 {
		return target.As(user, password).Do(method, path, c.Body)
	}
	req, err := http.NewRequest(method, target.URL+path, strings.NewReader(c.Body))
	if err != nil {
		return testbed.Response{}, err
	}
	if user != "" {
		req.SetBasicAuth(user, password)
	}
	for name, value := range c.Headers {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return testbed.Response{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return testbed.Response{Status: res.StatusCode, Header: res.Header, Body: text}, err
}

// TestCasesAreDocumented holds that operators are told each reason, with its cases.
func TestCasesAreDocumented(t *testing.T) {
	list, err := oracle.ReadCaseDeviations(caseDeviations)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		ids := map[string]bool{}
		for key := range d.Cases {
			id, _, _ := strings.Cut(key, " ")
			ids[id] = true
		}
		row := fmt.Sprintf("| %s | %s |\n", d.Why, strings.Join(slices.SortedFunc(maps.Keys(ids), byNumber), ", "))
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/compatibility.md lacks the row\n%s", row)
		}
	}
}

// byNumber orders ids as the cases ran: A4 before A10.
func byNumber(a, b string) int {
	parts := func(id string) (letter, rest string, n int) {
		rest = strings.TrimLeft(id[1:], "0123456789")
		_, _ = fmt.Sscanf(id[1:], "%d", &n) // no number is 0
		return id[:1], rest, n
	}
	la, ra, na := parts(a)
	lb, rb, nb := parts(b)
	return cmp.Or(strings.Compare(la, lb), cmp.Compare(na, nb), strings.Compare(ra, rb))
}
