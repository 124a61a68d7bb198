package gate

import (
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
)

// TestChange holds how indices are opened, closed and blocked: one by one, by their own names.
func TestChange(t *testing.T) {
	s := worldBy(t, config.EvaluationLegacy, byQueryRole, append(writable(), indexresolver.Index{Name: "xclosed", Closed: true}, indexresolver.Index{Name: "shut", Closed: true},
		indexresolver.Index{Name: "masked", Mapping: []byte(staffMapping)},
		indexresolver.Index{Name: "xf", Aliases: []indexresolver.Membership{{Alias: "xpart", Filter: []byte(`{"term":{"a":1}}`)}, {Alias: "foreign"}}},
		indexresolver.Index{Name: "ya", Aliases: []indexresolver.Membership{{Alias: "foreign"}}}))
	f := func(method, target, want string) {
		t.Helper()
		out := planFor(t, s, method, target, "")
		if got := gist(t, out); got != want {
			t.Errorf("%s %s: %s; want %s", method, target, got, want)
		}
		if out.Forward.Repeatable || out.Forward.ChangesState == nil {
			t.Errorf("%s %s: may be repeated: %v; want a write that is not, and that changes the state", method, target, out.Forward.Repeatable)
		}
	}
	refused := func(method, target, want string) {
		t.Helper()
		if got := gist(t, planFor(t, s, method, target, "")); !strings.HasPrefix(got, "reject ") || !strings.Contains(got, want) {
			t.Errorf("%s %s: %s; want a refusal with %q", method, target, got, want)
		}
	}
	for _, how := range []struct{ method, path, open string }{
		{"POST", "_open", "xclosed"}, {"POST", "_close", "xa,xb,xf"}, {"PUT", "_block/write", "xa,xb,xf"},
	} {
		f(how.method, "/xa/"+how.path, how.method+" /xa/"+how.path)
		f(how.method, "/xb,xa/"+how.path+"?timeout=1s", how.method+" /xa,xb/"+how.path+"?timeout=1s")
		f(how.method, "/xs/"+how.path, how.method+" /xa,xb/"+how.path)
		f(how.method, "/xpart/"+how.path, how.method+" /xf/"+how.path)
		f(how.method, "/x*/"+how.path, how.method+" /"+how.open+"/"+how.path+"?ignore_unavailable=true")
		f(how.method, "/none*/"+how.path, how.method+" /.none*,-*/"+how.path+map[bool]string{true: "?expand_wildcards=open"}[how.path == "_open"])
		for _, name := range []string{"secret", "ya", "xa,secret", "nosuch", "foreign", "*", "_all"} {
			refused(how.method, "/"+name+"/"+how.path, "no permissions for [indices:admin/")
		}
		for _, bound := range []string{"hr", "fielded", "masked", "xa,hr"} {
			refused(how.method, "/"+bound+"/"+how.path, "under a document or field rule")
		}
		f(how.method, "/xnone/"+how.path, how.method+" /xnone/"+how.path) // the cluster says that it is missing
		refused(how.method, "/other:xa/"+how.path, "")
		refused(how.method, "/xa/"+how.path+"?wait_for_completion=false", "unrecognized parameter")
	}
	for _, block := range []string{"metadata", "read", "read_only", "write"} {
		f("PUT", "/xa/_block/"+block, "PUT /xa/_block/"+block)
	}
	refused("PUT", "/xa/_block/nosuch", "No block found with name nosuch")
	refused("PUT", "/xa/_block/read_only_allow_delete", "No block found with name read_only_allow_delete")
}

// TestChangeAsks holds that each action is asked, with that of the cluster's own requests.
func TestChangeAsks(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		for target, actions := range map[string][]string{
			"POST /xa/_open": {"indices:admin/open"}, "POST /xa/_close": {"indices:admin/close", "indices:admin/close[s]"},
			"PUT /xa/_block/write": {"indices:admin/block/add", "indices:admin/block/add[s]"},
		} {
			method, path, _ := strings.Cut(target, " ")
			f := func(granted []string, want string) {
				t.Helper()
				s := worldBy(t, by, "  index_permissions:\n    - {index_patterns: [\"x*\"], allowed_actions: [\""+strings.Join(granted, `", "`)+"\"]}\n", writable())
				if got := gist(t, planFor(t, s, method, path, "")); !strings.Contains(got, want) {
					t.Errorf("%s: %s with %q: %s; want %s", by, target, granted, got, want)
				}
			}
			f(actions, target)
			for i := range actions {
				but := append([]string{"indices:nothing"}, actions[:i]...)
				f(append(but, actions[i+1:]...), "no permissions for ["+actions[i]+"]")
			}
		}
	}
}
