package gate

import (
	"slices"
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
)

// newIndexRole may do all on x* and the stream, and all under some rule on others.
const newIndexRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["x*", "one", stream, "al-*"], allowed_actions: ["*"]}
    - {index_patterns: [hr, "logs-000008"], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
    - {index_patterns: [fielded], fls: ["~ssn"], allowed_actions: ["*"]}
    - {index_patterns: [masked], masked_fields: [ssn], allowed_actions: ["*"]}
`

func newIndexWorld(t *testing.T, by config.Evaluation) *Snapshot {
	t.Helper()
	in := func(aliases ...string) (list []indexresolver.Membership) {
		for _, a := range aliases {
			list = append(list, indexresolver.Membership{Alias: a})
		}
		return list
	}
	_, stream := withStream()
	return worldBy(t, by, newIndexRole, append(writable(),
		indexresolver.Index{Name: ".ds-stream-1", Hidden: true},
		indexresolver.Index{Name: "masked", Mapping: []byte(staffMapping)},
		indexresolver.Index{Name: "x-000007", Aliases: in("x-write")},
		indexresolver.Index{Name: "logs-7", Aliases: in("al-logs")},
		indexresolver.Index{Name: ".kibana-4", Aliases: in("al-plain")},
		indexresolver.Index{Name: "ya", Aliases: in("foreign")}, indexresolver.Index{Name: "xf", Aliases: in("foreign")}), stream)
}

// TestNewIndex holds how a rollover or a resize is forwarded: by the one name of the source
// and that of the new index, both as they were decided.
func TestNewIndex(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := newIndexWorld(t, by)
		f := func(method, target, body, want string) {
			t.Helper()
			out := planFor(t, s, method, target, body)
			if got := gist(t, out); got != want {
				t.Errorf("%s: %s %s %s: %s; want %s", by, method, target, body, got, want)
			}
			if out.Forward.Repeatable || out.Forward.ChangesState == nil {
				t.Errorf("%s: %s: may be repeated: %v; want a write that is not, and that makes an index", by, target, out.Forward.Repeatable)
			}
		}
		f("POST", "/x-write/_rollover", "", "POST /x-write/_rollover")
		f("POST", "/x-write/_rollover/x-9?dry_run&timeout=1s", `{"conditions":{"max_docs":5,"max_age":"1d"}}`, `POST /x-write/_rollover/x-9?dry_run&timeout=1s | {"conditions":{"max_docs":5,"max_age":"1d"}}`)
		f("POST", "/x-write/_rollover", `{"settings":{"number_of_replicas":0},"mappings":{"properties":{}},"aliases":{"x-more":{"filter":{"term":{"a":1.50}}}}}`,
			`POST /x-write/_rollover | {"settings":{"number_of_replicas":0},"mappings":{"properties":{}},"aliases":{"x-more":{"filter":{"term":{"a":1.50}}}}}`)
		f("POST", "/x-write/_rollover/%3Cx-%7Bnow%2Fd%7D-1%3E", "", "POST /x-write/_rollover/x-2026.11.30-1")
		f("POST", "/stream/_rollover", "", "POST /stream/_rollover")
		f("POST", "/xa/_clone/x-copy", "", "POST /xa/_clone/x-copy")
		f("PUT", "/xa/_split/x-copy?wait_for_active_shards=1", `{"settings":{"index.number_of_shards":2}}`, `PUT /xa/_split/x-copy?wait_for_active_shards=1 | {"settings":{"index.number_of_shards":2}}`)
		f("POST", "/xa/_shrink/x-copy", `{"max_shard_size":"1gb","aliases":{"x-more":{}}}`, `POST /xa/_shrink/x-copy | {"max_shard_size":"1gb","aliases":{"x-more":{}}}`)
	}
}

// TestNewIndexRefused holds what is refused: names that are not granted on either side, rules
// on either side, and what neither a creation nor the cluster takes.
func TestNewIndexRefused(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := newIndexWorld(t, by)
		f := func(target, body, want string) {
			t.Helper()
			if got := gist(t, planFor(t, s, "POST", target, body)); !strings.HasPrefix(got, "reject ") || !strings.Contains(got, want) {
				t.Errorf("%s: %s %s: %s; want a refusal with %q", by, target, body, got, want)
			}
		}
		for _, how := range []string{"_clone", "_shrink", "_split"} {
			for _, source := range []string{"secret", "ya", "nosuch", "foreign", "*", "xa,secret"} {
				f("/"+source+"/"+how+"/x-copy", "", "")
			}
			for _, made := range []string{"secret-2", "ya", "y-copy", "X-copy", "x*", ".opendistro_security", ".kibana-9"} {
				f("/xa/"+how+"/"+made, "", "")
			}
			for _, bound := range []string{"hr", "fielded", "masked"} {
				f("/"+bound+"/"+how+"/x-copy", "", "binds you on the source")
				f("/xa/"+how+"/"+bound, "", "bind you on the new index")
			}
			f("/xs/"+how+"/x-copy", "", "no such index [xs]")
			f("/x-write/"+how+"/x-copy", "", "no such index [x-write]")
			f("/xa/"+how+"/x-copy", `{"mappings":{}}`, "unknown key [mappings]")
			f("/xa/"+how+"/x-copy", `{"conditions":{}}`, "unknown key [conditions]")
			f("/xa/"+how+"/x-copy", `{"max_shard_size":{}}`, "[max_shard_size]")
			f("/xa/"+how+"/x-copy", `{"settings":{"index":{"default_pipeline":"p"}}}`, "a pipeline in the settings")
			f("/xa/"+how+"/x-copy", `{"aliases":{"secret":{}}}`, "no permissions for [indices:admin/aliases]")
			f("/xa/"+how+"/x-copy?wait_for_completion=false", "", "unrecognized parameter")
			f("/xa/"+how+"/x-copy", `{`, "")
		}
		for _, source := range []string{"secret", "foreign", "ya"} {
			f("/"+source+"/_rollover", "", "no permissions for [indices:admin/rollover")
		}
		f("/xa/_rollover", "", "rollover target is a [concrete index]")
		f("/xnew/_rollover", "", "rollover target [xnew] does not exist")
		f("/x*/_rollover", "", "")
		f("/x-write/_rollover/y-1", "", "no permissions for [indices:admin/rollover")
		f("/x-write/_rollover/hr", "", "bind you on the new index")
		f("/x-write/_rollover", `{"nosuch":{}}`, "unknown key [nosuch]")
		f("/x-write/_rollover", `{"conditions":{"nosuch":1}}`, "unknown key [nosuch] in [conditions]")
		f("/x-write/_rollover", `{"conditions":{"max_docs":{}}}`, "[max_docs] in [conditions]")
		f("/x-write/_rollover", `{"settings":{"index.final_pipeline":"p"}}`, "a pipeline in the settings")
		f("/x-write/_rollover", `{"aliases":{"foreign":{}}}`, "no permissions for [indices:admin/aliases]")
		f("/x-write/_rollover?include_type_name=true", "", "unrecognized parameter")
		f("/x-write/_rollover/_all", "", "")
	}
	// The name that the cluster makes up may not be one under a rule.
	if got := gist(t, planFor(t, newIndexWorld(t, config.EvaluationLegacy), "POST", "/al-logs/_rollover", "")); !strings.Contains(got, "bind") {
		t.Errorf("a rollover to a name under a rule: %s; want a refusal", got)
	}
}

// TestNextGeneration holds the names that clusters make up (measured).
func TestNextGeneration(t *testing.T) {
	f := func(index, want string) {
		t.Helper()
		if got, ok := nextGeneration(index); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v; want %q", index, got, ok, want)
		}
	}
	f("m-000001", "m-000002")
	f("w-7", "w-000008")
	f("d-2026.12.01-000009", "d-2026.12.01-000010")
	f("u-99999999", "u-100000000")
	f(".ds-mds-000001", ".ds-mds-000002")
	f("v-9a", "")
	f("v9", "")
}

// TestNewIndexAsks holds that each action is asked, on the side that needs it.
func TestNewIndexAsks(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		for target, action := range map[string]string{
			"/xs/_rollover/y-1": "indices:admin/rollover", "/xa/_clone/y-1": "indices:admin/resize", "/xa/_shrink/y-1": "indices:admin/resize", "/xa/_split/y-1": "indices:admin/resize",
		} {
			onSource, onNew := []string{action, "indices:monitor/stats"}, []string{action}
			if by == config.EvaluationV4 {
				onNew = append(onNew, "indices:admin/create")
			}
			f := func(without []string, i int, want string) {
				t.Helper()
				sides := [2][]string{onSource, onNew}
				if without != nil {
					sides[i] = without
				}
				s := worldBy(t, by, "  cluster_permissions: []\n  index_permissions:\n    - {index_patterns: [\"x*\"], allowed_actions: [\""+strings.Join(sides[0], `", "`)+
					"\"]}\n    - {index_patterns: [\"y*\"], allowed_actions: [\""+strings.Join(sides[1], `", "`)+"\"]}\n", writable())
				if got := gist(t, planFor(t, s, "POST", target, "")); !strings.Contains(got, want) {
					t.Errorf("%s: %s with %q: %s; want %s", by, target, sides, got, want)
				}
			}
			f(nil, 0, "POST "+target)
			for i, side := range [2][]string{onSource, onNew} {
				for _, a := range side {
					but := slices.DeleteFunc(slices.Clone(side), func(b string) bool { return a == b })
					f(append(but, "indices:nothing"), i, "no permissions for ["+a+"]")
				}
			}
		}
	}
}
