package gate

import (
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
	"guard/internal/ask"
)

// restoreRole may restore under x* what it may read as y*, and what a rule binds nowhere.
const restoreRole = `  cluster_permissions: ["cluster:admin/snapshot/restore"]
  index_permissions:
    - {index_patterns: ["x*"], allowed_actions: ["indices:admin/create", "indices:data/write/index"]}
    - {index_patterns: ["y*", "z*"], allowed_actions: ["indices:data/read/search"]}
    - {index_patterns: ["z*"], allowed_actions: ["indices:admin/create"]}
    - {index_patterns: ["xhr", "yhr"], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
`

// snapshotAnswer is what the cluster says of a snapshot.
const snapshotAnswer = `{"snapshots":[{"snapshot":"s","indices":["x1","x2","y1","y2","yhr","xhr","secret",".ds-st-1",".opendistro_security"],"data_streams":["st"],"state":"SUCCESS"}]}`

// restoreAs plans a restore of u, told what the snapshot holds.
func restoreAs(t *testing.T, s *Snapshot, body, snapshot string) string {
	t.Helper()
	who := s.Principal(ask.Identity{Name: "u"})
	r := requestFor(t, "POST", "/_snapshot/repo/s/_restore?wait_for_completion=true", body)
	out := s.Plan(who, r, Known{Fresh: true})
	if out.Kind != Need {
		return gist(t, out)
	}
	if len(out.Needs) != 1 || out.Needs[0].Target != "/_snapshot/repo/s" || !out.Needs[0].OwnAccount || out.Needs[0].Method != "GET" {
		t.Fatalf("%s needs %+v; want the snapshot, by guard's own account", body, out.Needs)
	}
	return gist(t, s.Plan(who, r, Known{Fresh: true, Answers: []Answer{{Status: 200, Body: []byte(snapshot)}}}))
}

// TestRestore holds what is forwarded: the indices of the snapshot one by one, nothing beside
// them, and a rename that can mean one thing alone.
func TestRestore(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		unruled := restoreRole[:strings.Index(restoreRole, `    - {index_patterns: ["xhr"`)]
		s := worldBy(t, by, unruled, append(writable(), indexresolver.Index{Name: "x2", Closed: true}))
		const first = `POST /_snapshot/repo/s/_restore?wait_for_completion=true | {"indices":[`
		const mid = `],"ignore_unavailable":false,"include_global_state":false,"include_aliases":false`
		f := func(body, want string) {
			t.Helper()
			if got := restoreAs(t, s, body, snapshotAnswer); got != first+want+"}" {
				t.Errorf("%s: %s:\n got %s\nwant %s}", by, body, got, first+want)
			}
		}
		const plain = `"include_aliases":false`
		f(`{`+plain+`,"indices":"x1"}`, `"x1"`+mid)
		f(`{`+plain+`,"indices":["x2","x1"],"include_global_state":false,"partial":true,"index_settings":{"index.number_of_replicas":0},"ignore_index_settings":["index.refresh_interval"]}`,
			`"x1","x2"`+mid+`,"partial":true,"index_settings":{"index.number_of_replicas":0},"ignore_index_settings":["index.refresh_interval"]`)
		f(`{`+plain+`,"indices":"x1,nosuch,none*","ignore_unavailable":true}`, `"x1"`+mid)
		f(`{`+plain+`,"indices":"y1","rename_pattern":"y(.)","rename_replacement":"x-$1-new"}`, `"y1"`+mid+`,"rename_pattern":"^(.+)$","rename_replacement":"x-1-new"`)
		f(`{`+plain+`,"indices":["y1","y2"],"rename_pattern":"^","rename_replacement":"x_"}`, `"y1","y2"`+mid+`,"rename_pattern":"^(.+)$","rename_replacement":"x_$1"`)
		few := `{"snapshots":[{"indices":["y2","y1",".dot"],"state":"SUCCESS"}]}`
		if got := restoreAs(t, s, `{`+plain+`,"indices":"y*","rename_pattern":"(.+)","rename_replacement":"x$1"}`, few); got != first+`"y1","y2"`+mid+`,"rename_pattern":"^(.+)$","rename_replacement":"x$1"}` {
			t.Errorf("%s: a pattern: %s", by, got)
		}
	}
}

// TestRestoreOfWhatIsGone holds that whom some rule binds restores what is there alone: an
// index that is gone may have had an alias by which a rule bound him.
func TestRestoreOfWhatIsGone(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := worldBy(t, by, restoreRole, append(writable(), indexresolver.Index{Name: "x1", Closed: true}))
		if got := restoreAs(t, s, `{"include_aliases":false,"indices":"x1"}`, snapshotAnswer); !strings.HasPrefix(got, "POST ") {
			t.Errorf("%s: an index that is there: %s; want it forwarded", by, got)
		}
		for _, body := range []string{`{"include_aliases":false,"indices":"x1,x2"}`, `{"include_aliases":false,"indices":"y1","rename_pattern":"y","rename_replacement":"x"}`} {
			if got := restoreAs(t, s, body, snapshotAnswer); !strings.Contains(got, "it is not there now") {
				t.Errorf("%s: %s: %s; want a refusal", by, body, got)
			}
		}
	}
}

// TestRestoreRefused holds what is refused: names that are not granted or under a rule, before or
// after the rename, and whatever brings more than indices.
func TestRestoreRefused(t *testing.T) {
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := worldBy(t, by, restoreRole, writable())
		f := func(body, want string) {
			t.Helper()
			if got := restoreAs(t, s, body, snapshotAnswer); !strings.HasPrefix(got, "reject ") || !strings.Contains(got, want) {
				t.Errorf("%s: %s: %s; want a refusal with %q", by, body, got, want)
			}
		}
		const plain = `{"include_aliases":false,`
		f("", "[include_aliases] false")
		f(`{}`, "[include_aliases] false")
		f(`{"include_aliases":true,"indices":"x1"}`, "[include_aliases] false")
		f(plain+`"indices":"secret"}`, "no permissions for [indices:data/write/index, indices:admin/create]")
		f(plain+`"indices":"y1"}`, "no permissions for [indices:data/write/index, indices:admin/create]")
		f(plain+`"indices":"xhr"}`, "binds you on the old or the new name")
		f(plain+`"indices":"yhr","rename_pattern":"yhr","rename_replacement":"x-copy"}`, "binds you on the old or the new name")
		f(plain+`"indices":"y1","rename_pattern":"y1","rename_replacement":"xhr"}`, "binds you on the old or the new name")
		f(plain+`"indices":"secret","rename_pattern":".+","rename_replacement":"x-copy"}`, "no permissions for [indices:data/read/search]")
		f(plain+`"indices":".opendistro_security","rename_pattern":".+","rename_replacement":"x-copy"}`, "no permissions")
		f(plain+`"indices":"x1","rename_pattern":".+","rename_replacement":".opendistro_security"}`, "no permissions")
		f(plain+`"indices":"y1","rename_pattern":"y1","rename_replacement":"z1"}`, "no permissions for [indices:data/write/index]")
		f(plain+`"indices":"y1","rename_pattern":"y1","rename_replacement":"xs"}`, "is an alias or a data stream")
		f(plain+`"indices":"st"}`, "a data stream")
		f(plain+`"indices":".ds-st-1"}`, "a data stream")
		f(plain+`"indices":"*"}`, "a data stream")
		f(`{"include_aliases":false}`, "a data stream")
		f(plain+`"indices":"nosuch"}`, "no such index [nosuch]")
		f(plain+`"indices":"none*"}`, "means no index of the snapshot")
		f(plain+`"indices":"y1,y2","rename_pattern":".+","rename_replacement":"x"}`, "renamed into the same index [x]")
		f(plain+`"indices":"y1,y2","rename_pattern":"y(.)","rename_replacement":"x$1$1"}`, "the same text before or behind")
		f(plain+`"indices":"y1","rename_pattern":"(","rename_replacement":"x"}`, "rename_pattern")
		f(plain+`"indices":"y1","rename_pattern":"y1","rename_replacement":"x b"}`, "must not contain")
		f(plain+`"indices":"y1","rename_pattern":"y1","rename_replacement":"x${a}"}`, "rename_replacement")
		f(plain+`"indices":"y1","rename_pattern":"y1","rename_replacement":"x\\d"}`, "rename_replacement")
		f(plain+`"indices":"y1","rename_pattern":"y1"}`, "want both or none")
		f(plain+`"indices":"x1","include_global_state":true}`, "[include_global_state] false")
		f(plain+`"indices":"x1","rename_alias_pattern":"a"}`, "unknown key [rename_alias_pattern]")
		f(plain+`"indices":"x1","feature_states":["a"]}`, "unknown key [feature_states]")
		f(plain+`"indices":"x1","storage_type":"remote_snapshot"}`, "unknown key [storage_type]")
		f(plain+`"indices":"x1","index_settings":{"index":{"final_pipeline":"p"}}}`, "a pipeline in the settings")
		f(plain+`"indices":[]}`, "at least one name")
		f(plain+`"indices":["x*","-x1"],"ignore_unavailable":true}`, "an exclusion")
		f(plain+`"indices":"y1","rename_pattern":"y1","rename_replacement":"`+strings.Repeat("x", 256)+`"}`, "at most 255")
		if got := restoreAs(t, s, plain+`"indices":"y*","rename_pattern":"y","rename_replacement":"x"}`, "{\"snapshots\":[{\"indices\":[\"y\u2028secret\"]}]}"); !strings.Contains(got, "end of a line") {
			t.Errorf("%s: a line end in a name: %s; want a refusal", by, got)
		}
		f(`{"include_aliases":"no","indices":"x1"}`, "want true or false")
	}
	none := worldWith(t, xRole[:strings.Index(xRole, "[")]+"[\"cluster:monitor/*\"]\n"+xRole[strings.Index(xRole, "  index"):], writable())
	if got := restoreAs(t, none, `{"include_aliases":false,"indices":"xa"}`, snapshotAnswer); !strings.Contains(got, "no permissions for [cluster:admin/snapshot/restore]") {
		t.Errorf("without the right to restore: %s", got)
	}
}

// TestRestoreAnswers holds what becomes of what the cluster says of a snapshot.
func TestRestoreAnswers(t *testing.T) {
	s := worldWith(t, restoreRole, writable())
	who, r := s.Principal(ask.Identity{Name: "u"}), requestFor(t, "POST", "/_snapshot/repo/s/_restore", `{"include_aliases":false,"indices":"x1"}`)
	missing := Answer{Status: 404, Body: []byte(`{"error":{"type":"snapshot_missing_exception"},"status":404}`)}
	if out := s.Plan(who, r, Known{Fresh: true, Answers: []Answer{missing}}); out.Kind != Local || out.Local.Status != 404 || string(out.Local.Body) != string(missing.Body) {
		t.Errorf("a snapshot that is missing: %s", gist(t, out))
	}
	for _, body := range []string{``, `{}`, `{"snapshots":[]}`, `{"snapshots":[{"indices":["x1"]},{"indices":["x1"]}]}`, `{"snapshots":[{"snapshot":"s"}]}`, `[`} {
		if out := s.Plan(who, r, Known{Fresh: true, Answers: []Answer{{Status: 200, Body: []byte(body)}}}); out.Kind != Reject {
			t.Errorf("%q: %s; want a refusal", body, gist(t, out))
		}
	}
}
