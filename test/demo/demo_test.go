package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"guard/test/testbed"
)

var update = flag.Bool("update", false, "write docs/demo.md anew")

// buildDemo builds the demo as `go run` would.
func buildDemo(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "demo")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("cannot build the demo: %v\n%s", err, out)
	}
	return binary
}

// command runs the demo in the repository's root, with a folder of its own for
// temporary files, which has to be empty in the end.
func command(t *testing.T, binary string, env ...string) *exec.Cmd {
	t.Helper()
	temp := t.TempDir()
	t.Cleanup(func() {
		left, err := os.ReadDir(temp)
		for _, e := range left {
			// The Go tool keeps folders of its own there while it works.
			if strings.HasPrefix(e.Name(), "guard-demo-") {
				t.Errorf("%s is left behind", e.Name())
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
	cmd := exec.Command(binary)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(append(os.Environ(), "TMPDIR="+temp, "ONCE="), env...)
	return cmd
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// TestOnce runs the demo to its end and holds its picture against docs/demo.md.
func TestOnce(t *testing.T) {
	cmd := command(t, buildDemo(t), "ONCE=1")
	var out, progress bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &progress
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &out, &progress)
	}
	checkSize(t, out.String())
	for _, a := range address.FindAllString(progress.String()+out.String(), -1) {
		checkGone(t, a)
	}
	picture := address.ReplaceAllString(out.String(), fmt.Sprintf("http://127.0.0.1:%d", guardPort))
	checkDocument(t, filepath.Join("..", "..", "docs", "demo.md"), picture)
}

// checkSize holds the promise that the picture fits on one screen.
func checkSize(t *testing.T, picture string) {
	t.Helper()
	n := 0
	for line := range strings.Lines(picture) {
		n++
		if w := utf8.RuneCountInString(strings.TrimRight(line, "\n")); w > maxWidth {
			t.Errorf("line %d has %d columns; want at most %d: %s", n, w, maxWidth, line)
		}
	}
	if n > maxLines {
		t.Errorf("%d lines; want at most %d", n, maxLines)
	}
}

// checkDocument wants the picture between the fences of the file.
func checkDocument(t *testing.T, path, picture string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const open, shut = "```text\n", "```\n"
	before, rest, opened := strings.Cut(string(text), open)
	have, after, closed := strings.Cut(rest, shut)
	if !opened || !closed {
		t.Fatalf("%s has no block between %q and %q", path, open, shut)
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+open+picture+shut+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(picture, have); diff != "" {
		t.Errorf("docs/demo.md does not show what the demo prints; `go test ./test/demo -run TestOnce -update` writes it anew (-printed +file):\n%s", diff)
	}
}

// checkGone wants nobody to answer there any more.
func checkGone(t *testing.T, url string) {
	t.Helper()
	if res, err := http.Get(url); err == nil {
		_ = res.Body.Close()
		t.Errorf("%s still answers", url)
	}
}

// TestStop tells the demo to stop while guard serves, as Ctrl-C does.
func TestStop(t *testing.T) {
	cmd := command(t, buildDemo(t))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }() // fails if it has ended, as it should
	urls := awaitServing(t, stderr)
	if len(urls) != 3 {
		t.Fatalf("the demo names %q; want guard, its probes and the node", urls)
	}
	if res, err := http.Get(urls[0]); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("guard does not answer with 401 while the demo waits: %v, %v", res, err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the demo ends with %v; want exit code 0", err)
	}
	for _, u := range urls {
		checkGone(t, u)
	}
}

// awaitServing reads what the demo does until it names its addresses; the rest is
// thrown away.
func awaitServing(t *testing.T, stderr interface{ Read([]byte) (int, error) }) []string {
	t.Helper()
	lines := bufio.NewScanner(stderr)
	timeout := time.AfterFunc(5*time.Minute, func() { panic("the demo does not serve after 5 minutes") })
	defer timeout.Stop()
	var said strings.Builder
	for lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		if strings.HasPrefix(lines.Text(), "demo: guard is at ") {
			urls := address.FindAllString(lines.Text(), -1)
			go func() {
				for lines.Scan() { // an unread pipe would stop the demo
				}
			}()
			return urls
		}
	}
	t.Fatalf("the demo ended before it served:\n%s", &said)
	return nil
}

// everything answers each search with every customer, as a cluster without guard does.
func everything(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"hits":{"total":{"value":1},"hits":[{"_id":"c2","_source":{"name":"Bram","iban":"x"}}]},"count":9,"found":true}`)
}

// TestWrong lets the demo meet a server that keeps no rule: each answer is reported.
func TestWrong(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(everything))
	defer srv.Close()
	picture, err := show(testbed.Client{URL: srv.URL}, "0")
	if err == nil {
		t.Fatal("no answer is reported as wrong")
	}
	for _, u := range users {
		if !strings.Contains(err.Error(), u.name+": ") {
			t.Errorf("the wrong answer to %s is not reported in: %v", u.name, err)
		}
	}
	for _, d := range detours {
		if !strings.Contains(err.Error(), d.user+": GET "+d.path) {
			t.Errorf("the wrong answer to %s for %s is not reported in: %v", d.user, d.path, err)
		}
	}
	if n := strings.Count(picture, "NOT AS THE POLICY SAYS"); n != len(detours) {
		t.Errorf("%d ways are marked as wrong; want %d", n, len(detours))
	}
}

// TestCheck changes one thing of a right answer at a time.
func TestCheck(t *testing.T) {
	sam := users[2]
	right := func() answer {
		var a answer
		a.Status = 200
		counts := map[string]int{}
		for _, c := range sam.visible() {
			a.Hits.Total.Value++
			counts[c.Region]++
			a.Hits.Hits = append(a.Hits.Hits, struct {
				ID     string         `json:"_id"`
				Source map[string]any `json:"_source"`
			}{c.ID, sam.source(c)})
		}
		for region, n := range counts {
			a.Aggregations.Region.Buckets = append(a.Aggregations.Region.Buckets, struct {
				Key      string
				DocCount int `json:"doc_count"`
			}{region, n})
		}
		return a
	}
	if err := sam.check(right()); err != nil {
		t.Fatalf("the right answer is wrong: %v", err)
	}
	f := func(change func(*answer), want string) {
		t.Helper()
		a := right()
		change(&a)
		if err := sam.check(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v; want %q", err, want)
		}
	}
	f(func(a *answer) { a.Status = 403 }, "status 403; want 200")
	f(func(a *answer) { a.Hits.Total.Value++ }, "6 documents of 7; want 6")
	f(func(a *answer) { a.Hits.Hits = a.Hits.Hits[1:] }, "5 documents of 6; want 6")
	f(func(a *answer) { a.Hits.Hits[0].ID = "c7" }, "document 0 is c7")
	f(func(a *answer) { a.Hits.Hits[3].Source["iban"] = "x" }, "document 3 is c4 map[iban:x")
	f(func(a *answer) { delete(a.Hits.Hits[3].Source, "name") }, "document 3 is c4")
	f(func(a *answer) { a.Aggregations.Region.Buckets[0].DocCount++ }, "counts by region are")
}

func TestWrap(t *testing.T) {
	f := func(text string, width int, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, wrap(text, width)); diff != "" {
			t.Errorf("wrap(%q, %d) (-want +got):\n%s", text, width, diff)
		}
	}
	f("", 5, "")
	f("abcde", 5, "abcde")
	f("ab cde", 5, "ab", "cde")
	f("ab,cde", 5, "ab,", "cde")
	f("abcdefg", 5, "abcde", "fg")
}
