package testbed

import (
	"context"
	"fmt"
	"path/filepath"
)

// suites are the sections of artefacts.txt with the tests that an engine's makers
// wrote for its REST API. Of OpenSearch the first of a line alone is on Maven Central;
// it fits the later nodes of that line.
var suites = map[Kind]string{
	ES710:       "suite-elasticsearch-7.10.2",
	OpenSearch:  "suite-opensearch-2.19.0",
	OpenSearch3: "suite-opensearch-3.0.0",
}

// SuiteKinds returns the kinds for which FetchSuite has a suite.
func SuiteKinds() []Kind { return []Kind{OpenSearch, ES710, OpenSearch3} }

// FetchSuite makes sure that the REST tests for kind are in the cache and returns
// their jar, which has them below rest-api-spec. It is safe to be called by several
// processes at once.
func FetchSuite(ctx context.Context, kind Kind) (string, error) {
	sections, err := parseArtefacts(artefactsText)
	if err != nil {
		return "", err
	}
	pinned := sections[suites[kind]]
	if len(pinned) != 1 {
		return "", fmt.Errorf("there is no suite for %s; want one of %v", kind, SuiteKinds())
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	suite := pinned[0]
	// Both engines call the file rest-api-spec: the section tells them apart, the checksum old pins from new ones.
	jar := filepath.Join(cache, "suites", suites[kind]+"-"+suite.sha256[:12]+".jar")
	if exists(jar) {
		return jar, nil // fast path: a jar appears by a rename, whole
	}
	err = keep(ctx, filepath.Join(cache, "lock"), jar, func(aside string) (string, error) {
		return suite.fetched(aside), longStep("fetching "+suites[kind], func() error { return fetchAll(ctx, aside, cache, pinned) })
	})
	if err != nil {
		return "", fmt.Errorf("cannot fetch the suite for %s: %w", kind, err)
	}
	return jar, nil
}
