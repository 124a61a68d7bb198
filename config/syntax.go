package config

import (
	"bytes"
	"errors"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// remedies are what to write where the parser gives up: it says what it met, which is
// seldom what has to be changed.
var remedies = []struct {
	said, want string
	from0      bool // lines are counted from 0 in the parser's errors about structure
}{
	{said: "cannot start any token", want: "quotes around a text that starts with '@', '%' or '`', and no '|' or '>' inside braces and brackets"},
	{said: "expected alphabetic or numeric character", want: "quotes around a text that starts with '*' or '&'"},
	{said: "unknown anchor", want: "quotes around a text that starts with '*'"},
	{said: "mapping values are not allowed", want: "the keys of a map in one column, and quotes around a text with ': ' in it"},
	{said: "could not find expected ':'", want: "a colon and a space behind each key"},
	{said: "unexpected end of stream", want: "each quote closed"},
	{said: "unexpected document indicator", want: "each quote closed"},
	{said: "control characters", want: "no control character; in double quotes \\x01 stands for one"},
	{said: "undefined tag handle", want: "quotes around a text that starts with '!'", from0: true},
	{said: "unknown escape character", want: "single quotes around a text with a backslash"},
	{said: "did not find expected key", want: "the keys of a map in one column, and nothing behind a quoted text or a closed bracket", from0: true},
	{said: "did not find expected '-' indicator", want: "the items of a list in one column", from0: true},
	{said: "did not find expected ','", want: "each bracket closed, and commas between the items", from0: true},
	{said: "did not find expected node content", want: "each bracket closed, and commas between the items", from0: true},
}

// syntaxFault says of an error of the parser where it is and what to write there.
func syntaxFault(file string, data []byte, err error) Fault {
	line, named, said := errorLine(err)
	f := Fault{File: file, Line: line, Msg: said}
	if line, ok := tabLine(data, f.Line, f.Msg); ok {
		f.Line, f.Want = line, "spaces at the start of a line, not a tab"
		return f
	}
	for _, r := range remedies {
		if !strings.Contains(f.Msg, r.said) {
			continue
		}
		f.Want = r.want
		if r.from0 && named {
			f.Line = min(f.Line+1, 1+bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n"))) // the end of a file is no line
		}
		break
	}
	switch { // of these the parser names no line
	case strings.Contains(said, "unknown anchor"):
		f.Line = aliasLine(data, said)
	case strings.Contains(said, "control characters"):
		f.Line = controlLine(data)
	}
	return f
}

// aliasLine returns the line of the alias that the parser gave up at, and said so. The
// same text may stand in comments, quotes and blocks too; but the parser reads from the
// start, so that it gives up at that alias in each part of the file that holds its line,
// and in none that ends before.
func aliasLine(data []byte, said string) int {
	m := unknownAnchor.FindStringSubmatch(said)
	if m == nil {
		return 0
	}
	type candidate struct{ line, end int }
	var list []candidate
	end := 0
	for i, text := range bytes.SplitAfter(data, []byte("\n")) {
		end += len(text)
		if bytes.Contains(text, []byte("*"+m[1])) {
			list = append(list, candidate{i + 1, end})
		}
	}
	first := sort.Search(len(list), func(i int) bool {
		_, err := parseOne(data[:list[i].end])
		return err != nil && strings.Contains(err.Error(), m[0])
	})
	if first == len(list) {
		return 0 // a wrong line would be worse than none
	}
	return list[first].line
}

// controlLine returns the line of the first character that YAML does not allow.
func controlLine(data []byte) int {
	at := bytes.IndexFunc(data, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7F && r < 0xA0 && r != 0x85 || r == 0xFFFE || r == 0xFFFF
	})
	if at < 0 {
		return 0
	}
	return 1 + bytes.Count(data[:at], []byte("\n"))
}

var (
	// The parser tells lines only inside its text: "yaml: line 3: could not …".
	lineInError   = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	unknownAnchor = regexp.MustCompile(`unknown anchor '([^']+)'`)
)

// errorLine returns the line that a parser's error names, 1 if it names none, and what
// it says of it.
func errorLine(err error) (line int, named bool, said string) {
	var at *lineError
	if errors.As(err, &at) {
		return at.line, true, err.Error()
	}
	said = lineInError.ReplaceAllString(err.Error(), "")
	if m := lineInError.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		if line, err := strconv.Atoi(m[1]); err == nil && line > 0 {
			return line, true, said
		}
	}
	return 1, false, said
}

// tabLine returns the line with a tab in its indentation that an error is about: the
// one that the parser names or the next one.
func tabLine(data []byte, line int, said string) (int, bool) {
	if !strings.Contains(said, "tab character") && !strings.Contains(said, "cannot start any token") {
		return 0, false
	}
	lines := bytes.Split(data, []byte("\n"))
	for at := line; at <= min(line+1, len(lines)); at++ {
		text := lines[at-1]
		if indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]; bytes.ContainsRune(indent, '\t') {
			return at, true
		}
	}
	return 0, false
}
