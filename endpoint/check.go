package endpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"guard/internal/ask"
)

// check reports whether a row says all that a row has to say and nothing that
// contradicts itself, and returns its parameters by name.
func (r *Route) check() (map[string]ParamKind, error) {
	if len(r.Paths) == 0 {
		return nil, errors.New("no path")
	}
	if r.NotBuilt {
		if len(r.Privileges)+len(r.Items)+len(r.Params) > 0 || r.Targets != targetsUnset || r.Body != bodyUnset || r.Answer != answerUnset {
			return nil, errors.New("not built, and yet more than id, methods and paths")
		}
		return nil, nil
	}
	if r.Targets == targetsUnset || r.Body == bodyUnset || r.Answer == answerUnset {
		return nil, errors.New("targets, body and answer must be chosen")
	}
	if err := r.checkPrivileges(); err != nil {
		return nil, err
	}
	if err := r.checkPlaces(); err != nil {
		return nil, err
	}
	kinds := make(map[string]ParamKind, len(r.Params))
	for _, p := range r.Params {
		if _, twice := kinds[p.Name]; twice || p.Name == "" || p.Kind == Unknown {
			return nil, fmt.Errorf("parameter %q is empty, of no kind, or stands twice", p.Name)
		}
		kinds[p.Name] = p.Kind
	}
	return kinds, r.checkParams(kinds)
}

func (r *Route) checkPrivileges() error {
	if len(r.Privileges) == 0 {
		return errors.New("no privilege is asked")
	}
	several := r.Targets == MsearchHeaders || r.Targets == MgetDocs
	if several != (len(r.Items) > 0) {
		return errors.New("privileges of items belong to bodies with several items, and to no other")
	}
	for _, p := range append(r.Privileges[:len(r.Privileges):len(r.Privileges)], r.Items...) {
		if p.Action == "" {
			return errors.New("a privilege names no action")
		}
		if r.Targets == NoTargets && p.Scope != ask.ScopeCluster {
			return fmt.Errorf("%s is asked on indices, and none is named", p.Action)
		}
	}
	return nil
}

// checkPlaces compares where names are said to stand with where they can.
func (r *Route) checkPlaces() error {
	var withIndex, withName bool
	for _, p := range r.Paths {
		withIndex = withIndex || strings.Contains(p, "{index}")
		withName = withName || strings.Contains(p, "{name}")
	}
	switch {
	case r.Targets == NoTargets && (withIndex || withName):
		return errors.New("a path names indices, and the row has no targets")
	case r.Targets == PathName && !withName:
		return errors.New("indices stand in {name}, and no path has it")
	case r.Single && !withIndex:
		return errors.New("exactly one index is named, and no path has {index}")
	case r.Single && r.Opts.Expand != 0:
		return errors.New("exactly one index is named, and wildcards expand")
	case r.Writes && r.Repeatable:
		return errors.New("a write may not be repeated")
	case r.ChangesState && !r.Writes:
		return errors.New("a read does not change the state")
	}
	return nil
}

func (r *Route) checkParams(kinds map[string]ParamKind) error {
	for name, kind := range kinds {
		switch {
		case (kind == IndexOption) != slices.Contains(optionNames, name):
			return fmt.Errorf("parameter %q: only index options can be read as such", name)
		case kind == IndexName && r.Targets == NoTargets:
			return fmt.Errorf("parameter %q names an index, and the row has no targets", name)
		case kind == BodyText && r.Body == NoBody:
			return fmt.Errorf("parameter %q carries a body, and the row has none", name)
		}
	}
	return nil
}
