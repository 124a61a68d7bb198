package attack_test

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"

	"guard/test/testbed"
)

// secrets are the texts that an attacker may not see, whatever he asks.
func secrets(user string) []string {
	switch user {
	case "rows", "everyrow":
		return append([]string{"event-sales"}, hiddenNames...)
	case "spelled":
		return []string{"SSN-", "900000", "PASS-"}
	case "stream":
		return []string{"SSN-", "event-sales"}
	case "both", "owner":
		return append(slices.Clone(hiddenNames), canaries...)
	case "other":
		return append([]string{"TOKEN-logs-b-1", "alice"}, hiddenNames...)
	default:
		return canaries
	}
}

// places are expressions that lead to indices of all kinds, in many spellings.
var places = []string{
	"", "/*", "/_all", "/hr", "/hr*", "/hr*,-hr", "/hr,hr_eng", "/hr_eng", "/mixed", "/m*", "/mixed,-logs-a-1", "/*,-hr", "/*,-hr_eng", "/secret", "/s*",
	"/events-x", "/.ds-events-x-000001", "/.ds-*", "/ev*,-.ds*", "/%3Chr%3E", "/%3Clogs-b-1%3E", "/hr%2Clogs-b-1", "/%68r", "/logs-*,-logs-a-*", "/_all,-logs*",
	"/-hr", "/hr,-hr*", "/HR", "/x:hr",
}

// asking are requests on a place.
var asking = []struct{ method, path, body string }{
	{"GET", "/_search?size=50", ""},
	{"GET", "/_search?size=50&expand_wildcards=all", ""},
	{"GET", "/_search?q=SSN*&df=all", ""},
	{"GET", "/_search?q=900000*", ""},
	{"GET", "/_search?q=all:bob&_source=all,ssn", ""},
	{"GET", "/_search?sort=salary:desc&stored_fields=ssn&docvalue_fields=ssn,pay", ""},
	{"GET", "/_doc/2", ""},
	{"GET", "/_doc/0?_source_includes=ssn,person", ""},
	{"GET", "/_doc/0?stored_fields=_source,ssn&_source=true", ""},
	{"GET", "/_source/0?_source_includes=person.pass*", ""},
	{"POST", "/_search", `{"fields":["*"],"docvalue_fields":["*"],"stored_fields":["*"],"_source":true}`},
	{"POST", "/_search", `{"_source":["*.passport","/.*/","p*"],"query":{"exists":{"field":"person"}}}`},
	{"POST", "/_search", `{"query":{"nested":{"path":"kids","query":{"match_all":{}},"inner_hits":{"_source":["kids.kssn","kssn"],"docvalue_fields":["kids.kssn"],"fields":["kids.*"]}}}}`},
	{"POST", "/_search", `{"size":0,"aggs":{"n":{"nested":{"path":"kids"},"aggs":{"t":{"top_hits":{"_source":["kids.kssn"]}},"k":{"terms":{"field":"kids.kssn"}}}},"s":{"terms":{"field":"ssn"}},"m":{"max":{"field":"pay"}}}}`},
	{"POST", "/_search", `{"size":0,"aggs":{"f":{"filters":{"other_bucket":true,"filters":{"x":{"prefix":{"ssn":"S"}}}},"aggs":{"r":{"top_hits":{"size":9,"stored_fields":["_source"]}}}}}}`},
	{"POST", "/_search", `{"collapse":{"field":"dept","inner_hits":[{"name":"a","size":9,"collapse":{"field":"ssn"}},{"name":"b","sort":[{"salary":"desc"}]}]}}`},
	{"POST", "/_search", `{"query":{"match_all":{}},"highlight":{"require_field_match":false,"fields":{"*":{"no_match_size":99},"all":{"no_match_size":99},"bio":{"type":"plain","no_match_size":99}}}}`},
	{"POST", "/_search", `{"query":{"query_string":{"query":"ssn.txt:ssn OR pay:>1 OR all:ulf"}},"sort":[{"ssn":"desc"},{"kids.kssn":{"order":"asc","nested":{"path":"kids"}}}]}`},
	{"POST", "/_search", `{"query":{"bool":{"should":[{"function_score":{"query":{"match_all":{}},"field_value_factor":{"field":"salary","factor":-1},"min_score":-1e30}},{"match_all":{}}]}}}`},
	{"POST", "/_search?filter_path=hits.hits._source", `{}`},
	{"POST", "/_search?filter_path=hits.hits.inner_hits.kids.hits.hits._source", `{"query":{"nested":{"path":"kids","query":{"match_all":{}},"inner_hits":{}}}}`},
	{"POST", "/_search?filter_path=**.kssn,**._source.*", `{"aggs":{"n":{"nested":{"path":"kids"},"aggs":{"t":{"top_hits":{}}}}}}`},
	{"POST", "/_msearch?filter_path=responses.hits.hits._source", "{}\n{}\n" + `{"index":"hr","expand_wildcards":"all"}` + "\n{}\n" + `{"index":["mixed","-logs*","secret"]}` + "\n{}\n"},
	{"POST", "/_mget?filter_path=docs._source", `{"docs":[{"_index":"hr","_id":"0"},{"_index":"hr","_id":"2"},{"_index":"hr","_id":"0","_source":["ssn"]},{"_index":"hr_eng","_id":"2"},{"_index":"secret","_id":"1"}]}`},
	{"GET", "/_mapping", ""},
	{"GET", "/_alias", ""},
	{"POST", "/_field_caps?fields=*", ""},
}

// TestCanaries asks for what is hidden in every place: no answer holds any of it.
func TestCanaries(t *testing.T) {
	node, guard := start(t)
	checkControl(t, node)
	for user := range attackers {
		t.Run(user, func(t *testing.T) {
			for _, place := range places {
				for _, a := range asking {
					res := ask(t, guard, user, a.method, place+a.path, a.body)
					if res.Status >= 500 && res.Status != 501 {
						t.Errorf("%s %s%s %s: status %d: %.300s", a.method, place, a.path, a.body, res.Status, res.Body)
					}
					checkHidden(t, user, a.method+" "+place+a.path+" "+a.body, res)
				}
			}
		})
	}
}

// checkHidden looks for secrets in an answer. What the request said may be repeated.
func checkHidden(t *testing.T, user, request string, res testbed.Response) {
	t.Helper()
	plain, err := url.PathUnescape(request)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range secrets(user) {
		if bytes.Contains(res.Body, []byte(s)) && !(res.Status >= 400 && strings.Contains(plain, s)) {
			t.Errorf("%s: the answer (%d) holds %q: %.300s", request, res.Status, s, res.Body)
		}
	}
}

// checkControl makes sure that the node itself shows what is looked for.
func checkControl(t *testing.T, node *testbed.Node) {
	t.Helper()
	res := node.Must(t, "GET", "/_search?size=50&q=-dept:legal", "")
	more := node.Must(t, "GET", "/hr/_doc/4", "")
	for user := range attackers {
		for _, s := range secrets(user) {
			if !bytes.Contains(res.Body, []byte(s)) && !bytes.Contains(more.Body, []byte(s)) {
				t.Fatalf("the node does not show %q, so nothing could leak", s)
			}
		}
	}
}
