package leaks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Expected is what is known of a case: how it ends, and the reason where that is
// neither refused nor answered.
type Expected struct {
	Verdict Verdict
	Reason  string
}

const expectedHead = "# case\tverdict\treason, where the verdict needs one\n"

// ParseExpected reads the file of an engine: one case a line, tabs between.
func ParseExpected(text string) (map[string]Expected, error) {
	all := map[string]Expected{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) < 2 || len(fields) > 3 {
			return nil, fmt.Errorf("cannot read the line %q: want a case, a verdict and maybe a reason", line)
		}
		e := Expected{Verdict: Verdict(fields[1])}
		if _, ok := ranks[e.Verdict]; !ok {
			return nil, fmt.Errorf("case %s: no verdict %q", fields[0], fields[1])
		}
		if len(fields) == 3 {
			e.Reason = fields[2]
		}
		all[fields[0]] = e
	}
	return all, nil
}

// FormatExpected is the inverse of ParseExpected.
func FormatExpected(all map[string]Expected) string {
	var b strings.Builder
	b.WriteString(expectedHead)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(id + "\t" + string(all[id].Verdict))
		if all[id].Reason != "" {
			b.WriteString("\t" + all[id].Reason)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
