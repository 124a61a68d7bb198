package oracle

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Deviation is a kind of difference between guard and the recording that is meant,
// with the reason. Each criterion that is given must hold.
type Deviation struct {
	Kind string
	Why  string

	// Guard and Recorded match the status and the answer, as in `403 {"error":...`.
	Guard, Recorded *Pattern
	// Paths must match each place where the answers differ, as in `hits.a1/a1-3`.
	Paths *Pattern
	// Requests, Endpoints and Users, if given, bind the kind to recorded requests, their
	// kinds and their users.
	Requests  []int
	Endpoints []string
	Users     []string
	// Masked binds the kind to users with masked fields.
	Masked bool
}

// Pattern is a regular expression in a YAML file.
type Pattern struct{ regexp.Regexp }

// UnmarshalText reads the expression.
func (p *Pattern) UnmarshalText(text []byte) error {
	re, err := regexp.Compile(string(text))
	if err != nil {
		return fmt.Errorf("cannot read the pattern %q: %w", text, err)
	}
	p.Regexp = *re
	return nil
}

// ReadDeviations reads the list of them.
func ReadDeviations(path string) ([]Deviation, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the deviations: %w", err)
	}
	var list []Deviation
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	for _, d := range list {
		if d.Kind == "" || d.Why == "" {
			return nil, fmt.Errorf("%s: the deviation %q lacks its kind or its reason", path, d.Kind)
		}
	}
	return list, nil
}

// A Difference is an answer that is not the recorded one.
type Difference struct {
	Request         Request
	User            string
	Masked          bool     // the user has masked fields
	Guard, Recorded string   // status and answer
	Paths           []string // where they differ
}

// Explains reports whether d is of this kind.
func (dev *Deviation) Explains(d Difference) bool {
	matches := func(p *Pattern, text string) bool { return p == nil || p.MatchString(text) }
	if !matches(dev.Guard, d.Guard) || !matches(dev.Recorded, d.Recorded) {
		return false
	}
	if dev.Masked && !d.Masked {
		return false
	}
	if dev.Requests != nil && !slices.Contains(dev.Requests, d.Request.ID) {
		return false
	}
	if dev.Users != nil && !slices.Contains(dev.Users, d.User) {
		return false
	}
	if dev.Endpoints != nil && !slices.Contains(dev.Endpoints, d.Request.EP) {
		return false
	}
	return dev.Paths == nil || !slices.ContainsFunc(d.Paths, func(p string) bool { return !matches(dev.Paths, p) })
}

// Differences returns the places where a and b differ, as paths of keys.
func Differences(a, b any) []string {
	return appendDifferences(nil, "", a, b)
}

func appendDifferences(list []string, at string, a, b any) []string {
	x, isMap := a.(map[string]any)
	y, alsoMap := b.(map[string]any)
	if !isMap || !alsoMap {
		if reflect.DeepEqual(a, b) {
			return list
		}
		return append(list, at)
	}
	keys := maps.Clone(x)
	maps.Copy(keys, y)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		place := key
		if at != "" {
			place = at + "." + key
		}
		list = appendDifferences(list, place, x[key], y[key])
	}
	return list
}

// WithoutRefused takes the items that guard refuses by its own rules out of both answers,
// and reports whether there were any.
func WithoutRefused(guard, recorded any) (any, any, bool) {
	g, _ := guard.(map[string]any)
	r, _ := recorded.(map[string]any)
	found := false
	for _, list := range []string{"responses", "docs"} {
		items, _ := g[list].(map[string]any)
		others, _ := r[list].(map[string]any)
		keep, alsoKeep := maps.Clone(items), maps.Clone(others)
		for slot, item := range items {
			m, _ := item.(map[string]any)
			if e, _ := m["error"].([]any); len(e) == 2 && ownRefusal.MatchString(fmt.Sprint(e[1])) {
				delete(keep, slot)
				delete(alsoKeep, slot)
				found = true
			}
		}
		if items != nil && others != nil {
			guard, recorded = map[string]any{list: keep}, map[string]any{list: alsoKeep}
		}
	}
	if !found {
		return g, r, false
	}
	return guard, recorded, true
}

// ownRefusal is what guard says when a construct, not a privilege, is the reason.
var ownRefusal = regexp.MustCompile(`is not (supported|built) yet|is refused: `)

// leftOut are keys that the recordings hold nowhere.
var leftOut = []string{"score", "_seq_no", "_version"}

// isSettings reports whether v is the settings of an index, with its identity.
func isSettings(v any) bool {
	m, _ := v.(map[string]any)
	index, _ := m["index"].(map[string]any)
	return index["uuid"] != nil
}

// Comparable drops what the recordings lack: everything called score, also where it
// is a field of the documents, the settings of an index, and the names that guard
// adds to the text of a refusal.
func Comparable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, m := range v {
			if !slices.Contains(leftOut, key) && !isSettings(m) {
				out[key] = Comparable(m)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Comparable(v[i])
		}
		return out
	case string:
		if before, _, ok := strings.Cut(v, " on ["); ok && strings.HasPrefix(v, "no permissions for [") {
			return before
		}
	}
	return v
}

// WithoutStatus drops the status that the recordings put into the error of a bulk.
func WithoutStatus(v any) any {
	m, ok := v.(map[string]any)
	if !ok || m["error"] == nil {
		return v
	}
	return map[string]any{"error": m["error"]}
}
