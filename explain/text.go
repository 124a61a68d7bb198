package explain

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// maxListed bounds the names that a line of text lists; the others are counted.
const maxListed = 20

// WriteText writes r for people, at a terminal.
func (r *Report) WriteText(w io.Writer) error {
	p := printer{table: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	p.line("%s", r.Verdict.Sentence())
	if r.Verdict.Cause != "" {
		p.line("because\t%s", r.Verdict.Cause)
	}
	p.user(&r.User)
	p.line("request\t%s %s", r.Request.Method, r.Request.Target)
	if r.Request.Endpoint != "" {
		p.line("endpoint\t%s: %s", r.Request.Endpoint, r.Request.Template)
	} else {
		p.line("endpoint\tnone of the catalogue")
	}
	p.line("cluster\t%s", r.Cluster)
	for i := range r.Parts {
		p.part(&r.Parts[i])
	}
	for i := range r.Calls {
		p.call("asks first", &r.Calls[i])
	}
	if r.Forward != nil {
		p.call("forwarded", r.Forward)
	}
	if r.Verdict.Body != "" {
		p.block(fmt.Sprintf("answer %d", r.Verdict.Status), r.Verdict.Body)
	}
	return p.end()
}

// Sentence says the verdict in one line.
func (v Verdict) Sentence() string {
	switch v.Effect {
	case Refused:
		return fmt.Sprintf("REFUSED with %d, %s: %s", v.Status, strings.ReplaceAll(v.Reason, "_", " "), v.Text)
	case Answered:
		return fmt.Sprintf("ANSWERED by guard itself, with %d", v.Status)
	case Asks:
		return "ASKS the cluster first; what it answers decides"
	case Forwarded:
		return "FORWARDED"
	default:
		return "UNKNOWN"
	}
}

// String names the state in one line.
func (c Cluster) String() string {
	if c.Engine == "" {
		return "its state is not known"
	}
	return fmt.Sprintf("%s, version %d of its state, read %s", c.Engine, c.Version, c.Read.UTC().Format(time.RFC3339))
}

// plain replaces what can't be printed in a text, so that what a client wrote neither
// begins a line or a column of its own nor commands the terminal.
func plain(arg any) any {
	text, ok := arg.(string)
	if !ok {
		return arg
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		default:
			return unicode.ReplacementChar
		}
	}, text)
}

// printer writes lines in columns and keeps the first error.
type printer struct {
	table *tabwriter.Writer
	err   error
}

func (p *printer) line(format string, args ...any) {
	for i := range args {
		args[i] = plain(args[i])
	}
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.table, format+"\n", args...)
	}
}

// block writes lines that are in no column.
func (p *printer) block(title, text string) {
	p.line("\n%s", title)
	for l := range strings.Lines(text) {
		p.line("  %s", strings.TrimRight(l, "\n"))
	}
}

func (p *printer) end() error {
	if err := p.table.Flush(); p.err == nil {
		p.err = err
	}
	if p.err != nil {
		return fmt.Errorf("cannot write the explanation: %w", p.err)
	}
	return nil
}

// Standing says what a user is beside his roles; empty if they say it all.
func (u *User) Standing() string {
	switch {
	case u.Admin:
		return "administrator: past all roles, and no rule binds"
	case u.Unrestricted:
		return "unrestricted: all actions on all names, and no rule binds"
	default:
		return ""
	}
}

func (p *printer) user(u *User) {
	name := u.Name
	if s := u.Standing(); s != "" {
		name += ", " + s
	}
	p.line("\nuser\t%s", name)
	if u.By != "" {
		p.line("asked by\t%s, in the user's name", u.By)
	}
	if len(u.BackendRoles) > 0 {
		p.line("backend roles\t%s", listed(u.BackendRoles))
	}
	for _, key := range slices.Sorted(maps.Keys(u.Attributes)) {
		p.line("attribute\t%s = %s", key, u.Attributes[key])
	}
	for _, r := range u.Roles {
		why := "by " + strings.Join(r.By, ", ")
		if !r.Defined {
			why += "; nothing defines it, so it grants nothing"
		}
		p.line("role\t%s\t%s", r.Name, why)
	}
	if len(u.Roles) == 0 {
		p.line("role\tnone")
	}
}

func (p *printer) part(part *Part) {
	title := "the request asks"
	if part.Item != nil {
		title = fmt.Sprintf("item %d asks", *part.Item)
	}
	if !part.Allowed {
		title += ", and is refused: " + part.Text
	}
	p.line("\n%s", title)
	if asked := listed(part.Names); len(part.Names) > 0 || len(part.Targets) > 0 {
		if asked == "" {
			asked = "all indices"
		}
		p.line("names\t%s", asked)
		p.line("which are\t%s", targetsText(part))
	}
	for _, c := range part.Cells {
		p.cell(&c)
	}
	if part.MoreCells > 0 {
		p.line("\tand %d more", part.MoreCells)
	}
	for i := range part.Groups {
		p.group(&part.Groups[i])
	}
}

func targetsText(part *Part) string {
	var list []string
	for _, t := range part.Targets {
		switch {
		case t.Kind == "index":
			list = append(list, t.Name)
		default:
			list = append(list, fmt.Sprintf("%s (%s of %s)", t.Name, t.Kind, listed(t.Members)))
		}
	}
	for _, name := range part.Unknown {
		list = append(list, name+" (does not exist)")
	}
	if len(list) == 0 {
		return "nothing"
	}
	return listed(list)
}

func (p *printer) cell(c *Cell) {
	name := c.Name
	if name == "" {
		name = "(cluster)"
	}
	switch {
	case c.Granted:
		p.line("yes\t%s\t%s\tby %s", c.Action, name, listed(c.by()))
	case len(c.Roles) == 0:
		p.line("NO\t%s\t%s\tno role grants it", c.Action, name)
	default:
		p.line("NO\t%s\t%s\t%s would grant it", c.Action, name, listed(c.Roles))
	}
}

// by names what grants a cell, with its places.
func (c Cell) by() (list []string) {
	for _, e := range c.Entries {
		text := e.Path
		if e.At != "" {
			text += " (" + e.At + ")"
		}
		list = append(list, text)
	}
	return list
}

func (p *printer) group(g *Group) {
	on := listed(g.Indices)
	switch {
	case g.Nothing:
		p.line("shown\tnothing\tof %s", on)
		return
	case len(g.Documents)+len(g.Fields)+len(g.Masks) == 0:
		p.line("shown\teverything\tof %s", on)
		return
	}
	for i, query := range g.Documents {
		word := "documents"
		if i > 0 {
			word = "or"
		}
		p.line("%s\t%s\tof %s", word, strings.TrimSpace(query), on)
	}
	if len(g.Fields) > 0 {
		p.line("fields\t%s\tof %s", listed(g.Fields), on)
	}
	if len(g.Masks) > 0 {
		p.line("masks\t%s\tof %s", listed(g.Masks), on)
	}
}

func (p *printer) call(title string, c *Call) {
	text := c.Method + " " + c.Target + "\n"
	if c.ContentType != "" && c.Body != "" {
		text += "Content-Type: " + c.ContentType + "\n"
	}
	if c.OwnAccount {
		title += ", by guard's own account"
	}
	p.block(title, text+c.Body)
}

// listed joins names, up to a bound.
func listed(list []string) string {
	if len(list) <= maxListed {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxListed], ", "), len(list)-maxListed)
}
