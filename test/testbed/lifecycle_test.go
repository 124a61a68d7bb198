package testbed_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"guard/test/testbed"
)

// helperEnv makes this test binary start a node, print what it has and wait for its end.
const helperEnv = "GUARD_TESTBED_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperEnv) != "" {
		helper()
	}
	testbed.Main(m)
}

func helper() {
	node, err := testbed.Start(context.Background(), testbed.Options{Kind: testbed.OpenSearch})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(node.URL, node.LogPath)
	select {}
}

// A process that is killed can't stop its node: the node has to notice. While both
// live, a second node of the same kind must not meet the first.
func TestNodeDiesWithItsProcess(t *testing.T) {
	ours := testbed.Cluster(t, testbed.OpenSearch)

	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the helper ended: %v", err)
	}
	url, log, _ := strings.Cut(strings.TrimSpace(line), " ")
	theirs := testbed.Client{URL: url}
	theirs.Must(t, "PUT", "/theirs", "")
	if res, err := ours.Do("GET", "/theirs", ""); err != nil || res.Status != 404 {
		t.Errorf("our node answers %d, %v for an index of the other one; want 404", res.Status, err)
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed: always an error
	await(t, "the node's port to close", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	run := filepath.Dir(filepath.Dir(log))
	if _, err := os.Stat(filepath.Join(run, "data")); err != nil {
		t.Fatalf("the killed run should have left its data: %v", err)
	}
	if err := testbed.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(run, "data")); !os.IsNotExist(err) {
		t.Errorf("data of a dead run after the next start: %v; want none", err)
	}
	if _, err := os.Stat(log); err != nil {
		t.Errorf("the log of a run that was killed is gone: %v", err)
	}
	ours.Must(t, "GET", "/", "") // the sweep left the living alone
}

// await waits up to ten seconds until ok.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain for %s", what)
}

// checkOptions checks that ports and settings are the caller's where the caller names them.
func checkOptions(t *testing.T, node *testbed.Node, port int) {
	t.Helper()
	if want := fmt.Sprintf("http://127.0.0.1:%d", port); node.URL != want {
		t.Errorf("URL %s; want %s", node.URL, want)
	}
	var root struct {
		Name string `json:"cluster_name"`
	}
	decode(t, node.Must(t, "GET", "/", ""), &root)
	if root.Name != "mine" {
		t.Errorf("cluster name %q; want mine", root.Name)
	}
	var nodes struct {
		Nodes map[string]struct {
			JVM struct {
				Arguments []string `json:"input_arguments"`
			}
		}
	}
	decode(t, node.Must(t, "GET", "/_nodes/jvm", ""), &nodes)
	for _, n := range nodes.Nodes {
		if !slices.Contains(n.JVM.Arguments, "-Xmx400m") || slices.Contains(n.JVM.Arguments, "-XX:TieredStopAtLevel=1") {
			t.Errorf("java runs with %q; want a heap of 400m at full speed", n.JVM.Arguments)
		}
	}
}

// checkStop checks that a stopped node leaves nothing.
func checkStop(t *testing.T, node *testbed.Node) {
	t.Helper()
	if err := node.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := node.Stop(); err != nil {
		t.Errorf("second stop: %v", err)
	}
	if _, err := node.Do("GET", "/", ""); err == nil {
		t.Error("a stopped node answers")
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(node.LogPath))); !os.IsNotExist(err) {
		t.Errorf("folder of a stopped node: %v; want none", err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A start that is given up says that, and not what the half-started node had logged.
func TestStartIsGivenUp(t *testing.T) {
	ctx, giveUp := context.WithCancel(t.Context())
	timer := time.AfterFunc(time.Second, giveUp)
	defer timer.Stop()
	_, err := testbed.Start(ctx, testbed.Options{Kind: testbed.OpenSearch})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v; want one line with %v", err, context.Canceled)
	}
}

// A node that can't start ends the start at once, and its log tells why.
func TestStartTellsWhyANodeFails(t *testing.T) {
	_, err := testbed.Start(t.Context(), testbed.Options{
		Kind: testbed.ES710, Settings: map[string]string{"no.such.setting": "1"},
	})
	if err == nil || !strings.Contains(err.Error(), "unknown setting [no.such.setting]") {
		t.Errorf("start with an unknown setting: %v; want the setting named", err)
	}
}
