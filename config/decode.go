package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// defaulter is a section that states what holds for keys that are absent.
type defaulter interface{ SetDefaults() }

var (
	posType      = reflect.TypeFor[Pos]()
	secretType   = reflect.TypeFor[Secret]()
	settingsType = reflect.TypeFor[Settings]()
	durationType = reflect.TypeFor[time.Duration]()
)

// decoder fills structs from a document. Other than the decoder of the YAML
// package it goes on after a fault, knows the place of each, takes unknown keys
// for faults, and substitutes environment variables in single values, so that a
// value can't bring keys of its own.
type decoder struct {
	report *report
	env    *environment // nil: values are taken as they are
}

// decode fills v, which is settable, from n. A null leaves what is there.
func (d *decoder) decode(n *yaml.Node, pos Pos, v reflect.Value) {
	if isNull(n) {
		return
	}
	if n.Kind == yaml.AliasNode { // reported already
		if isSection(v.Type()) {
			applyDefaults(v)
			placeSections(v, pos)
		}
		return
	}
	switch v.Type() {
	case secretType:
		if text, ok := d.text(n, pos); ok {
			v.Set(reflect.ValueOf(NewSecret(text)))
		}
		return
	case settingsType:
		d.settings(n, pos, v)
		return
	case durationType:
		d.duration(n, pos, v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, pos, v)
	case reflect.Map:
		d.mapping(n, pos, v)
	case reflect.Slice:
		d.list(n, pos, v)
	case reflect.String:
		if text, ok := d.text(n, pos); ok {
			v.SetString(text)
		}
	case reflect.Bool:
		d.boolean(n, pos, v)
	case reflect.Int, reflect.Int64:
		d.integer(n, pos, v)
	default:
		panic(fmt.Sprintf("BUG: no decoding into %s", v.Type()))
	}
}

func (d *decoder) structure(n *yaml.Node, pos Pos, v reflect.Value) {
	applyDefaults(v)
	placeSections(v, pos)
	if short, ok := shortField(v.Type()); ok && n.Kind == yaml.ScalarNode {
		d.decode(n, pos, v.Field(short))
		return
	}
	if n.Kind != yaml.MappingNode {
		d.report.fault(pos, "a map of keys", "%s", describe(n))
		return
	}
	fields := fieldsOf(v.Type())
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || isMerge(key) {
			continue // reported already
		}
		at := pos.At(key.Value)
		field, known := fields[key.Value]
		if !known {
			at.Line = key.Line
			d.report.fault(at, wantKey(key.Value, fields), "unknown key %q", key.Value)
			continue
		}
		d.decode(n.Content[i+1], at, v.Field(field))
	}
}

// applyDefaults sets the defaults of v and of all sections in it, so that those
// of a section that the file leaves out are set too.
func applyDefaults(v reflect.Value) {
	if s, ok := v.Addr().Interface().(defaulter); ok {
		s.SetDefaults()
	}
	for i := range v.NumField() {
		if f := v.Field(i); isSection(f.Type()) {
			applyDefaults(f)
		}
	}
}

// isSection reports whether t is a struct of keys.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != posType && t != secretType && t != settingsType
}

// placeSections tells v, and all sections in it, where they are; one that the
// file leaves out is where it would be.
func placeSections(v reflect.Value, pos Pos) {
	v.FieldByName("Pos").Set(reflect.ValueOf(pos))
	for key, i := range fieldsOf(v.Type()) {
		if f := v.Field(i); isSection(f.Type()) {
			placeSections(f, pos.At(key))
		}
	}
}

// fieldsOf returns the index of the field of each key.
func fieldsOf(t reflect.Type) map[string]int {
	fields := make(map[string]int, t.NumField())
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" && key != "-" {
			fields[key] = i
		}
	}
	return fields
}

// shortField returns the field that a structure is when it is written as a single text.
func shortField(t reflect.Type) (index int, ok bool) {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("short") == "true" {
			return i, true
		}
	}
	return 0, false
}

// wantKey names the key that was probably meant, or else all there are.
func wantKey(key string, fields map[string]int) string {
	names := make([]string, 0, len(fields))
	for name := range fields {
		if strings.EqualFold(plainLetters(name), plainLetters(key)) {
			return fmt.Sprintf("%q", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return "one of " + strings.Join(names, ", ")
}

func plainLetters(key string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(key)
}

func (d *decoder) mapping(n *yaml.Node, pos Pos, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.report.fault(pos, "a map of keys", "%s", describe(n))
		return
	}
	m := reflect.MakeMapWithSize(v.Type(), len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || isMerge(key) {
			continue // reported already
		}
		at := pos.At(key.Value)
		if isNull(value) {
			d.report.fault(at, "a value; {} for an empty map, [] for an empty list", "null")
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		d.decode(value, at, item)
		m.SetMapIndex(reflect.ValueOf(key.Value), item)
	}
	v.Set(m)
}

func (d *decoder) list(n *yaml.Node, pos Pos, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.report.fault(pos, "a list, as in [one, two]", "%s", describe(n))
		return
	}
	items := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		at := pos.At(indexKey(i))
		if isNull(item) {
			d.report.fault(at, "a value; quote a text such as \"~\" or \"null\"", "%q is null", item.Value)
			continue
		}
		d.decode(item, at, items.Index(i))
	}
	v.Set(items)
}

// text returns the value of a scalar, with environment variables substituted. A
// number or boolean is taken as it is written.
func (d *decoder) text(n *yaml.Node, pos Pos) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		d.report.fault(pos, "a text", "%s", describe(n))
		return "", false
	}
	if d.env == nil {
		return n.Value, true
	}
	text, err := d.env.expand(n.Value)
	if err != nil {
		d.report.fault(pos, err.want, "%s", err.msg)
		return "", false
	}
	return text, true
}

func (d *decoder) boolean(n *yaml.Node, pos Pos, v reflect.Value) {
	text, ok := d.scalar(n, pos, "true or false")
	if !ok {
		return
	}
	switch text {
	case "true", "True", "TRUE":
		v.SetBool(true)
	case "false", "False", "FALSE":
		v.SetBool(false)
	default:
		d.report.fault(pos, "true or false", "%q", shorten(text))
	}
}

func (d *decoder) integer(n *yaml.Node, pos Pos, v reflect.Value) {
	text, ok := d.scalar(n, pos, "a whole number")
	if !ok {
		return
	}
	i, err := strconv.ParseInt(text, 10, v.Type().Bits())
	if err != nil || strconv.FormatInt(i, 10) != text { // 010 is 8 to other readers
		d.report.fault(pos, "a whole number", "%q", shorten(text))
		return
	}
	v.SetInt(i)
}

func (d *decoder) duration(n *yaml.Node, pos Pos, v reflect.Value) {
	const want = "a duration with its unit, such as \"500ms\", \"30s\" or \"5m\""
	text, ok := d.scalar(n, pos, want)
	if !ok {
		return
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		d.report.fault(pos, want, "%q", shorten(text))
		return
	}
	v.SetInt(int64(duration))
}

// scalar is text for what is no text: its fault says what was wanted instead.
func (d *decoder) scalar(n *yaml.Node, pos Pos, want string) (string, bool) {
	if n.Kind != yaml.ScalarNode {
		d.report.fault(pos, want, "%s", describe(n))
		return "", false
	}
	return d.text(n, pos)
}

func (d *decoder) settings(n *yaml.Node, pos Pos, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.report.fault(pos, "a map of keys", "%s", describe(n))
		return
	}
	tree := d.tree(n, pos).(map[string]any)
	v.Set(reflect.ValueOf(Settings{tree: func() map[string]any { return tree }}))
}

// tree returns n as maps, lists and texts; nil where it is null.
func (d *decoder) tree(n *yaml.Node, pos Pos) any {
	switch {
	case n.Kind == yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			m[key] = d.tree(n.Content[i+1], pos.At(key))
		}
		return m
	case n.Kind == yaml.SequenceNode:
		items := make([]any, len(n.Content))
		for i, item := range n.Content {
			items[i] = d.tree(item, pos.At(indexKey(i)))
		}
		return items
	case n.Kind == yaml.AliasNode || isNull(n):
		return nil
	default:
		text, _ := d.text(n, pos)
		return text
	}
}
