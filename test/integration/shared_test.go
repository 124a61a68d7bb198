package integration_test

import (
	"sync"
	"testing"

	"guard/test/guardproc"
	"guard/test/integration"
	"guard/test/testbed"
)

var loadShared sync.Once

// shared returns the node that all tests but the table share, with the world. A test
// takes its changes back.
func shared(t *testing.T) *testbed.Node {
	t.Helper()
	node := testbed.Cluster(t, testbed.OpenSearch)
	loadShared.Do(func() {
		steps, err := integration.ReadWorld(worldFile)
		if err != nil {
			t.Fatal(err)
		}
		if err := integration.Load(node, testbed.OpenSearch, steps); err != nil {
			t.Fatal(err)
		}
	})
	return node
}

// inFront starts guard with the shared policy in front of the shared node.
func inFront(t *testing.T, node *testbed.Node) *guardproc.Proc {
	t.Helper()
	return guardproc.Start(t, guardproc.Options{Security: guardproc.WriteSecurity(t, policy(t, integration.Strict)), Upstream: node.URL})
}

// ask sends one request as a user and returns the summary of the answer.
func ask(t *testing.T, target testbed.Client, user, send, body string) string {
	t.Helper()
	c := integration.Case{As: user, Send: send, Body: body}
	res, err := c.Do(target, password)
	if err != nil {
		t.Fatalf("%s: %v", send, err)
	}
	return c.Summary(res)
}

// wants fails the test if the summary of an answer is not the wanted one.
func wants(t *testing.T, target testbed.Client, user, send, body, want string) {
	t.Helper()
	if got := ask(t, target, user, send, body); got != want {
		t.Errorf("%s %.200s as %s\n got %s\nwant %s", send, body, user, got, want)
	}
}

// apply sends "METHOD PATH BODY" to the node itself.
func apply(t *testing.T, node *testbed.Node, line string) {
	t.Helper()
	if err := integration.Apply(node.Client, line); err != nil {
		t.Fatal(err)
	}
}
