package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"
)

// A Case is one test of a suite with what its file does before and after it.
type Case struct {
	File string // as "bulk/10_basic.yml"
	Name string

	skips    []skip
	steps    []step // setup and the test
	teardown []step
}

// ID names the case in its suite.
func (c *Case) ID() string { return c.File + " " + c.Name }

// Folder is the part of the suite that the case belongs to, such as "bulk".
func (c *Case) Folder() string { return path.Dir(c.File) }

// A section is a named list of steps in a file.
type section struct {
	name  string
	skips []skip
	steps []step
}

// parseCases reads the cases of a file: YAML documents of one section each.
func parseCases(file string, text []byte) ([]*Case, error) {
	var setup, teardown section
	var tests []section
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		sections, err := parseSections(&doc)
		if err != nil {
			return nil, err
		}
		for _, s := range sections {
			switch s.name {
			case "setup":
				setup = s
			case "teardown":
				teardown = s
			default:
				tests = append(tests, s)
			}
		}
	}
	var cases []*Case
	for _, t := range tests {
		cases = append(cases, &Case{
			File: file, Name: t.name,
			skips: slices.Concat(setup.skips, t.skips), steps: slices.Concat(setup.steps, t.steps), teardown: teardown.steps,
		})
	}
	return cases, nil
}

// parseSections reads a document; an empty one has none.
func parseSections(doc *yaml.Node) ([]section, error) {
	if doc.Kind != yaml.DocumentNode || doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	var sections []section
	for name, list := range members(doc.Content[0]) {
		s := section{name: name.Value}
		for _, item := range list.Content {
			if err := s.add(item); err != nil {
				return nil, fmt.Errorf("line %d: %w", item.Line, err)
			}
		}
		sections = append(sections, s)
	}
	return sections, nil
}

// add reads one item of the list: a condition or a step.
func (s *section) add(item *yaml.Node) error {
	for kind, value := range members(item) {
		if kind.Value == "skip" {
			skip, err := parseSkip(value)
			if err != nil {
				return err
			}
			s.skips = append(s.skips, skip)
			continue
		}
		step, err := parseStep(kind.Value, value)
		if err != nil {
			return err
		}
		s.steps = append(s.steps, step)
	}
	return nil
}
