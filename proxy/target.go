package proxy

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"guard/internal/ask"
)

// maxParams bounds the number of URL parameters.
const maxParams = 256

// splitTarget cuts a request target into path segments and parameters: split first,
// decoded once afterwards. The error names the first thing that could be read in two
// ways; restricted principals are refused for it. The parts are then as good as can be:
// what cannot be decoded stays as it was written.
func splitTarget(target string) (path []string, params []ask.Param, err error) {
	rawPath, query, _ := strings.Cut(target, "?")
	path, err = splitPath(rawPath)
	params, perr := splitQuery(query)
	return path, params, errors.Join(err, perr)
}

// splitPath cuts a path at its slashes. One slash at the end is dropped, as the
// clusters do; an empty segment elsewhere is an error.
func splitPath(raw string) ([]string, error) {
	raw = strings.TrimPrefix(raw, "/")
	raw = strings.TrimSuffix(raw, "/")
	if raw == "" {
		return nil, nil
	}
	var firstErr error
	path := make([]string, 0, strings.Count(raw, "/")+1)
	for seg := range strings.SplitSeq(raw, "/") {
		plain, err := unescape(seg, false)
		if err == nil {
			err = fairSegment(plain, len(path))
		}
		if err != nil {
			plain = seg
			if firstErr == nil {
				firstErr = fmt.Errorf("path segment %q: %w", clip(seg), err)
			}
		}
		path = append(path, plain)
	}
	return path, firstErr
}

// fairSegment refuses decoded segments that something behind guard could read as more
// than one. An encoded slash is part of a document id or of date math
// (<logs-{now/d}>); the first segment can only hold the latter.
func fairSegment(s string, position int) error {
	switch {
	case s == "":
		return errors.New("it is empty")
	case s == "." || s == "..":
		return errors.New("dot segments are not resolved")
	case position == 0 && strings.ContainsAny(s, `/\`) && !strings.Contains(s, "<"):
		return errors.New("an encoded slash or backslash in the place of an index")
	}
	return nil
}

// splitQuery reads the parameters in their order. A '+' is a blank, an '&' parts two
// parameters and so does a ';' (older clusters read it so): where engines differ, the
// gate sees the reading that shows more.
func splitQuery(raw string) ([]ask.Param, error) {
	if raw == "" {
		return nil, nil
	}
	var firstErr error
	note := func(err error) {
		if err != nil && firstErr == nil {
			firstErr = err
		}
	}
	params := make([]ask.Param, 0, strings.Count(raw, "&")+1)
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == ';' }) {
		if len(params) == maxParams {
			note(fmt.Errorf("more than %d URL parameters", maxParams))
			break
		}
		name, value, has := strings.Cut(part, "=")
		n, err := unescape(name, true)
		note(err)
		v, err := unescape(value, true)
		note(err)
		params = append(params, ask.Param{Name: n, Value: v, HasValue: has})
	}
	return params, firstErr
}

// unescape decodes percent escapes once. What it returns is valid UTF-8 without NUL.
func unescape(s string, plusIsBlank bool) (string, error) {
	if strings.IndexByte(s, '%') < 0 && !(plusIsBlank && strings.IndexByte(s, '+') >= 0) {
		return s, fairText(s, s)
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return s, fmt.Errorf("bad escape in %q; want %% and two hex digits", clip(s))
			}
			b = append(b, hexValue(s[i+1])<<4|hexValue(s[i+2]))
			i += 2
		case s[i] == '+' && plusIsBlank:
			b = append(b, ' ')
		default:
			b = append(b, s[i])
		}
	}
	plain := string(b)
	if err := fairText(s, plain); err != nil {
		return s, err
	}
	return plain, nil
}

// fairText refuses text that parsers of different languages end or read differently.
func fairText(written, plain string) error {
	switch {
	case !utf8.ValidString(plain):
		return fmt.Errorf("%q is not UTF-8 when decoded", clip(written))
	case strings.IndexByte(plain, 0) >= 0:
		return fmt.Errorf("%q holds a NUL when decoded", clip(written))
	}
	return nil
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}
