package integration

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"

	"guard/test/testbed"
)

// Target is who answered: guard before an engine, or the plugin if Engine is empty.
type Target struct {
	Engine testbed.Kind
	Mode   Mode
}

// Answers are the summaries of one case.
type Answers map[Target]string

// Update writes what was answered into the table: the plugin's answers as wanted, what
// differs from them as deviations. Those that were listed before keep their reason;
// new ones have none, which TestReasons reports.
func Update(path string, got map[string]Answers) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the table: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	for _, node := range doc.Content[0].Content {
		var c Case
		if err := node.Decode(&c); err != nil {
			return fmt.Errorf("cannot read %s: %w", path, err)
		}
		answers := got[c.Name]
		if answers == nil {
			continue
		}
		old := c.Else
		c.Want, c.DNFOF = answers[Target{Mode: Strict}], answers[Target{Mode: DNFOF}]
		if c.DNFOF == c.Want {
			c.DNFOF = ""
		}
		c.Else = deviations(c, answers)
		for i := range c.Else {
			for _, o := range old {
				if o.Want == c.Else[i].Want {
					c.Else[i].Why = cmp.Or(c.Else[i].Why, o.Why)
				}
			}
		}
		if err := setAnswers(node, c); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return fmt.Errorf("cannot write the table: %w", err)
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// deviations lists the answers of guard that are not the plugin's, as shortly as it
// can be said.
func deviations(c Case, answers Answers) []Else {
	var list []Else
	for target, answer := range answers {
		if target.Engine != "" && answer != c.Wanted("", target.Mode) {
			list = append(list, Else{Who: string(target.Engine), Mode: target.Mode, Want: answer})
		}
	}
	slices.SortFunc(list, func(a, b Else) int {
		return cmp.Or(cmp.Compare(a.Want, b.Want), cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Who, b.Who))
	})
	engines := 0
	for target := range answers {
		if target.Engine != "" && target.Mode == Strict {
			engines++
		}
	}
	list = merge(list, engines, func(e Else) Else { e.Who = "guard"; return e })
	return merge(list, 2, func(e Else) Else { e.Mode = ""; return e })
}

// merge makes one of n entries that become equal by widen.
func merge(list []Else, n int, widen func(Else) Else) []Else {
	count := map[Else]int{}
	for _, e := range list {
		count[widen(e)]++
	}
	var out []Else
	for _, e := range list {
		if w := widen(e); count[w] == n {
			e = w
		}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// setAnswers replaces the answers in the YAML of a case.
func setAnswers(node *yaml.Node, c Case) error {
	var kept []*yaml.Node
	for i := 0; i < len(node.Content); i += 2 {
		if key := node.Content[i].Value; key != "want" && key != "dnfof" && key != "else" {
			kept = append(kept, node.Content[i], node.Content[i+1])
		}
	}
	node.Content = append(kept, textNode("want"), textNode(c.Want))
	if c.DNFOF != "" {
		node.Content = append(node.Content, textNode("dnfof"), textNode(c.DNFOF))
	}
	if len(c.Else) == 0 {
		return nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, e := range c.Else {
		entry := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{textNode("who"), textNode(e.Who)}}
		if e.Mode != "" {
			entry.Content = append(entry.Content, textNode("mode"), textNode(string(e.Mode)))
		}
		entry.Content = append(entry.Content, textNode("want"), textNode(e.Want), textNode("why"), textNode(e.Why))
		list.Content = append(list.Content, entry)
	}
	node.Content = append(node.Content, textNode("else"), list)
	return nil
}

func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if len(s) > 8 {
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}
