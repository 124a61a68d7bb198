package clients

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"guard/test/testbed"
)

// A Row is a line of the table: a client before an engine.
type Row struct {
	Client   string
	Engine   testbed.Kind
	Direct   Report // on the node
	Guard    Report // through guard, as somebody who may do everything
	Limited  Report // through guard, as somebody who has rights on the scenario's indices alone
	Filtered Report // through guard, as somebody who sees a part of the documents and fields
	Switched Report // through guard with compatibility: elasticsearch, as somebody who may do everything
}

const tableHead = "| client | version | engine | direct | through guard | limited | filtered | with the switch | what refuses |\n|---|---|---|---|---|---|---|---|---|\n"

// Table returns the rows as Markdown.
func Table(rows []Row) string {
	var b strings.Builder
	b.WriteString(tableHead)
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.Client, r.version(), r.Engine,
			r.Direct.cell(), r.Guard.cell(), r.Limited.cell(), r.Filtered.cell(), r.Switched.cell(), r.refusals())
	}
	return b.String()
}

// version returns what the program told, which it can't where the client refuses to be made.
func (r Row) version() string {
	for _, report := range []Report{r.Direct, r.Switched} {
		if report.Version != "" {
			return report.Version
		}
	}
	return "?"
}

// cell returns how many groups worked, of how many.
func (r Report) cell() string {
	if len(r.Groups) == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d", r.Worked(), len(r.Groups))
}

// refusals says what did not work on the node, what did not with the switch, and what
// guard can't restrict yet.
func (r Row) refusals() string {
	var parts []string
	direct, switched := r.Direct.refusal(), r.Switched.refusal()
	if direct != "" {
		parts = append(parts, direct)
	}
	if switched != "" && switched != direct {
		parts = append(parts, "with the switch "+switched)
	}
	unbuilt := append(r.Limited.Unbuilt(), r.Filtered.Unbuilt()...)
	if slices.Sort(unbuilt); len(unbuilt) > 0 && direct == "" {
		parts = append(parts, "not built for limited users: "+strings.Join(slices.Compact(unbuilt), ", "))
	}
	return strings.Join(parts, "; ")
}

// refusal names the groups that did not work, or the first one of many, with its error.
func (r Report) refusal() string {
	var names []string
	var first string
	for _, g := range r.Groups {
		if g.OK {
			continue
		}
		if names = append(names, g.Name); first == "" {
			first = g.message()
		}
	}
	const most = 3 // that are named
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return fmt.Sprintf("%s and %d more: %s", names[0], len(names)-1, first)
	default:
		return strings.Join(names, ", ") + ": " + first
	}
}

// message returns the start of the error of a group, as it may stand in a table.
func (g Group) message() string {
	var text string
	if err := json.Unmarshal(g.Saw, &text); err != nil {
		text = string(g.Saw)
	}
	text = strings.Join(strings.Fields(text), " ")
	text = strings.NewReplacer("|", "/", "`", "'", "<", "&lt;").Replace(text)
	const most = 80 // characters
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return text
}
