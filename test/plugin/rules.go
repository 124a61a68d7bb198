package plugin

import "strings"

// A Difference is a request that guard and the plugin answer otherwise.
type Difference struct {
	Kind, Line    string
	Version       string
	DNFOF         bool
	User          User
	World         World
	Guard, Plugin Outcome

	// Beyond are documents that guard shows and that the plugin doesn't show, even when it is
	// asked for their index by name. No rule explains them.
	Beyond []string
}

// A Rule finds a difference that is meant. docs/compatibility.md tells operators the same.
type Rule struct {
	Name, Why string
	finds     func(part) bool
}

// Explain names the rules that find d, part by part; it is empty if a part is found
// by none, or if guard shows what the plugin never does: then d is a fault.
func Explain(d Difference) string {
	if len(d.Beyond) > 0 {
		return ""
	}
	var names []string
	for _, p := range d.parts() {
		name := ""
		for _, r := range Rules {
			if r.finds(p) {
				name = r.Name
				break
			}
		}
		if name == "" {
			return ""
		}
		if !strings.Contains(strings.Join(names, "+"), name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}
