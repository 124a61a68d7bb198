package endpoint

import (
	"strings"
	"testing"

	"guard/internal/ask"
	"guard/internal/names"
)

// row returns a row that compiles, changed by edit.
func row(edit func(*Route)) Route {
	r := Route{
		ID: "search", Methods: "GET,POST", Paths: []string{"/_search", "/{index}/_search"},
		Privileges: asked(index("indices:data/read/search")), Targets: PathIndex,
		Body: SearchBody, Answer: Hits, Repeatable: true,
	}
	if edit != nil {
		edit(&r)
	}
	return r
}

func TestCompileRefuses(t *testing.T) {
	f := func(text string, table ...Route) {
		t.Helper()
		_, err := Compile(table)
		if err == nil {
			t.Fatalf("compiled; want %q", text)
		}
		if !strings.Contains(err.Error(), text) {
			t.Fatalf("got %q; want %q in it", err, text)
		}
	}
	one := func(text string, edit func(*Route)) {
		t.Helper()
		f(text, row(edit))
	}
	f(`row 1: id "search" is empty or used before`, row(nil), row(func(r *Route) { r.Paths = []string{"/_a"} }))
	one(`id "" is empty`, func(r *Route) { r.ID = "" })
	f(`row "other": POST /_search is the same request as /_search of row "search"`,
		row(nil), row(func(r *Route) { r.ID, r.Methods, r.Paths = "other", "POST", []string{"/_search"} }))
	f(`GET /{index}/_search is the same request as /{index}/_search of row "search"`,
		row(nil), row(func(r *Route) { r.ID, r.Paths = "other", []string{"/{index}/_search"} }))
	f(`GET /_x/{b} is the same request as /_x/{a} of row "one"`,
		Route{ID: "one", Methods: "GET", Paths: []string{"/_x/{a}"}, NotBuilt: true},
		Route{ID: "two", Methods: "GET", Paths: []string{"/_x/{b}"}, NotBuilt: true})
	f(`GET /_search is the same request as /_search`, row(func(r *Route) { r.Paths = []string{"/_search", "/_search"} }))
	one("no path", func(r *Route) { r.Paths = nil })
	one(`cannot use method "PATCH"`, func(r *Route) { r.Methods = "PATCH" })
	one(`cannot use method ""`, func(r *Route) { r.Methods = "" })
	one(`cannot use method "GET" in "GET,GET"`, func(r *Route) { r.Methods = "GET,GET" })
	one(`cannot use path "_search"; want a leading '/'`, func(r *Route) { r.Paths = []string{"_search", "/{index}/_x"} })
	one(`cannot use segment ""`, func(r *Route) { r.Paths = []string{"/{index}//x"} })
	one(`cannot use segment ".."`, func(r *Route) { r.Paths = []string{"/{index}/.."} })
	one(`cannot use segment "x{index}"`, func(r *Route) { r.Paths = []string{"/x{index}"} })
	one(`{index} stands twice`, func(r *Route) { r.Paths = []string{"/{index}/{index}"} })
	one("targets, body and answer must be chosen", func(r *Route) { r.Targets = targetsUnset })
	one("targets, body and answer must be chosen", func(r *Route) { r.Body = bodyUnset })
	one("targets, body and answer must be chosen", func(r *Route) { r.Answer = answerUnset })
	one("no privilege is asked", func(r *Route) { r.Privileges = nil })
	one("a privilege names no action", func(r *Route) { r.Privileges = asked(ask.Privilege{}) })
	one("privileges of items belong to bodies with several items", func(r *Route) { r.Items = r.Privileges })
	one("privileges of items belong to bodies with several items", func(r *Route) { r.Targets = MgetDocs })
	one("is asked on indices, and none is named", func(r *Route) { r.Targets, r.Paths = NoTargets, []string{"/_x"} })
	one("a path names indices, and the row has no targets", func(r *Route) {
		r.Targets, r.Privileges = NoTargets, asked(cluster("cluster:x"))
	})
	one("indices stand in {name}, and no path has it", func(r *Route) { r.Targets = PathName })
	one("exactly one index is named, and no path has {index}", func(r *Route) { r.Single, r.Paths = true, []string{"/_x"} })
	one("exactly one index is named, and wildcards expand", func(r *Route) { r.Single, r.Opts.Expand = true, names.ExpandOpen })
	one("a write may not be repeated", func(r *Route) { r.Writes = true })
	one("a read does not change the state", func(r *Route) { r.ChangesState = true })
	one(`parameter "a" is empty, of no kind, or stands twice`, func(r *Route) { r.Params = of(Plain, "a", "a") })
	one(`parameter "" is empty`, func(r *Route) { r.Params = of(Plain, "") })
	one(`parameter "a" is empty, of no kind`, func(r *Route) { r.Params = of(Unknown, "a") })
	one(`parameter "a": only index options`, func(r *Route) { r.Params = of(IndexOption, "a") })
	one(`parameter "expand_wildcards": only index options`, func(r *Route) { r.Params = of(Plain, "expand_wildcards") })
	one(`parameter "source" carries a body`, func(r *Route) { r.Body, r.Params = NoBody, of(BodyText, "source") })
	one("not built, and yet more than", func(r *Route) { r.NotBuilt = true })
}

// TestCompileReportsAllFaults: a table with two faults names both.
func TestCompileReportsAllFaults(t *testing.T) {
	_, err := Compile([]Route{row(func(r *Route) { r.Body = bodyUnset }), row(func(r *Route) { r.ID, r.Methods = "x", "TRACE" })})
	if err == nil || !strings.Contains(err.Error(), `row "search"`) || !strings.Contains(err.Error(), `row "x"`) {
		t.Fatalf("got %v; want both rows named", err)
	}
}

// TestCatalogueHolds pins what the rows of the catalogue have in common.
func TestCatalogueHolds(t *testing.T) {
	for _, r := range testRouter.rows {
		if r.NotBuilt {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			reads := !r.Writes
			if reads != r.Repeatable {
				t.Errorf("reads %v, and repeatable %v", reads, r.Repeatable)
			}
			for _, name := range []string{"pretty", "human", "error_trace", "filter_path", "format"} {
				if !hasParam(r, name) {
					t.Errorf("parameter %q is missing; every endpoint reads it", name)
				}
			}
			for _, name := range []string{"name", "type", "include_type_name", "perform_permission_check"} {
				if hasParam(r, name) {
					t.Errorf("parameter %q is taken", name)
				}
			}
		})
	}
}

func hasParam(r Route, name string) bool {
	for _, p := range r.Params {
		if p.Name == name {
			return true
		}
	}
	return false
}
