package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFileSize bounds one file: the parser needs a multiple of it. A file of
// 100,000 users has 30 MB.
const maxFileSize = 64 << 20 // 64 MiB

// maxNesting bounds the levels of a file; those that exist have less than ten.
const maxNesting = 64

// document is one parsed file: a tree of maps, lists and texts, without anything
// that YAML could hide a second meaning behind.
type document struct {
	root *yaml.Node // a mapping
	pos  Pos        // of the file, with the places of all keys
}

// parseDocument parses one file. It reports each anchor, alias, merge key, tag,
// duplicate key and further document. Without a usable tree it returns nil, and
// then there is at least one fault.
func parseDocument(r *report, file string, data []byte) *document {
	top := Pos{File: file, Line: 1}
	if len(data) > maxFileSize {
		r.fault(top, fmt.Sprintf("at most %d", maxFileSize), "file has %d bytes", len(data))
		return nil
	}
	if line, ok := invalidUTF8(data); ok {
		r.fault(Pos{File: file, Line: line}, "UTF-8", "invalid UTF-8")
		return nil
	}
	root, err := parseOne(data)
	if err != nil {
		r.faults = append(r.faults, syntaxFault(file, data, err))
		return nil
	}
	if root == nil {
		r.fault(top, "a map of keys", "file is empty")
		return nil
	}
	if root.Kind != yaml.MappingNode {
		r.fault(Pos{File: file, Line: root.Line}, "a map of keys", "%s", describe(root))
		return nil
	}
	if line, ok := tooDeep(root, maxNesting); ok {
		r.fault(Pos{File: file, Line: line}, fmt.Sprintf("at most %d levels", maxNesting), "nested too deeply")
		return nil
	}
	pos := locate(file, "", 1, root)
	(&cleaner{report: r}).clean(root, pos)
	return &document{root: root, pos: pos}
}

// tooDeep returns the line of the first node with more than levels levels above it.
func tooDeep(n *yaml.Node, levels int) (line int, found bool) {
	if levels == 0 {
		return n.Line, true
	}
	for _, child := range n.Content {
		if line, found := tooDeep(child, levels-1); found {
			return line, true
		}
	}
	return 0, false
}

var errManyDocuments = errors.New("a second document starts here; want one document in a file")

// lineError is an error with the line that it is about.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

// parseOne returns the root of the only document in data, or nil if there is none.
func parseOne(data []byte) (root *yaml.Node, err error) {
	// The parser's faults are errors; should it panic on an input all the same, then
	// a broken file must not end the process that is serving with the former one.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("parser failed: %v", p)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := dec.Decode(&second); err == nil {
		return nil, &lineError{max(second.Line, 1), errManyDocuments}
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return nil, nil
	}
	return doc.Content[0], nil
}

func invalidUTF8(data []byte) (line int, invalid bool) {
	if utf8.Valid(data) {
		return 0, false
	}
	line = 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[size:]
	}
	return line, true
}

// locate returns the place of n and of all keys and items below it.
func locate(file, path string, line int, n *yaml.Node) Pos {
	pos := Pos{File: file, Line: line, Path: path}
	switch n.Kind {
	case yaml.MappingNode:
		pos.keys = make(map[string]Pos, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := pos.keys[key.Value]; !twice {
				pos.keys[key.Value] = locate(file, joinKey(path, key.Value), key.Line, n.Content[i+1])
			}
		}
	case yaml.SequenceNode:
		pos.keys = make(map[string]Pos, len(n.Content))
		for i, item := range n.Content {
			key := indexKey(i)
			pos.keys[key] = locate(file, joinKey(path, key), item.Line, item)
		}
	}
	return pos
}

// cleaner reports what is YAML but not a plain tree of maps, lists and texts: it
// lets one text mean another, or a reader overlook what counts.
type cleaner struct {
	report *report
}

func (c *cleaner) clean(n *yaml.Node, pos Pos) {
	if n.Anchor != "" {
		c.report.fault(pos, "the text itself, written out where it is used", "anchor %q", "&"+n.Anchor)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		c.report.fault(pos, "a value without tag; quote a text that starts with '!'", "tag %q", n.Tag)
	}
	switch n.Kind {
	case yaml.AliasNode:
		c.report.fault(pos, "the text itself, written out where it is used", "alias %q", "*"+n.Value)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			c.clean(item, pos.At(indexKey(i)))
		}
	case yaml.MappingNode:
		c.cleanMap(n, pos)
	}
}

func (c *cleaner) cleanMap(n *yaml.Node, pos Pos) {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := pos.At(key.Value)
		at.Line = key.Line
		switch {
		case key.Kind != yaml.ScalarNode:
			at = Pos{File: pos.File, Line: key.Line, Path: pos.Path}
			c.report.fault(at, "a text", "key is %s", describe(key))
		case isMerge(key):
			c.report.fault(at, "the keys themselves, written out where they are used", "merge key \"<<\"")
		case key.Anchor != "" || key.Style&yaml.TaggedStyle != 0:
			c.report.fault(at, "a plain key", "anchor or tag at key %q", key.Value)
		case strings.Contains(key.Value, "${env"):
			c.report.fault(at, "a plain key; only values are substituted", "environment variable in key %q", key.Value)
		case seen[key.Value] > 0:
			c.report.fault(at, "each key once", "duplicate key %q, first in line %d", key.Value, seen[key.Value])
		}
		if key.Kind == yaml.ScalarNode && seen[key.Value] == 0 {
			seen[key.Value] = key.Line
		}
		c.clean(value, at)
	}
}

func isMerge(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!merge" }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// describe says what a node is, for messages.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a map of keys"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case isNull(n):
		return "null"
	default:
		return fmt.Sprintf("%q", shorten(n.Value))
	}
}

// shorten keeps a message on one line of a terminal.
func shorten(s string) string {
	const most = 60 // runes
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}
