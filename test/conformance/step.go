package conformance

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// A step is what a case does, one after the other. An error is a failure of the case.
type step interface {
	run(x *execution) error
}

// parseStep reads the step of that kind.
func parseStep(kind string, n *yaml.Node) (step, error) {
	if kind == "do" {
		return parseDo(n)
	}
	if kind == "is_true" || kind == "is_false" {
		return isTrue{path: n.Value, want: kind == "is_true"}, nil
	}
	var s step
	for path, value := range members(n) {
		if s != nil {
			return nil, fmt.Errorf("%s has several paths; want one", kind)
		}
		at := place{path.Value, value}
		switch kind {
		case "match":
			s = match{at}
		case "length":
			s = length{at}
		case "contains":
			s = contains{at}
		case "set":
			s = set{at}
		case "gt", "gte", "lt", "lte":
			s = order{at, kind}
		default:
			return nil, fmt.Errorf("unknown kind of step %q", kind)
		}
	}
	if s == nil {
		return nil, fmt.Errorf("%s has no path", kind)
	}
	return s, nil
}

// A place is a path into the last answer with the value that stands beside it in the suite.
type place struct {
	path  string
	value *yaml.Node
}

// both returns the value in the answer and the one in the suite.
func (p place) both(x *execution) (got, want any, err error) {
	if got, err = x.kept.at(x.body, p.path); err != nil {
		return nil, nil, err
	}
	want, err = plain(p.value, x.kept)
	return got, want, err
}
