package ask

import (
	"slices"
	"strings"
	"testing"
)

// TestRejection: the zero value refuses, and no refusal is a success.
func TestRejection(t *testing.T) {
	f := func(r Rejection, code int, name string) {
		t.Helper()
		if r.Status.Code() != code || r.Type.Name() != name {
			t.Errorf("status %d, type %q: got %d %q; want %d %q", int(r.Status), string(r.Type), r.Status.Code(), r.Type.Name(), code, name)
		}
	}
	f(Rejection{}, 403, "security_exception")
	f(Rejection{Status: -1}, 403, "security_exception")
	f(Rejection{Status: 200}, 403, "security_exception")
	f(Rejection{Status: 399}, 403, "security_exception")
	f(Rejection{Status: 400}, 400, "security_exception")
	f(Rejection{Status: 599}, 599, "security_exception")
	f(Rejection{Status: 600}, 403, "security_exception")
	f(Rejection{Status: 404, Type: "index_not_found_exception"}, 404, "index_not_found_exception")
}

// TestStatusOf: what the cluster calls an error is one, and its own fault if the status
// says something else.
func TestStatusOf(t *testing.T) {
	for code, want := range map[int]int{400: 400, 404: 404, 599: 599, 0: 502, -1: 502, 200: 502, 302: 502, 399: 502, 600: 502, 1000: 502} {
		if got := StatusOf(code).Code(); got != want {
			t.Errorf("%d: got %d; want %d", code, got, want)
		}
	}
}

// TestText: an error always has a text, and a bounded one.
func TestText(t *testing.T) {
	f := func(public, want string) {
		t.Helper()
		if got := (&Rejection{Public: public}).Text(); got != want {
			t.Errorf("%.20q of %d bytes: got %.20q of %d; want %.20q of %d", public, len(public), got, len(got), want, len(want))
		}
	}
	f("", "refused")
	f("no such index [x]", "no such index [x]")
	f(strings.Repeat("x", maxText), strings.Repeat("x", maxText))
	f(strings.Repeat("x", maxText+1), strings.Repeat("x", maxText)+"...")
	f("x"+strings.Repeat("é", maxText), "x"+strings.Repeat("é", maxText/2-1)+"...") // never half a character
}

// TestIndexMembers: an error names an index with the resource that somebody said, and one
// of which nothing was said names none.
func TestIndexMembers(t *testing.T) {
	f := func(r *Rejection, want ...string) {
		t.Helper()
		var got []string
		for _, m := range r.IndexMembers() {
			got = append(got, m.Key+"="+strings.Join(m.Texts, "+"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: got %q; want %q", r, got, want)
		}
	}
	f(&Rejection{})
	f(&Rejection{Index: &MissingName{}})
	f(&Rejection{Index: &MissingName{Name: "x"}})
	f(NoSuchIndex("x", resourceUnknown))
	f(NoSuchIndex("x", NoResource), "index=x", "index_uuid=_na_")
	f(NoSuchIndex("", IndexOrAlias), "index=", "resource.id=", "resource.type=index_or_alias", "index_uuid=_na_")
	f(NoSuchIndex("x", IndexOrAlias), "index=x", "resource.id=x", "resource.type=index_or_alias", "index_uuid=_na_")
	f(NoSuchIndex("x", IndexExpression), "index=x", "resource.id=x", "resource.type=index_expression", "index_uuid=_na_")
	f(NoSuchIndex("_all", IndexExpression), "index=_all", "resource.id=_all", "resource.type=index_expression", "index_uuid=_na_")
	f(NothingLeft([]string{"a*", "-a*"}, IndexOrAlias), "resource.id=a*+-a*", "resource.type=index_or_alias")
	f(NothingLeft(nil, IndexExpression), "resource.id=_all", "resource.type=index_expression")
	f(InvalidIndexName("x", "no"), "index=x", "index_uuid=_na_")
}
