package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"guard/internal/ask"
)

// Target writes the request target for the cluster with indices in the place of
// those that the client named: path segments and parameters encoded anew from their
// decoded form, in their order. A template without {index} is exchanged for the one
// with it. An empty list would mean every index, so it is a bug.
func (m Match) Target(indices []string, params []ask.Param) string {
	if len(indices) == 0 {
		panic(fmt.Sprintf("BUG: target of %q with an empty list of indices", m.Route.ID))
	}
	list := strings.Join(indices, ",")
	if m.Route.Targets == PathName {
		return m.target(m.form, slotName, list, params)
	}
	if m.form.indexed == nil {
		panic(fmt.Sprintf("BUG: target of %q with indices, and no path of it has any", m.Route.ID))
	}
	return m.target(m.form.indexed, slotIndex, list, params)
}

// TargetAsNamed is Target with the names as the client wrote them, or none.
func (m Match) TargetAsNamed(params []ask.Param) string { return m.target(m.form, slots, "", params) }

// target writes the values of m into f, with text for the placeholder at slot.
func (m Match) target(f *form, slot int, text string, params []ask.Param) string {
	dst := make([]byte, 0, 128)
	for i, s := range f.segments {
		dst = append(dst, '/')
		if !isPlaceholder(s) {
			dst = append(dst, s...)
			continue
		}
		value := text
		if at := slices.Index(f.at[:], i); at != slot {
			value, _ = m.value(at)
		}
		dst = f.appendValue(dst, i, value)
	}
	if len(f.segments) == 0 {
		dst = append(dst, '/')
	}
	dst = appendParams(dst, params)
	if string(dst) == m.raw {
		return m.raw // byte for byte what is built here: the client's own needs no copy
	}
	return string(dst)
}

// appendValue appends a value at segment i. One that the API has as a word in that
// place gets an escape: a node takes GET /views for its list of views, and /%76iews
// for the index of that name. So does one that begins with an underscore: older nodes
// have more words than the catalogue, such as _bulk and _mget in the place of an id,
// and an escaped segment is no word to any node.
func (f *form) appendValue(dst []byte, i int, value string) []byte {
	if f.above[i].literals[value] == nil && !strings.HasPrefix(value, "_") {
		return appendEscaped(dst, value)
	}
	return appendEscaped(appendHex(dst, value[0]), value[1:])
}

// SetParam returns params with the one called name set to value, at its place or at
// the end. params is not modified.
func SetParam(params []ask.Param, name, value string) []ask.Param {
	p := ask.Param{Name: name, Value: value, HasValue: true}
	i := slices.IndexFunc(params, func(p ask.Param) bool { return p.Name == name })
	params = slices.Clone(params)
	if i < 0 {
		return append(params, p)
	}
	params[i] = p
	return params
}

// DropParam returns params without the one called name. params is not modified.
func DropParam(params []ask.Param, name string) []ask.Param {
	return slices.DeleteFunc(slices.Clone(params), func(p ask.Param) bool { return p.Name == name })
}

// Target writes the request target of a call that guard makes by itself: path
// segments and parameters as they mean.
func Target(path []string, params []ask.Param) string {
	return string(appendParams(appendPath(make([]byte, 0, 128), path), params))
}

func appendParams(dst []byte, params []ask.Param) []byte {
	for i, p := range params {
		if i == 0 {
			dst = append(dst, '?')
		} else {
			dst = append(dst, '&')
		}
		dst = appendEscaped(dst, p.Name)
		if p.HasValue || p.Value != "" {
			dst = appendEscaped(append(dst, '='), p.Value)
		}
	}
	return dst
}

func appendPath(dst []byte, path []string) []byte {
	if len(path) == 0 {
		return append(dst, '/')
	}
	for _, s := range path {
		dst = appendEscaped(append(dst, '/'), s)
	}
	return dst
}

// appendEscaped appends s with everything escaped that is not sure to mean itself
// everywhere. Commas and stars do, and lists of names stay readable.
func appendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		if isPlain(s[i]) {
			dst = append(dst, s[i])
		} else {
			dst = appendHex(dst, s[i])
		}
	}
	return dst
}

func appendHex(dst []byte, c byte) []byte {
	const hex = "0123456789ABCDEF"
	return append(dst, '%', hex[c>>4], hex[c&15])
}

func isPlain(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	default:
		return strings.IndexByte("-_.~*,", c) >= 0
	}
}
