package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"guard/test/testbed"
)

// A Group is a group of calls: whether they worked, and what the client saw, or its error.
type Group struct {
	Name string          `json:"group"`
	OK   bool            `json:"ok"`
	Saw  json.RawMessage `json:"saw"`
}

// A Report is what the program of a client told.
type Report struct {
	Version string
	Groups  []Group
}

// The two halves of the scenario, and the index of each.
const (
	Whole     = "whole"
	WholeName = "clients-a" // the program makes it
	Read      = "read"
	ReadName  = "clients-read" // has to be there
)

// runTimeout bounds one run: a client that hangs is a fault.
const runTimeout = 4 * time.Minute

// Run plays a half of the scenario with the client at home against to.
func (c Client) Run(ctx context.Context, home, testdata string, to testbed.Client, half string) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	index := WholeName
	if half == Read {
		index = ReadName
	}
	command := c.command(home, testdata)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "CLIENT_HOME="+home, "CLIENT_URL="+to.URL, "CLIENT_USER="+to.User, "CLIENT_PASSWORD="+to.Password,
		"CLIENT_MODE="+half, "CLIENT_INDEX="+index)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with what it started
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return Report{}, fmt.Errorf("%s: %w", command[0], errNoTool)
	}
	report, readErr := read(out.Bytes(), to.URL)
	if err != nil && ctx.Err() == nil && len(report.Groups) == 0 {
		// A client may refuse to be made at all.
		return Report{Groups: []Group{{Name: "start", Saw: quoted(hide(tail(said.String()), to.URL))}}}, nil
	}
	if err = errors.Join(err, readErr); err != nil {
		return report, fmt.Errorf("%s: %w\n%s", c.Dir(), err, tail(said.String()))
	}
	return report, nil
}

func quoted(text string) json.RawMessage {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("BUG: cannot write %q as JSON: %v", text, err))
	}
	return quoted
}

// hide replaces the address that a client was given: it differs from run to run.
func hide(text, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(fmt.Sprintf("BUG: %q is no URL", address))
	}
	text = strings.ReplaceAll(text, u.Host, "HOST")
	return strings.ReplaceAll(text, ":"+u.Port(), ":PORT")
}

// read reads the lines that a program printed.
func read(out []byte, address string) (Report, error) {
	var r Report
	for line := range strings.Lines(hide(string(out), address)) {
		var l struct {
			Version string
			Group
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			return r, fmt.Errorf("cannot read the line %q: %w", line, err)
		}
		if l.Name == "" {
			r.Version = l.Version
			continue
		}
		saw, err := canonical(l.Saw)
		if err != nil {
			return r, err
		}
		l.Saw = saw
		r.Groups = append(r.Groups, l.Group)
	}
	return r, nil
}

// canonical orders the members of objects.
func canonical(text json.RawMessage) (json.RawMessage, error) {
	if text == nil {
		return nil, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", text, err)
	}
	return json.Marshal(v)
}

// Worked returns how many groups worked.
func (r Report) Worked() int {
	n := 0
	for _, g := range r.Groups {
		if g.OK {
			n++
		}
	}
	return n
}

// Without returns the report without the groups of that name.
func (r Report) Without(name string) Report {
	r.Groups = slices.DeleteFunc(slices.Clone(r.Groups), func(g Group) bool { return g.Name == name })
	return r
}

// OnlyWorked returns the report without the groups that did not work: what a client
// itself refuses says nothing about who is in front of the node.
func (r Report) OnlyWorked() Report {
	r.Groups = slices.DeleteFunc(slices.Clone(r.Groups), func(g Group) bool { return !g.OK })
	return r
}

// Find returns the group of that name.
func (r Report) Find(name string) (Group, bool) {
	for _, g := range r.Groups {
		if g.Name == name {
			return g, true
		}
	}
	return Group{}, false
}

// unbuilt is what guard says of what it does not know, or does not know yet how to restrict.
var unbuilt = [][]byte{[]byte("not built yet"), []byte("unknown endpoint")}

// hidesWhy are the groups that need scrolls and lists of nodes, which are not built yet;
// some clients turn that refusal into an error without a reason.
var hidesWhy = []string{"scan", "sniff"}

// Unbuilt reports whether guard refused the group as something that it can't restrict yet.
func (g Group) Unbuilt() bool {
	says := slices.ContainsFunc(unbuilt, func(text []byte) bool { return bytes.Contains(g.Saw, text) })
	return !g.OK && (says || slices.Contains(hidesWhy, g.Name))
}

// Unbuilt returns the names of the groups that guard can't restrict yet.
func (r Report) Unbuilt() []string {
	var names []string
	for _, g := range r.Groups {
		if g.Unbuilt() {
			names = append(names, g.Name)
		}
	}
	return names
}

// Differences tells what was seen otherwise than wanted; what is not built yet is none.
func (r Report) Differences(want Report) []string {
	var differ []string
	for _, w := range want.Groups {
		switch got, there := r.Find(w.Name); {
		case !there:
			differ = append(differ, fmt.Sprintf("%s: did not come; want %s", w.Name, clip(w.Saw)))
		case got.Unbuilt():
		case got.OK != w.OK || !bytes.Equal(got.Saw, w.Saw):
			differ = append(differ, fmt.Sprintf("%s: got ok=%v %s\nwant ok=%v %s", w.Name, got.OK, clip(got.Saw), w.OK, clip(w.Saw)))
		}
	}
	return differ
}

// clip returns the start of what was seen.
func clip(saw json.RawMessage) string {
	const most = 600 // bytes
	if len(saw) > most {
		return string(saw[:most]) + "..."
	}
	return string(saw)
}
