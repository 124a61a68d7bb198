package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// members yields the entries of a mapping in their order; what is no mapping has none.
func members(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		n := target(n)
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(target(n.Content[i]), target(n.Content[i+1])) {
				return
			}
		}
	}
}

// target follows an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// texts returns a list of scalars, or a scalar as a list of one.
func texts(n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	var list []string
	for _, item := range n.Content {
		list = append(list, target(item).Value)
	}
	return list
}

// appendJSON appends a value of the suite as JSON: members in the order written,
// numbers as they are written, and what was remembered in place of its name.
func appendJSON(dst []byte, n *yaml.Node, kept stash) ([]byte, error) {
	n = target(n)
	switch n.Kind {
	case yaml.MappingNode:
		return appendObject(dst, n, kept)
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, item := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendJSON(dst, item, kept); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case yaml.ScalarNode:
		return appendScalar(dst, n, kept)
	default:
		return dst, fmt.Errorf("line %d: unexpected YAML of kind %d", n.Line, n.Kind)
	}
}

func appendObject(dst []byte, n *yaml.Node, kept stash) ([]byte, error) {
	dst = append(dst, '{')
	first := true
	for key, value := range members(n) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		name := key.Value
		if v := kept.resolve(name); v != nil {
			name = text(v)
		}
		var err error
		if dst, err = appendValue(dst, name); err != nil {
			return dst, err
		}
		dst = append(dst, ':')
		if dst, err = appendJSON(dst, value, kept); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendScalar(dst []byte, n *yaml.Node, kept stash) ([]byte, error) {
	switch n.ShortTag() {
	case "!!null":
		return append(dst, "null"...), nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return append(dst, n.Value...), nil // 1.0 has to stay what it is: a mapping is made of it
		}
		fallthrough
	case "!!bool":
		var v any
		if err := n.Decode(&v); err != nil {
			return dst, err
		}
		return appendValue(dst, v)
	default: // a date as well is a string to the makers' parser
		return appendValue(dst, kept.resolve(n.Value))
	}
}

func appendValue(dst []byte, v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimRight(out.Bytes(), "\n")...), nil
}

// plain returns a value of the suite as parsed JSON.
func plain(n *yaml.Node, kept stash) (any, error) {
	text, err := appendJSON(nil, n, kept)
	if err != nil {
		return nil, err
	}
	return parseJSON(text)
}

// parseJSON parses a whole text, numbers as they are written.
func parseJSON(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("there is more behind the value")
	}
	return v, nil
}

// text returns a value as it is written in a path or a parameter.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		var list []string
		for _, item := range v {
			list = append(list, text(item))
		}
		return strings.Join(list, ",")
	default:
		return fmt.Sprint(v)
	}
}
