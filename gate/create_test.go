package gate

import (
	"strings"
	"testing"

	"guard/config"
	"guard/indexresolver"
)

// makerRole makes indices under rules of each kind, and under none.
const makerRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["t-*"], dls: '{"term":{"dept":"eng"}}', allowed_actions: ["*"]}
    - {index_patterns: ["f-*"], fls: ["~ssn"], allowed_actions: ["*"]}
    - {index_patterns: ["m-*"], masked_fields: ["ssn"], allowed_actions: ["*"]}
    - {index_patterns: ["n-*"], dls: '{"term":{"dept":"${attr.internal.none}"}}', allowed_actions: ["*"]}
    - {index_patterns: ["x*", "mine-*"], allowed_actions: ["*"]}
`

// TestCreationUnderRule states the law of new indices: what its maker says of an index on
// which a rule will bind him cannot change what the rule means.
func TestCreationUnderRule(t *testing.T) {
	refusedBodies := []string{
		`{"mappings":{"properties":{"dept":{"type":"keyword","normalizer":"n"}}}}`, `{"mappings":{"dynamic":"false"}}`, `{"mappings":{"_doc":{}}}`,
		`{"aliases":{"mine-9":{}}}`, `{"aliases":{"x9":{"filter":{"term":{"a":1}}}}}`,
	}
	for _, setting := range []string{
		`"analysis":{"normalizer":{"n":{"type":"custom"}}}`, `"similarity":{"s":{"type":"scripted"}}`, `"sort":{"field":"a"}`, `"sort.field":["a"]`,
		`"default_pipeline":"_none"`, `"final_pipeline":"p"`, `"search.default_pipeline":"p"`, `"query.default_field":"a"`, `"mapping.total_fields.limit":1`,
		`"routing_partition_size":2`, `"priority":[1]`, `"mode":"time_series"`, `"nosuch":1`, `"index":{"refresh_interval":"1s"}`,
	} {
		refusedBodies = append(refusedBodies, `{"settings":{"index":{`+setting+`}}}`, `{"settings":{"index":{"number_of_shards":1,`+setting+`}}}`)
		if !strings.HasPrefix(setting, `"index"`) {
			refusedBodies = append(refusedBodies, `{"settings":{`+setting+`}}`, `{"settings":{"index.`+setting[1:]+`}}`)
		}
	}
	taken := []string{
		`{}`, `{"settings":{},"mappings":{},"aliases":{}}`, `{"settings":{"index":{"number_of_shards":2,"number_of_replicas":"0"}}}`,
		`{"settings":{"index.refresh_interval":"5s","hidden":true}}`, `{"settings":{"codec":"best_compression","index":{"auto_expand_replicas":"0-1"}}}`,
	}
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := worldBy(t, by, makerRole, staff())
		f := func(name, body string, refused bool) {
			t.Helper()
			got := gist(t, planFor(t, s, "PUT", "/"+name, body))
			if is := strings.HasPrefix(got, "reject 403") && strings.Contains(got, "a document or field rule will bind you"); is != refused || !is && !strings.HasPrefix(got, "PUT /") {
				t.Errorf("%s, PUT /%s %s: %s; want it refused: %v", by, name, body, got, refused)
			}
		}
		for _, name := range []string{"t-new", "f-new", "m-new", "n-new", "%3Ct-%7Bnow%2Fd%7D%3E"} {
			for _, body := range refusedBodies {
				f(name, body, true)
			}
			for _, body := range append(taken, ``) {
				f(name, body, false)
			}
		}
		// Whom no rule binds makes what he likes, but no alias that brings him one.
		f("xnew", `{"settings":{"analysis":{}},"mappings":{"properties":{"dept":{"type":"text"}}},"aliases":{"mine-9":{}}}`, false)
		for _, alias := range []string{"t-9", "f-9", "m-9", "n-9"} {
			f("xnew", `{"aliases":{"mine-9":{},"`+alias+`":{}}}`, true)
		}
	}
}

// bendingRole writes under document rules of several kinds.
const bendingRole = `  cluster_permissions: ["*"]
  index_permissions:
    - {index_patterns: ["d-*"], dls: '{"bool":{"must_not":[{"range":{"lvl":{"gt":5}}},{"term":{"o.p":1}}]}}', allowed_actions: ["*"]}
    - {index_patterns: ["q-*"], dls: '{"query_string":{"query":"lvl:1"}}', allowed_actions: ["*"]}
    - {index_patterns: ["n-*"], dls: '{"term":{"dept":"${attr.internal.none}"}}', allowed_actions: ["*"]}
    - {index_patterns: ["a-*"], dls: '{"match_all":{}}', allowed_actions: ["*"]}
    - {index_patterns: ["f-*"], fls: ["~lvl"], allowed_actions: ["*"]}
    - {index_patterns: ["x*"], allowed_actions: ["*"]}
`

// TestWritesBendNoRule states the law of new fields under a document rule: no document makes
// a field by which its writer's rule tells documents apart.
func TestWritesBendNoRule(t *testing.T) {
	bare := `"msg":{"type":"text"},"tocopy":{"type":"keyword","copy_to":"lvl"},"other":{"type":"keyword","copy_to":["msg","far"]}`
	index := func(name, mapping string) indexresolver.Index {
		return indexresolver.Index{Name: name, Mapping: []byte(mapping)}
	}
	s := worldWith(t, bendingRole, []indexresolver.Index{
		index("d-bare", `{"properties":{`+bare+`}}`), index("q-bare", `{"properties":{`+bare+`}}`), index("n-bare", `{"properties":{`+bare+`}}`),
		index("a-bare", `{"properties":{`+bare+`}}`), index("f-bare", `{"properties":{`+bare+`}}`), index("xbare", `{"properties":{`+bare+`}}`),
		index("d-full", `{"properties":{`+bare+`,"lvl":{"type":"long"},"o":{"properties":{"p":{"type":"long"}}}}}`),
		index("d-shut", `{"dynamic":"strict","properties":{`+bare+`}}`),
		index("d-copy", `{"dynamic_templates":[{"copy_to":{"match":"c*","mapping":{"type":"keyword","copy_to":"lvl"}}}],"properties":{`+bare+`}}`),
		index("d-name", `{"dynamic_templates":[{"t":{"mapping":{"copy_to":["{name}l"]}}}],"properties":{`+bare+`}}`),
		index("d-pass", `{"properties":{"at":{"type":"passthrough","priority":1,"dynamic":true}}}`),
	})
	f := func(index, doc string, refused bool) {
		t.Helper()
		for _, w := range [][2]string{{"PUT", "/" + index + "/_create/1"}, {"POST", "/" + index + "/_doc"}} {
			got := gist(t, planFor(t, s, w[0], w[1], doc))
			if is := strings.HasPrefix(got, "reject 403") && strings.Contains(got, "your document rule depends on"); is != refused {
				t.Errorf("%s %s %s: %s; want it refused: %v", w[0], w[1], doc, got, refused)
			}
		}
		line := `{"create":{"_index":"` + index + `","_id":"1"}}`
		got, err := feed(linesFor(t, s, "/_bulk").Lines, line+"\n"+doc)
		if err != nil || (len(got) == 0) != refused {
			t.Errorf("%s of a bulk to %s sends %q, %v; want it refused: %v", doc, index, got, err, refused)
		}
	}
	for _, doc := range []string{
		`{"lvl":"x"}`, `{"msg":"x","lvl":{"a":1}}`, `{"lvl.a":1}`, `{"o":1}`, `{"o":{"q":1}}`, `{"o.p":"x"}`, `{"o":[{"p":"x"}]}`, `{"lvl.":"x"}`, `{"o.":{"p.":1}}`, `{"\u006cvl":1}`, `{"tocopy":"x"}`,
	} {
		f("d-bare", doc, true)
		f("q-bare", doc, true)
		f("n-bare", doc, true)
		f("a-bare", doc, false)
		f("f-bare", doc, false)
		f("xbare", doc, false)
		f("d-shut", doc, false) // it takes no new field
		f("q-new", doc, true)
		f("a-new", doc, false)
		f("xnew", doc, false)
	}
	for _, doc := range []string{`{}`, `{"msg":"x"}`, `{"new":1}`, `{"lvl":null,"o":[]}`, `{"lvl2":1,"p":2}`, `{"other":"x"}`} {
		f("d-bare", doc, false)
		f("d-new", doc, false)
		f("d-full", doc, false)
	}
	f("d-full", `{"lvl":1,"o":{"p":1,"q":2},"tocopy":"x"}`, false)
	f("d-full", `{"lvl":{"a":1}}`, false) // the cluster's to refuse
	f("d-full", `{"o.p.q":1}`, true)
	f("d-new", `{"lvl":1}`, true)
	f("q-bare", `{"msg":"x"}`, false)
	f("q-bare", `{"other":"x"}`, true) // its copy makes a field
	f("q-bare", `{"new":1}`, true)
	f("n-bare", `{"new":1}`, true)
	f("d-copy", `{"new":1}`, true)
	f("d-copy", `{"msg":"x"}`, false)
	f("d-name", `{"lv":1}`, true)
	f("d-pass", `{"at":{"lvl":"x"}}`, true)
	f("d-pass", `{"at":{"new":"x"}}`, false)
}
