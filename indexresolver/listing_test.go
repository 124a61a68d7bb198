package indexresolver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
	"guard/test/resolution"
)

// told prints what a resolution found, and the faults in their order.
func told(r ask.Resolved, err error) string {
	var rejection *ask.Rejection
	if errors.As(err, &rejection) {
		return fmt.Sprint(rejection.Status.Code())
	}
	var parts []string
	for _, target := range r.Targets {
		parts = append(parts, target.Name)
	}
	for _, f := range r.Faults {
		text := "!" + f.Name
		if len(f.List) > 0 {
			text += strings.Join(f.List, "+")
		}
		if f.As == ask.IndexExpression {
			text += "(expression)"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// TestResolveListing has what _resolve/index answered on every engine; test/resolution asks
// them. The small letters of opts are: u, ignore_unavailable; n, allow_no_indices=false.
func TestResolveListing(t *testing.T) {
	s := mustNew(t, world())
	f := func(expr, opts, want string) {
		t.Helper()
		if got := told(s.ResolveListing(names.Split(expr), options(t, opts), now, nil)); got != want {
			t.Errorf("%q with %q lists %q; want %q", expr, opts, got, want)
		}
	}
	f("al,nosuch", "", "al")
	f("nosuch", "n", "")
	f("a3", "", "a3") // whatever its state
	f("a*", "", "a1 a2 al alclosed alf almix althid alw")
	f("a*", "expand_wildcards=closed", "a3 al alclosed alf almix althid alw") // aliases have no state
	f("h*", "", "hds")                                                        // nor have streams
	f("h*", "expand_wildcards=open,hidden", "hds hid")
	f(".d*", "", ".dot .dothid .ds-ds1-000001 .ds-ds1-000002 .ds-ds2-000001 .ds-hds-000001")
	f("_all", "", "") // no name
	f("a*", "expand_wildcards=none", "")
	f("b*", "expand_wildcards=closed", "")
	f("b*", "expand_wildcards=closed n", "!b*")

	// An exclusion takes away one listing of a name, and all of what a wildcard matches.
	f("a*,-a1,-al*,-alw", "", "a2")
	f("a1,a*,-a1,-al*", "", "a1 a2")
	f("a1,a*,-a1,-a1,-al*", "", "a2")
	f("a1,-a1", "", "a1")
	f("a*,-nosuch,-al*", "", "a1 a2")
	f("a*,-nosuch*,-al*", "n", "a1 a2 !nosuch*")

	// What date math gives has to exist and to be shown.
	f("<a1>", "", "a1")
	f("<nosuch>", "", "!nosuch")
	f("<nosuch>", "u", "")
	f("<hid>", "", "!hid")
	f("<hid>", "expand_wildcards=open,hidden", "hid")
	f("z*,b*,-<b1>", "", "zal")
	f("z*,-<nosuch>", "", "zal !nosuch")
	f("<x-{now/d>", "", "400")
}

// TestFaults: of a list the cluster names the first expression that means nothing.
func TestFaults(t *testing.T) {
	c := world()
	f := func(expr, opts, want string) {
		t.Helper()
		r, err := mustNew(t, c).Resolve(names.Split(expr), options(t, opts), now)
		r.Targets = nil
		if got := told(r, err); got != want {
			t.Errorf("%q with %q: %q; want %q", expr, opts, got, want)
		}
	}
	f("z,nosuch,a1", "", "!z !nosuch")
	f("z,nosuch", "u", "")
	f("a*,-nosuch,z", "", "!nosuch !z")
	f("a*,-nosuch", "u", "")
	f("a*,-nosuch*", "", "")
	f("a*,-nosuch*,z*", "n", "!nosuch*")
	f("nosuch", "u n", "!nosuch(expression)")
	f("nosuch,x", "u n", "")
	f("b*", "expand_wildcards=closed n", "!b*")
	f("a*,-a*,-al", "n", "!a*+-a*+-al")
	f("b*,-b*", "n", "!b*+-b*")
	f("*,-*", "n", "!*+-*")

	// Where no wildcard is expanded one name alone may be missing, of several none.
	f("a*", "expand_wildcards=none", "")
	f("a*", "expand_wildcards=none n", "!a*(expression)")
	f("a*,a1", "expand_wildcards=none", "!a*(expression)")
	f("a*,a1", "expand_wildcards=none u n", "")
	f("a3,a*", "expand_wildcards=none", "") // the closed index comes first
	f("*", "expand_wildcards=hidden n", "!*(expression)")
	f("", "expand_wildcards=hidden n", "!_all(expression)")

	// OpenSearch 3 says it later, in other words.
	c.Engine = indexresolver.Engine{Distribution: indexresolver.OpenSearch, Major: 3}
	f("b*,-b*", "n", "")
}

func options(t *testing.T, opts string) names.Options {
	t.Helper()
	var query []string
	for word := range strings.FieldsSeq(opts) {
		switch word {
		case "u":
			word = "ignore_unavailable=true"
		case "n":
			word = "allow_no_indices=false"
		}
		query = append(query, word)
	}
	o, err := resolution.Options(strings.Join(query, "&"))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
