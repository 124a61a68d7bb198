package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
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

// makeDemo is `make demo` in the repository's root, as a group of processes of its own
// and with a folder of its own for temporary files, which has to be empty in the end.
func makeDemo(t *testing.T, once string) *exec.Cmd {
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
	cmd := exec.Command("make", "demo", "ONCE="+once)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "MAKEFLAGS=", "MAKELEVEL=") // not those of a `make test` around
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// documented is the picture with the ports that docs/demo.md shows.
func documented(picture string) string {
	return address.ReplaceAllString(picture, fmt.Sprintf("http://127.0.0.1:%d", guardPort))
}

// TestOnce runs the demo to its end: the picture of docs/demo.md, without inviting
// anybody to a guard that is gone.
func TestOnce(t *testing.T) {
	cmd := makeDemo(t, "1")
	var out, progress bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &progress
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &out, &progress)
	}
	checkWidth(t, progress.String())
	for _, a := range address.FindAllString(progress.String()+out.String(), -1) {
		checkGone(t, a)
	}
	checkDocument(t, documented(out.String()+invitation("http://127.0.0.1:0")))
}

// checkSize holds the promise that the picture fits on one screen.
func checkSize(t *testing.T, picture string) {
	t.Helper()
	checkWidth(t, picture)
	if n := strings.Count(picture, "\n"); n > maxLines {
		t.Errorf("%d lines; want at most %d", n, maxLines)
	}
}

// checkWidth wants lines that no screen breaks.
func checkWidth(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if w := utf8.RuneCountInString(line); w > maxWidth {
			t.Errorf("a line has %d columns; want at most %d: %s", w, maxWidth, line)
		}
	}
}

// checkDocument wants the picture between the fences of docs/demo.md.
func checkDocument(t *testing.T, picture string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "demo.md")
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

// TestStop interrupts make and the demo while guard serves, as Ctrl-C does.
func TestStop(t *testing.T) {
	cmd := makeDemo(t, "")
	var out bytes.Buffer
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }() // fails if all have ended, as they should
	urls, rest := awaitServing(t, stderr)
	if len(urls) != 3 {
		t.Fatalf("the demo names %q; want guard, its probes and the node", urls)
	}
	if res, err := http.Get(urls[0]); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("guard does not answer with 401 while the demo waits: %v, %v", res, err)
	}
	checkInvitation(t, urls[0])
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	// make reports a demo that fails; it dies of the signal itself in any case.
	if said := <-rest; strings.Contains(said, "rror") {
		t.Errorf("being interrupted is called an error:\n%s", said)
	}
	if err := cmd.Wait(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("make ends with %v; want the signal that it was sent", err)
	}
	for _, u := range urls {
		checkGone(t, u)
	}
	checkSize(t, out.String())
	checkDocument(t, documented(out.String()))
}

var commandLine = regexp.MustCompile(`curl -u (\w+):([\w-]+) '([^']+)'`)

// checkInvitation runs the command lines that the demo prints.
func checkInvitation(t *testing.T, url string) {
	t.Helper()
	lines := commandLine.FindAllStringSubmatch(invitation(url), -1)
	if len(lines) != 3 {
		t.Fatalf("%d command lines are found; want 3", len(lines))
	}
	for _, m := range lines {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m[3], nil)
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth(m[1], m[2])
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // the status is enough
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d; want 200", m[0], res.StatusCode)
		}
	}
}

// TestStopEarly: being told to stop is no error before the answers either, unless the
// exit code is to vouch for them.
func TestStopEarly(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := run(ctx, false); err != nil {
		t.Errorf("a demo that is told to stop ends with %v; want no error", err)
	}
	if err := run(ctx, true); err == nil {
		t.Error("a demo without answers vouches for them")
	}
}

// awaitServing reads what the demo does until it names its addresses, which it returns,
// and then what it says until its end.
func awaitServing(t *testing.T, stderr io.Reader) ([]string, <-chan string) {
	t.Helper()
	lines := bufio.NewScanner(stderr)
	timeout := time.AfterFunc(5*time.Minute, func() { panic("the demo does not serve after 5 minutes") })
	defer timeout.Stop()
	var said strings.Builder
	for lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		if strings.HasPrefix(lines.Text(), "demo: guard: ") {
			urls := address.FindAllString(lines.Text(), -1)
			rest := make(chan string, 1)
			go func() { // an unread pipe would stop the demo
				var said strings.Builder
				for lines.Scan() {
					fmt.Fprintln(&said, lines.Text())
				}
				rest <- said.String()
			}()
			return urls, rest
		}
	}
	t.Fatalf("the demo ended before it served:\n%s", &said)
	return nil, nil
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
