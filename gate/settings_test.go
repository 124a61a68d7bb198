package gate

import (
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
)

// TestSettings holds which settings may be changed, of what, and in which words.
func TestSettings(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := worldBy(t, by, byQueryRole, append(writable(), indexresolver.Index{Name: "xclosed", Closed: true}, indexresolver.Index{Name: "masked", Mapping: []byte(staffMapping)}))
		f := func(target, body, want string) {
			t.Helper()
			out := planFor(t, s, "PUT", target, body)
			if got := gist(t, out); got != want {
				t.Errorf("%s: PUT %s %s: %s; want %s", by, target, body, got, want)
			}
			if out.Forward.Repeatable || out.Forward.ChangesState == nil {
				t.Errorf("%s: PUT %s: may be repeated: %v; want a write that is not, and that changes the state", by, target, out.Forward.Repeatable)
			}
		}
		refused := func(target, body, want string) {
			t.Helper()
			if got := gist(t, planFor(t, s, "PUT", target, body)); !strings.HasPrefix(got, "reject ") || !strings.Contains(got, want) {
				t.Errorf("%s: PUT %s %s: %s; want a refusal with %q", by, target, body, got, want)
			}
		}
		const few = `{"refresh_interval":"5s"}`
		f("/xa/_settings", few, "PUT /xa/_settings | "+few)
		f("/xb,xa/_settings?preserve_existing=true&timeout=1s", few, "PUT /xa,xb/_settings?preserve_existing=true&timeout=1s | "+few)
		f("/xs/_settings", few, "PUT /xa,xb/_settings | "+few)
		f("/xclosed/_settings", few, "PUT /xclosed/_settings | "+few)
		f("/xnone/_settings", few, "PUT /xnone/_settings | "+few) // the cluster says that it is missing
		f("/xa/_settings", ` {"settings" : {"index":{"refresh_interval":null}}}`, `PUT /xa/_settings | {"index":{"refresh_interval":null}}`)
		for _, body := range []string{
			`{}`, `{"index.number_of_replicas":0}`, `{"index":{"blocks":{"write":true},"hidden":true}}`, `{"index":{"blocks.write":null}}`,
			`{"index.routing.allocation.require._name":"n","merge.policy.max_merged_segment":"1gb","search":{"slowlog.level":"info"}}`,
		} {
			f("/xa/_settings", body, "PUT /xa/_settings | "+body)
		}
		for _, setting := range []string{
			"default_pipeline", "final_pipeline", "search.default_pipeline", "query.default_field", "analysis.analyzer.a.type", "mapping.ignore_malformed",
			"mapping.total_fields.ignore_dynamic_beyond_limit", "lifecycle.name", "plugins.index_state_management.policy_id", "*", "routing.allocation.*",
			"index.hidden", "settings", "blocks", "blocks.read_only.x", "hidden.", "max_terms_count", "verified_before_close", "replication.type", "merge*",
		} {
			refused("/xa/_settings", `{"index.`+setting+`":null}`, "setting [index."+setting+"] is refused")
			refused("/xa/_settings", `{"settings":{"index":{"`+setting+`":"x"}}}`, "setting [index."+setting+"] is refused")
		}
		refused("/xa/_settings", `{"hidden":true,"index":{"final_pipeline":"p"}}`, "setting [index.final_pipeline] is refused")
		refused("/xa/_settings", `{"hidden":[true]}`, "setting [hidden] is refused")
		refused("/xa/_settings", `{"settings":{"hidden":true},"hidden":false}`, "beside [settings]")
		refused("/xa/_settings", `{"settings":"x"}`, "setting [settings] is refused")
		refused("/xa/_settings", `[]`, "want an object")
		refused("/xa/_settings", ``, "")
		refused("/xa/_settings", `{"hidden":true,"hidden":false}`, "")
		refused("/xa/_settings?index.hidden=true", few, "unrecognized parameter")
		refused("/other:xa/_settings", few, "")
		for _, path := range []string{"/secret", "/xa,secret", "/nosuch"} {
			refused(path+"/_settings", few, "no permissions for [indices:admin/settings/update]")
		}
		all := "no permissions for [indices:admin/settings/update]"
		if by == config.EvaluationV4 { // what is not granted is left out, and a rule binds on the rest
			all = "under a document or field rule"
		}
		refused("/_all/_settings", few, all)
		refused("/_settings", few, all)
		for _, name := range []string{"hr", "fielded", "masked", "xa,hr"} {
			refused("/"+name+"/_settings", few, "under a document or field rule")
		}
	}
	s := worldBy(t, config.EvaluationLegacy, strings.ReplaceAll(byQueryRole, `["*"]`, `["indices:admin/close*", "indices:admin/create"]`), writable())
	if got := gist(t, planFor(t, s, "PUT", "/xa/_settings", `{}`)); !strings.Contains(got, "no permissions for [indices:admin/settings/update]") {
		t.Errorf("with other rights: %s; want a refusal that names the action", got)
	}
}
