package queries_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/query"
	"guard/test/testbed"
)

// What random texts are made of.
var (
	// _field_names is not among the fields: it exists, and is hidden as a whole.
	textFields = []string{
		"title", "title.raw", "tag", "n", "person.nick", "kids.k", "_id", "d", // visible
		"ssn", "secret.value", "salary", "title_copy", "person.pass", "born", // hidden
		"person", "secret", "kids", "deep", "nosuch", `\u0073sn`, `s\sn`,
		`tit\*`, `s\*`, `*`, `\*`, `person.\*`, `_exists_`,
	}
	textTerms = []string{
		"red", "fox", "blue", "only", "foxy", "a", "b", "5", "10", "-3", "1", "x", "a\\:b", "2020-01-01", "green", `"red fox"`, `"fox red"~2`, "r*", "re?",
		"*", "*x*", "/r.d/", "/fo.*/^2", "[1 TO 7]", "{1 TO 5}", "[* TO 5]", `["a" TO "c"]`, "{a TO *}", ">5", "<=5", ">=1", "rad~", "rd~1", "red^2.5",
		"fox~1^2", "ssn", "title", "person", `t\*`, `"s*"`, "AND", "ssn:red"[:3], "red\\ fox", "**", "?", "\u00e9t\u00e9",
	}
	textJoins = []string{" ", " ", " ", " AND ", " OR ", " && ", " || ", " AND NOT ", " -", " +", " !", " NOT ", " - ", "\u3000"}
	junk      = []string{"(", ")", ":", "^", "~", `"`, "/", "[", "]", "{", "}", "\\", "*", "?", "+", "-", "!", "&&", " ", "\t", "<", ">", "TO", "\\u00", "~2"}
)

// text returns a random text of query_string.
func text(r *rand.Rand, depth int) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	for i, n := 0, 1+r.IntN(3); i < n; i++ {
		if i > 0 {
			b.WriteString(pick(textJoins))
		}
		if r.IntN(3) > 0 {
			b.WriteString(pick(textFields) + pick([]string{":", ":", ":", " : "}))
		}
		if depth > 0 && r.IntN(4) == 0 {
			b.WriteString("(" + text(r, depth-1) + ")" + pick([]string{"", "", "^2"}))
		} else {
			b.WriteString(pick(textTerms))
		}
	}
	s := b.String()
	if depth == 2 && r.IntN(8) == 0 {
		at := r.IntN(len(s) + 1)
		s = strings.ToValidUTF8(s[:at]+pick(junk)+s[at:], "")
	}
	return s
}

// beside are the options that stand beside a text.
var beside = []string{
	``, ``, ``, `,"default_field":"title"`, `,"default_field":"*"`, `,"default_field":"n"`, `,"default_field":"ssn"`, `,"fields":["title^2","tag"]`, `,"fields":["*"]`,
	`,"fields":["ssn","title"]`, `,"fields":["t*","n"],"lenient":true`, `,"default_operator":"AND"`, `,"default_operator":"AND","fields":["title","n"],"lenient":true`,
	`,"analyze_wildcard":true`, `,"minimum_should_match":2,"fields":["title","tag"]`, `,"type":"cross_fields"`, `,"type":"phrase","fields":["title","ssn"]`, `,"lenient":false`,
	`,"default_field":"person"`, `,"fields":["person","title"]`, `,"default_field":"per*"`, `,"fields":[]`,
}

// besideSimple are those of simple_query_string, whose texts name no fields.
var besideSimple = []string{``, `,"fields":["title","ssn"]`, `,"fields":["ssn"]`, `,"fields":["t*"],"default_operator":"AND"`, `,"fields":["*"],"lenient":false`}

// outcome is what a client sees of one search: the hits, or that it failed.
type outcome struct {
	Status int
	Hits   []string
}

// searchAll sends one search for each body, all at once.
func searchAll(t *testing.T, node *testbed.Node, index string, bodies []string, scores func(i int) bool) []outcome {
	t.Helper()
	var b strings.Builder
	for _, body := range bodies {
		fmt.Fprintf(&b, "{\"index\":%q}\n%s\n", index, body)
	}
	var got struct {
		Responses []struct {
			Status int
			Hits   struct {
				Hits []struct {
					ID    string  `json:"_id"`
					Score float64 `json:"_score"`
				}
			}
		}
	}
	if err := json.Unmarshal(node.Must(t, "POST", "/_msearch", b.String()).Body, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Responses) != len(bodies) {
		t.Fatalf("%d answers to %d searches", len(got.Responses), len(bodies))
	}
	out := make([]outcome, len(bodies))
	for i, r := range got.Responses {
		out[i].Status = r.Status
		for _, h := range r.Hits.Hits {
			hit := h.ID
			if scores(i) {
				hit += fmt.Sprintf(" %.5f", h.Score)
			}
			out[i].Hits = append(out[i].Hits, hit)
		}
		slices.Sort(out[i].Hits)
	}
	return out
}

// TestTexts: a text under a field rule finds what the same text finds in an index that
// lacks the hidden fields, with the same scores where no pattern became fields; what
// guard cannot read the cluster cannot either.
func TestTexts(t *testing.T) {
	onEach(t, func(t *testing.T, node *testbed.Node) {
		r := rules(t, node)
		random := rand.New(rand.NewPCG(7, 9))
		found, failed, refused := 0, 0, 0
		for range 15 {
			var asked, sent []string
			var texts []string
			for len(asked) < 200 {
				s := text(random, 2)
				quoted, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				body := `{"query":{"query_string":{"query":` + string(quoted) + beside[random.IntN(len(beside))] + `}}}`
				if random.IntN(8) == 0 {
					body = `{"query":{"simple_query_string":{"query":` + string(quoted) + besideSimple[random.IntN(len(besideSimple))] + `}}}`
				}
				out, err := rewrite(body, &r)
				if err != nil {
					checkRefused(t, node, body, err)
					refused++
					continue
				}
				asked, sent, texts = append(asked, body), append(sent, out), append(texts, s)
			}
			scores := func(i int) bool {
				return !strings.ContainsAny(texts[i], "*<>") && !strings.Contains(texts[i], "_exists_")
			}
			got, want := searchAll(t, node, "whole", sent, scores), searchAll(t, node, "lacks", asked, scores)
			for i := range asked {
				if diff := cmp.Diff(want[i], got[i]); diff != "" {
					t.Errorf("%s\nsent as %s\n(-want +got):\n%s", asked[i], sent[i], diff)
				}
				if len(want[i].Hits) > 0 {
					found++
				}
				if want[i].Status != 200 {
					failed++
				}
			}
		}
		t.Logf("of 3000 texts %d found something, %d failed; %d more were refused", found, failed, refused)
		if found < 500 {
			t.Errorf("%d texts found something; want many", found)
		}
	})
}

// checkRefused: a text that guard calls bad is bad for the cluster.
func checkRefused(t *testing.T, node *testbed.Node, body string, err error) {
	t.Helper()
	var refusal *query.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("%s: %v", body, err)
	}
	if !refusal.BadValue {
		return
	}
	if got := searchAll(t, node, "lacks", []string{body}, func(int) bool { return false }); got[0].Status != 400 {
		t.Errorf("%s is refused: %v; the cluster takes it: %v", body, err, got[0])
	}
}
