package conformance

import (
	"archive/zip"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// A Suite is what the makers of an engine wrote to test its REST API.
type Suite struct {
	calls  map[string]call // by name, as "indices.create"
	common call            // parameters that every call takes
	Cases  []*Case         // in the order of their files
}

// The folders of a suite's jar.
const (
	apiFolder  = "rest-api-spec/api/"
	caseFolder = "rest-api-spec/test/"
)

// ReadSuite reads the jar that testbed.FetchSuite gives.
func ReadSuite(jar string) (*Suite, error) {
	z, err := zip.OpenReader(jar)
	if err != nil {
		return nil, fmt.Errorf("cannot open the suite: %w", err)
	}
	defer z.Close()
	slices.SortFunc(z.File, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	s := &Suite{calls: map[string]call{}}
	for _, f := range z.File {
		if err := s.add(f); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", f.Name, err)
		}
	}
	if len(s.calls) == 0 || len(s.Cases) == 0 {
		return nil, fmt.Errorf("%s has %d calls and %d cases; want both", jar, len(s.calls), len(s.Cases))
	}
	return s, nil
}

// add adds what a file of the jar holds: a call, cases, or nothing of ours.
func (s *Suite) add(f *zip.File) error {
	api, isCall := strings.CutPrefix(f.Name, apiFolder)
	file, isCases := strings.CutPrefix(f.Name, caseFolder)
	if isCall = isCall && path.Ext(api) == ".json"; !isCall && !(isCases && path.Ext(file) == ".yml") {
		return nil
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if isCall {
		return s.addCall(strings.TrimSuffix(api, ".json"), text)
	}
	cases, err := parseCases(file, text)
	s.Cases = append(s.Cases, cases...)
	return err
}
