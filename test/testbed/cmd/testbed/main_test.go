package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// The nodes themselves are tested with the package; here it is the command line.
func TestCommandRefuses(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		err := command(t.Context(), strings.Fields(line), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("testbed %s: %v; want %q in it", line, err, want)
		}
	}
	f("", "no command")
	f("stop", `unknown command "stop"; want fetch, start or help`)
	f("fetch", "no kind; want some of [")
	f("fetch solr", `unknown kind of node "solr"`)
	f("fetch all opensearch", `unknown kind of node "all"`)
	f("start", "start takes one kind")
	f("start opensearch --port 9200", "start takes one kind, behind the flags")
	f("start --prot 1 opensearch", "flag provided but not defined: -prot")
	f("start solr", `unknown kind of node "solr"`)
	f("start --security x opensearch", "kind opensearch has no security plugin")
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if err := command(t.Context(), []string{"help"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"testbed fetch KIND", "testbed start", "secured3"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("help lacks %q:\n%s", want, out.String())
		}
	}
}
