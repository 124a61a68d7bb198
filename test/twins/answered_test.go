package twins_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A count says how the requests of a row ended.
type count struct {
	answered int // with documents, or buckets, or what there was to tell
	refused  int // by guard
	failed   int // by the cluster, in whole or in part
	broken   int // by neither: a 5xx
}

// add counts one answer.
func (c *count) add(a answer) {
	switch {
	case a.status >= 500:
		c.broken++
	case a.status == 403:
		c.refused++
	case a.status >= 400, strings.Contains(a.text, `"failures":[`):
		c.failed++
	default:
		c.answered++
	}
}

const countsHead = "# what is asked\tby whom\tanswered\trefused\tfailed\tbroken\n"

// format is one line of the table.
func (c *count) format() string {
	return fmt.Sprintf("\t%d\t%d\t%d\t%d\n", c.answered, c.refused, c.failed, c.broken)
}

// compareCounts holds what was counted against what is committed: what is answered may not
// become less, since a guard that refuses all tells nothing either.
func (r *run) compareCounts() {
	if *whole || *seed != 1 {
		return // the table is that of the usual run
	}
	name := filepath.Join("testdata", "answered-"+string(r.kind)+".tsv")
	if *update {
		text := countsHead
		for _, key := range slices.Sorted(maps.Keys(r.counts)) {
			text += key + r.counts[key].format()
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			r.t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(name)
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSpace(line), "\t")
		if len(columns) != 6 {
			r.t.Fatalf("%s: %q has %d columns; want 6", name, line, len(columns))
		}
		want, err := strconv.Atoi(columns[2])
		if err != nil {
			r.t.Fatalf("%s: %q: %v", name, line, err)
		}
		got := r.counts[columns[0]+"\t"+columns[1]]
		if got == nil {
			got = &count{}
		}
		if got.answered < want {
			r.t.Errorf("%s as %s: %d requests are answered; want %d, see %s", columns[0], columns[1], got.answered, want, name)
		}
	}
}
