package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"guard/test/testbed"
)

// The picture, with the invitation, is at most maxLines of maxWidth columns: one screen of 40
// lines with the two that follow.
const (
	maxLines   = 38
	maxWidth   = 100
	panelWidth = 48
)

// show sends all requests through guard and returns the picture of the answers. The
// error tells which of them are not as the policy says.
func show(guard testbed.Client, version string) (string, error) {
	var errs []error
	panels := make([][]string, len(users))
	for i, u := range users {
		a, err := u.search(guard)
		errs = append(errs, err)
		panels[i] = panel(u, a)
	}
	lines := []string{
		"guard in front of OpenSearch " + version + ", policy: deploy/sample/security. One request, four users:",
		"",
		"POST " + searchPath,
	}
	lines = append(lines, wrap(searchBody, maxWidth)...)
	lines = append(lines, "")
	lines = append(lines, beside(panels[0], panels[1])...)
	lines = append(lines, "")
	lines = append(lines, beside(panels[2], panels[3])...)
	lines = append(lines, "", "Other ways to the data:")
	for _, d := range detours {
		err := d.take(guard)
		errs = append(errs, err)
		says := d.says
		if err != nil {
			says = "NOT AS THE POLICY SAYS"
		}
		lines = append(lines, fmt.Sprintf("  %-6s%-58s%s", d.user, strings.TrimSpace(d.path+" "+d.body), says))
	}
	return strings.Join(lines, "\n") + "\n", errors.Join(errs...)
}

// invitation returns command lines to paste, for a guard that stays.
func invitation(url string) string {
	return strings.Join([]string{
		"", "Try it (Ctrl-C ends everything):",
		fmt.Sprintf("  curl -u anna:anna-demo '%s/customers/_search?pretty'", url),
		fmt.Sprintf("  curl -u sam:sam-demo '%s/customers/_doc/c2?pretty'", url),
		fmt.Sprintf("  curl -u admin:admin-demo '%s/_cat/indices?v'", url),
	}, "\n") + "\n"
}

// panel shows the answer to one user.
func panel(u user, a answer) []string {
	lines := []string{u.name + ": " + u.rights}
	if a.Status != 200 {
		lines = append(lines, fmt.Sprintf("=> %d %s", a.Status, a.Error.Type))
		return append(lines, wrap(a.Error.Reason, panelWidth)...)
	}
	counts := make([]string, len(a.Aggregations.Region.Buckets))
	for i, b := range a.Aggregations.Region.Buckets {
		counts[i] = fmt.Sprintf("%s %d", b.Key, b.DocCount)
	}
	lines = append(lines,
		fmt.Sprintf("=> %d, total %d; by region: %s", a.Status, a.Hits.Total.Value, strings.Join(counts, ", ")),
		row("name", "region", "spent", "birthday", "iban"))
	for _, h := range a.Hits.Hits {
		f := func(name string) any {
			if v, ok := h.Source[name]; ok {
				return v
			}
			return "-" // the answer has no such field
		}
		lines = append(lines, row(f("name"), f("region"), f("spent"), f("birthday"), f("iban")))
	}
	return lines
}

func row(name, region, spent, birthday, iban any) string {
	return strings.TrimRight(fmt.Sprintf("%-6v%-7v%-6v%-11v%v", name, region, spent, birthday, iban), " ")
}

// beside puts two panels side by side.
func beside(left, right []string) []string {
	lines := make([]string, max(len(left), len(right)))
	for i := range lines {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		lines[i] = strings.TrimRight(fmt.Sprintf("%-*s | %s", panelWidth, l, r), " ")
	}
	return lines
}

// wrap cuts text into lines of at most width columns, behind a space or a comma
// where there is one.
func wrap(text string, width int) []string {
	var lines []string
	for utf8.RuneCountInString(text) > width {
		at := strings.LastIndexAny(text[:width], " ,") + 1
		if at == 0 {
			at = width
		}
		lines = append(lines, strings.TrimRight(text[:at], " "))
		text = text[at:]
	}
	return append(lines, text)
}
