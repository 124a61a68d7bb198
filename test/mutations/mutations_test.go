// Package mutations holds that the comparison of the two evaluators notices what it is
// for: the compiled one is broken in known ways, a small change of its text each, and the
// tests that compare it with the plain one have to fail.
package mutations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The tests that have to notice, by their packages.
var noticing = map[string]string{
	"TestTwoRoads":  "./test/naive",           // what is granted
	"TestCovers":    "./test/naive",           // which patterns may be forwarded
	"TestForwarded": "./test/naive/forwarded", // what is forwarded for searches
	"TestGrowing":   "./test/naive/forwarded", // the same, where others join names
}

// mutation is a change of a file of the evaluator.
type mutation struct {
	name     string
	file     string
	old, new string
	noticed  string // by this test
}

var mutations = []mutation{
	{"legacy: an index that is open or granted", "authz/legacy.go", "if !closed && q.mayIndex(t.Name) {", "if !closed || q.mayIndex(t.Name) {", "TestTwoRoads"},
	{"legacy: closed members of an alias", "authz/legacy.go", "if !q.closed(m) && q.mayIndex(m) {", "if q.mayIndex(m) {", "TestTwoRoads"},
	{"legacy: any member of an alias for all", "authz/legacy.go", "if hidden+refused == 0 && len(t.Members) > 0 {", "if hidden+refused < len(t.Members) {", "TestTwoRoads"},
	{"legacy: a stream by its generations", "authz/legacy.go", "(q.closed(t.Name) || !q.mayIndex(t.Name))", "(q.closed(t.Name) && !q.mayIndex(t.Name))", "TestTwoRoads"},
	{"legacy: taking names away without do_not_fail_on_forbidden", "authz/legacy.go", "return q.policy.reduce && !q.part.Single", "return !q.part.Single", "TestTwoRoads"},
	{"legacy: the filter of an alias is lost", "authz/legacy.go", "via = []string{t.Name}", "via = nil", "TestTwoRoads"},
	{"protected indices for all", "authz/decide.go", "return !q.subject.protector && q.among(", "return false && q.among(", "TestTwoRoads"},
	{"patterns over protected indices", "authz/covers.go", "return !s.protector && len(p.protected.meets(asked)) > 0", "return false", "TestCovers"},
	{"v4: members that are system indices", "authz/v4.go", "case q.anyClosed(t):", "case q.closed(t.Name):", "TestTwoRoads"},
	{"v4: forbidden names are just left out", "authz/v4.go", "t.Wildcard && (closed || q.policy.reduce)", "t.Wildcard || closed || q.policy.reduce", "TestTwoRoads"},
	{"v4: names that are not granted have a say", "authz/v4.go", "granted, _ := q.v4Granted(t)\n\t\treturn granted", "return true", "TestTwoRoads"},
	{"patterns: a prefix is a name too short", "authz/nameset.go", "if n > len(text) {", "if n >= len(text) {", "TestTwoRoads"},
	{"patterns: a value may be a wildcard", "authz/pattern.go", "case v.List || strings.ContainsAny(v.Texts[0], notInNames):", "case v.List:", "TestTwoRoads"},
	{"rules: one that may apply applies for sure", "authz/entryset.go", "c = unsure(i)", "c = sure(i)", "TestTwoRoads"},
	{"rules: none by the name of a stream", "authz/entryset.go", "dst = x.appendOwners(dst, c, stream, now)", "", "TestTwoRoads"},
	{"rules: none by the names of aliases", "authz/entryset.go", "range c.Aliases(name)", "range c.Aliases(name + \"?\")", "TestTwoRoads"},
	{"outcome: the last name decides", "authz/outcome.go", "o.forbidden = o.forbidden || !hidden", "o.forbidden = !hidden", "TestTwoRoads"},
	{"outcome: a filter binds what is also free", "authz/outcome.go", "if len(a.Via) == 0 || len(b.Via) == 0 {", "if len(a.Via) == 0 && len(b.Via) == 0 {", "TestTwoRoads"},
	{"expressions: an exclusion does nothing", "indexresolver/resolve.go", "case exclusion:\n\t\tw.exclude(excluded)", "case exclusion:", "TestTwoRoads"},
	{"expressions: hidden names are found", "indexresolver/resolve.go", "return !m.hidden || w.opts", "return m.hidden || !m.hidden || w.opts", "TestTwoRoads"},
	{"expressions: one open index is the whole alias", "indexresolver/resolve.go", "return w.literal[m] || !slices.ContainsFunc(m.members, func(x *entry) bool { return !w.indices[x] })",
		"return w.literal[m] || slices.ContainsFunc(m.members, func(x *entry) bool { return w.indices[x] })", "TestTwoRoads"},
	{"expressions: who may not see a name may use it", "indexresolver/resolve.go", "w.unseen[found] = true", "w.out.Unknown = append(w.out.Unknown, string(e))", "TestTwoRoads"},
	{"forwarding: a pattern over indices of several rules", "authz/covers.go", "return q.uniform(asked)", "return ask.Free, true", "TestCovers"},
	{"forwarding: a pattern that may meet a system index", "authz/covers.go", "asked.IsRegex() || p.mayReachClosed(q.subject, asked) ||", "asked.IsRegex() ||", "TestCovers"},
	{"forwarding: any glob covers any other", "internal/names/cover.go", "s.b == len(p.b) && !s.c.has(len(p.c))", "s.b == len(p.b) && len(p.c) == 0", "TestCovers"},
	{"forwarding: a prefix covers one that is shorter", "internal/names/cover.go", "case !strings.HasPrefix(q.literalPrefix(), p.literalPrefix()):\n\t\treturn false // q goes on with any character where p wants its own", "", "TestCovers"},
	{"forwarding: a pattern that means more to the cluster", "gate/forwarded.go", "if j.Reduced || j.narrowed ||", "if j.Reduced ||", "TestForwarded"},
	{"forwarding: an alias that others may join", "gate/bind.go", "(pl.s.policy.Ruled(pl.who) || pl.heldByMembers(j))", "pl.s.policy.Ruled(pl.who)", "TestGrowing"},
	{"memory: what was decided holds whatever changes", "indexresolver/history.go", "if slices.ContainsFunc(c.affected, concerns) {", "if len(c.affected) < 0 {", "TestForwarded"},
	{"forwarding: a missing name that may come to be an alias", "gate/forwarded.go", "f.open = f.open || t.Kind != ask.Index", "f.open = f.open || t.Kind == ask.Alias || t.Kind == ask.DataStream", "TestGrowing"},
}

// TestMutations breaks the evaluator in each of these ways.
func TestMutations(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for test := range noticing {
		if said, err := compare(root, test, ""); err != nil {
			t.Fatalf("%s fails without a mutation: %v\n%s", test, err, said)
		}
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel() // most of the time is spent on building
			m.check(t, root)
		})
	}
}

// check applies m and wants the comparison to fail.
func (m mutation) check(t *testing.T, root string) {
	overlay, err := m.apply(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	said, err := compare(root, m.noticed, overlay)
	switch {
	case err == nil:
		t.Errorf("%s does not notice that %q became %q in %s", m.noticed, m.old, m.new, m.file)
	case !strings.Contains(said, "--- FAIL: "):
		t.Errorf("the comparison did not run: %v\n%s", err, said)
	default:
		t.Log(firstLines(said, 3))
	}
}

// apply writes the mutated file into dir, and beside it the list that has the go command
// read it in the place of its own.
func (m mutation) apply(root, dir string) (overlay string, err error) {
	file := filepath.Join(root, m.file)
	text, err := os.ReadFile(file) //nolint:gosec // G304: from the list above
	if err != nil {
		return "", err
	}
	if n := bytes.Count(text, []byte(m.old)); n != 1 {
		return "", fmt.Errorf("%s holds %q %d times; want it once: the mutation has to follow the code", m.file, m.old, n)
	}
	mutated, overlay := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: mutated}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(
		os.WriteFile(mutated, bytes.Replace(text, []byte(m.old), []byte(m.new), 1), 0o600),
		os.WriteFile(overlay, list, 0o600),
	)
}

// TestStale holds that a mutation whose text is not in the code, or is there twice, says so.
func TestStale(t *testing.T) {
	for _, old := range []string{"no such text", "q."} {
		m := mutation{file: "authz/legacy.go", old: old}
		if _, err := m.apply("../..", t.TempDir()); err == nil || !strings.Contains(err.Error(), "want it once") {
			t.Errorf("%q: %v; want an error", old, err)
		}
	}
}

// compare runs a test that compares the evaluators, with some files of the tree replaced.
func compare(root, test, overlay string) (said string, err error) {
	args := []string{"test", "-count=1", "-vet=off", "-run", "^" + test + "$"}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, noticing[test])...) //nolint:gosec // G204: no text from outside
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func firstLines(text string, n int) string {
	lines := strings.SplitN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}
