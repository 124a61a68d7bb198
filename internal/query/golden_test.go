package query

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/esjson"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden runs testdata/search/*.txt. A file is a list of cases, each
//
//	== rules [count] [?url parameters]
//	body, one line or several
//	--
//	the body that is forwarded, or "refused: ..."
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/search/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runGolden(t, file) })
	}
}

func runGolden(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, cases, _ := strings.Cut("\n"+string(text), "\n== ")
	got := strings.TrimPrefix(head, "\n")
	if got != "" {
		got += "\n"
	}
	for i, c := range strings.Split(cases, "\n== ") {
		title, rest, _ := strings.Cut(c, "\n")
		body, _, _ := strings.Cut(rest, "\n--\n")
		if i > 0 {
			got += "\n"
		}
		got += "== " + title + "\n" + strings.TrimSuffix(body, "\n--") + "\n--\n" + rewriteCase(t, title, body) + "\n"
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// rewriteCase returns what a case's body becomes.
func rewriteCase(t *testing.T, title, body string) string {
	t.Helper()
	words := strings.Fields(title)
	r, ok := ruleSets[words[0]]
	if !ok {
		t.Fatalf("case %q names no rules", title)
	}
	on, keep := Search, ""
	var p *Params
	for _, w := range words[1:] {
		switch {
		case w == "count":
			on = Count
		case strings.HasPrefix(w, "?"):
			var err error
			if p, err = CheckParams(on, parseURL(w[1:]), &r); err != nil {
				return "refused: " + err.Error()
			}
			for _, q := range p.Keep {
				keep += " " + q.Name + "=" + q.Value
			}
		}
	}
	out, err := rewrite(on, body, p, &r)
	if err != nil {
		return "refused: " + err.Error()
	}
	if keep != "" {
		return "kept:" + keep + "\n" + out
	}
	return out
}

func parseURL(s string) []Param {
	var out []Param
	for pair := range strings.SplitSeq(s, "&") {
		name, value, has := strings.Cut(pair, "=")
		out = append(out, Param{Name: name, Value: strings.ReplaceAll(value, "+", " "), HasValue: has})
	}
	return out
}

func rewrite(on Endpoint, body string, p *Params, r *Rules) (string, error) {
	var tape esjson.Tape
	var v esjson.Value
	if strings.TrimSpace(body) != "" {
		var err error
		if v, err = esjson.Parse(&tape, []byte(body), esjson.RequestLimits()); err != nil {
			return "", err
		}
	}
	appendTo := AppendSearch
	if on == Count {
		appendTo = AppendCount
	}
	out, err := appendTo(nil, v, p, r)
	return string(out), err
}
