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
	f("fetch --all", "flag provided but not defined: -all")
	f("start --prot 1 opensearch", "flag provided but not defined: -prot")
	f("start solr", `unknown kind of node "solr"`)
	f("start --security x opensearch", "kind opensearch has no security plugin")
}

// TestHelp: help is no error, wherever it is asked for.
func TestHelp(t *testing.T) {
	for _, line := range []string{"help", "-h", "-help", "--help", "start --help", "start -h", "start --port 9201 --help opensearch", "fetch --help", "fetch -h all"} {
		var out bytes.Buffer
		if err := command(t.Context(), strings.Fields(line), &out); err != nil {
			t.Errorf("testbed %s: %v", line, err)
		}
		for _, want := range []string{"testbed fetch KIND", "testbed start", "secured3"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("testbed %s: the help lacks %q:\n%s", line, want, out.String())
			}
		}
	}
}
