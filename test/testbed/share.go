package testbed

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared holds the nodes of this test binary, by what was asked for.
var shared struct {
	sync.Mutex
	nodes map[string]*sharedNode
}

// A sharedNode is started by the first test that asks for it; the others wait, and fail with the same error.
type sharedNode struct {
	once sync.Once
	node *Node
	err  error
}

// Cluster returns the node of that kind that all tests of this binary share,
// started when the first one asks. The test fails if it can't be had. A package
// that uses it runs its tests by Main, and a test that needs an empty cluster calls
// Reset first.
func Cluster(t testing.TB, kind Kind) *Node {
	t.Helper()
	return Shared(t, Options{Kind: kind})
}

// Shared is Cluster for a node with other options: equal options, one node.
func Shared(t testing.TB, o Options) *Node {
	t.Helper()
	key := fmt.Sprintf("%+v", o)
	shared.Lock()
	if shared.nodes == nil {
		shared.nodes = map[string]*sharedNode{}
	}
	s := shared.nodes[key]
	if s == nil {
		s = &sharedNode{}
		shared.nodes[key] = s
	}
	shared.Unlock()
	s.once.Do(func() { s.node, s.err = Start(context.Background(), o) })
	if s.err != nil {
		t.Fatalf("no cluster: %v", s.err)
	}
	return s.node
}

// Own starts a node that ends with the test; its logs are kept if the test failed.
func Own(t testing.TB, o Options) *Node {
	t.Helper()
	node, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("no cluster: %v", err)
	}
	t.Cleanup(func() {
		if err := node.end(t.Failed()); err != nil {
			t.Error(err)
		}
	})
	return node
}

// atExit holds what Main does in the end.
var atExit struct {
	sync.Mutex
	funcs []func() error
}

// AtExit has Main call f after the tests: for what a test binary makes once, such
// as a program that all of its tests run.
func AtExit(f func() error) {
	atExit.Lock()
	defer atExit.Unlock()
	atExit.funcs = append(atExit.funcs, f)
}

// Main runs the tests of a package, stops the nodes that they shared and does what
// AtExit was told; logs are kept if a test failed. Use it as:
// func TestMain(m *testing.M) { testbed.Main(m) }
func Main(m *testing.M) {
	code := m.Run()
	for _, f := range append(atExit.funcs, func() error { return stopShared(code != 0) }) {
		if err := f(); err != nil {
			progress("%v", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// stopShared stops all shared nodes.
func stopShared(keepLogs bool) error {
	shared.Lock()
	defer shared.Unlock()
	var first error
	for _, s := range shared.nodes {
		if s.node == nil {
			continue
		}
		if err := s.node.end(keepLogs); err != nil && first == nil {
			first = err
		}
	}
	shared.nodes = nil
	return first
}
