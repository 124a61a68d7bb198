package config

import (
	"fmt"
	"slices"
	"strings"
)

// Pos is a place in a file: what a message names so that its reader can go there.
type Pos struct {
	File string // as opened; empty for what is built in
	Line int    // from 1
	Path string // path of keys in the file: "ops.index_permissions[1]"

	keys map[string]Pos // places of the keys of an entry
}

// At returns the place of a key of the entry at p, such as "dls". A key that is
// not in the file gives the place of the entry, with the key in its path.
func (p Pos) At(key string) Pos {
	if at, ok := p.keys[key]; ok {
		return at
	}
	return Pos{File: p.File, Line: p.Line, Path: joinKey(p.Path, key)}
}

// Item returns the place of element i of the list under key.
func (p Pos) Item(key string, i int) Pos {
	return p.At(key).At(indexKey(i))
}

// String returns "roles.yml:14".
func (p Pos) String() string {
	if p.File == "" {
		return "built in"
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Fault makes a fault at p: what is wrong there, and what was wanted.
func (p Pos) Fault(msg, want string) Fault {
	return Fault{File: p.File, Line: p.Line, Path: p.Path, Msg: msg, Want: want}
}

// Fault is one thing wrong with a file.
type Fault struct {
	File string // as opened
	Line int    // from 1; 0 if the file has no such line (it can't be read)
	Path string // path of keys; empty for the file as a whole
	Msg  string // what is wrong, with the value quoted
	Want string // what was wanted; a next step
}

// String returns "roles.yml:14: ops.index_permissions[1].fls[0]: …; want …".
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	b.WriteString(": ")
	if f.Path != "" {
		b.WriteString(f.Path)
		b.WriteString(": ")
	}
	b.WriteString(f.Msg)
	if f.Want != "" {
		b.WriteString("; want ")
		b.WriteString(f.Want)
	}
	return b.String()
}

// Warning is a Fault that stops nothing: the file loads, and its owner should know.
type Warning = Fault

// Faults are all faults of one load. As an error it lists each on its own line.
type Faults []Fault

// Error returns the number of faults and one line for each.
func (fs Faults) Error() string {
	var b strings.Builder
	if len(fs) == 1 {
		b.WriteString("config: 1 fault:")
	} else {
		fmt.Fprintf(&b, "config: %d faults:", len(fs))
	}
	for _, f := range fs {
		b.WriteString("\n  ")
		b.WriteString(f.String())
	}
	return b.String()
}

// Err returns fs in the order of files and lines, or nil if there is none.
func (fs Faults) Err() error {
	if len(fs) == 0 {
		return nil
	}
	sorted := slices.Clone(fs)
	slices.SortStableFunc(sorted, byPlace)
	return sorted
}

func byPlace(a, b Fault) int {
	if c := strings.Compare(a.File, b.File); c != 0 {
		return c
	}
	return a.Line - b.Line
}

// report collects the faults and warnings of one load.
type report struct {
	faults   Faults
	warnings []Warning
}

func (r *report) fault(p Pos, want, format string, args ...any) {
	r.faults = append(r.faults, p.Fault(fmt.Sprintf(format, args...), want))
}

func (r *report) warn(p Pos, hint, format string, args ...any) {
	r.warnings = append(r.warnings, p.Fault(fmt.Sprintf(format, args...), hint))
}

// joinKey appends a key to a path; one that would be misread is quoted.
func joinKey(path, key string) string {
	if !isPlainKey(key) && !strings.HasPrefix(key, "[") {
		key = fmt.Sprintf("%q", key)
	}
	if path == "" || strings.HasPrefix(key, "[") {
		return path + key
	}
	return path + "." + key
}

func indexKey(i int) string { return fmt.Sprintf("[%d]", i) }

func isPlainKey(key string) bool {
	for _, r := range key {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		default:
			return false
		}
	}
	return key != ""
}
