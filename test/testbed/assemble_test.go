package testbed

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// writeZip writes an archive with a file of each name, that holds its own name.
func writeZip(t *testing.T, names ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = w.Write([]byte(name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestUnzip(t *testing.T) {
	dir := t.TempDir()
	if err := unzip(writeZip(t, "top/", "top/a", "top/sub/b"), dir, "top/"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a": "top/a", "sub/b": "top/sub/b"} {
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
		}
	}
	fail := func(name, want string) {
		t.Helper()
		err := unzip(writeZip(t, name), t.TempDir(), "top/")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("unzip %q: %v; want %q in it", name, err, want)
		}
	}
	fail("other/a", `"other/a" is not below "top/"`)
	fail("top/../../a", `"top/../../a" leaves the archive's folder`)
	fail("top//etc/a", `"top//etc/a" leaves the archive's folder`)
}

func TestDescriptors(t *testing.T) {
	f := func(kind Kind, name, want string) {
		t.Helper()
		for _, m := range modules {
			if m.name == name {
				if diff := cmp.Diff(want, builds[kind].descriptor(m)); diff != "" {
					t.Errorf("%s in %s (-want +got):\n%s", name, kind, diff)
				}
			}
		}
	}
	f(OpenSearch, "analysis-common", `name=analysis-common
description=analysis-common of the test bed
version=2.19.4
opensearch.version=2.19.4
java.version=11
classname=org.opensearch.analysis.common.CommonAnalysisPlugin
has.native.controller=false
extended.plugins=lang-painless
`)
	f(OpenSearch3, "geo", `name=geo
description=geo of the test bed
version=3.4.0
opensearch.version=3.4.0
java.version=21
classname=org.opensearch.geo.GeoModulePlugin
has.native.controller=false
`)
	f(OpenSearch3, "reindex", `name=reindex
description=reindex of the test bed
version=3.4.0
opensearch.version=3.4.0
java.version=21
classname=org.opensearch.index.reindex.ReindexModulePlugin
has.native.controller=false
`)
	f(ES710, "rank-eval", `name=rank-eval
description=rank-eval of the test bed
version=7.10.2
elasticsearch.version=7.10.2
java.version=1.8
classname=org.elasticsearch.index.rankeval.RankEvalPlugin
has.native.controller=false
`)
}

func TestWriteDescriptorsRefusesUnknownModules(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "modules", "surprise"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := writeDescriptors(home, builds[OpenSearch])
	if err == nil || !strings.Contains(err.Error(), "modules/surprise, which kinds.go does not describe") {
		t.Errorf("unknown module: %v", err)
	}
}

// A secured home shares no name with the one it is made of, and a kind's name is stable.
func TestHomeNames(t *testing.T) {
	seen := map[string]Kind{}
	for _, kind := range Kinds() {
		name := homeName(builds[kind])
		if other, taken := seen[name]; taken {
			t.Errorf("%s and %s share the home %s", kind, other, name)
		}
		seen[name] = kind
		if again := homeName(builds[kind]); again != name {
			t.Errorf("%s has two homes: %s and %s", kind, name, again)
		}
	}
}

func TestLinkTree(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
	if err := os.MkdirAll(filepath.Join(from, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, "a", "b", "f"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := linkTree(from, to); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "a", "b", "f")); err != nil || string(got) != "x" {
		t.Errorf("linked file holds %q, %v", got, err)
	}
}

// The lock excludes, and waiting for it ends with the context.
func TestWithLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	err := withLock(t.Context(), path, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		inner := withLock(ctx, path, func() error { t.Error("two hold the lock"); return nil })
		if !errors.Is(inner, context.DeadlineExceeded) {
			t.Errorf("second lock: %v; want a deadline", inner)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := withLock(t.Context(), path, func() error { return nil }); err != nil {
		t.Errorf("lock after its release: %v", err)
	}
}
