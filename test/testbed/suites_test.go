package testbed

import (
	"archive/zip"
	"slices"
	"strings"
	"testing"
)

// TestSuites: each suite is fetched, and holds calls and cases.
func TestSuites(t *testing.T) {
	for _, kind := range SuiteKinds() {
		jar, err := FetchSuite(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		z, err := zip.OpenReader(jar)
		if err != nil {
			t.Fatalf("suite for %s: %v", kind, err)
		}
		defer z.Close()
		for _, want := range []string{"rest-api-spec/api/search.json", "rest-api-spec/test/bulk/10_basic.yml"} {
			if !slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == want }) {
				t.Errorf("suite for %s lacks %s", kind, want)
			}
		}
	}
	if _, err := FetchSuite(t.Context(), Secured); err == nil || !strings.Contains(err.Error(), "there is no suite for secured") {
		t.Errorf("suite for %s: %v; want an error", Secured, err)
	}
}

// TestSectionText: what is pinned for one part is no part of the name of another.
func TestSectionText(t *testing.T) {
	for name, want := range map[string]string{
		suites[ES710]:    "org.elasticsearch:rest-api-spec:7.10.2",
		"security-3.4.0": "org.opensearch.plugin:opensearch-security:3.4.0.0:zip",
	} {
		text := sectionText(name)
		if !strings.Contains(text, want) || strings.Contains(text, "[") {
			t.Errorf("section %s is %q; want it to be one section with %s", name, text, want)
		}
	}
	if text := sectionText(""); text != "" {
		t.Errorf("no section has the text %q", text)
	}
}
