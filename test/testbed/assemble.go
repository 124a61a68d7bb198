package testbed

import (
	"archive/zip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed NodeMain.java
var nodeMainSource string

// assemble builds the home of b in aside/home. What it needs besides, it leaves in aside.
func assemble(ctx context.Context, aside, cache string, b build, java jdk) error {
	sections, err := parseArtefacts(artefactsText)
	if err != nil {
		return err
	}
	section := b.base
	if b.plugin != "" {
		section = b.plugin
	}
	artefacts := sections[section]
	fetchedDir, home := filepath.Join(aside, "fetched"), filepath.Join(aside, "home")
	err = longStep("fetching "+strings.ReplaceAll(section, "-", " "), func() error {
		return fetchAll(ctx, fetchedDir, cache, artefacts)
	})
	if err != nil {
		return err
	}
	if b.plugin != "" {
		base := b
		base.plugin = ""
		if err := linkTree(filepath.Join(cache, "homes", homeName(base)), home); err != nil {
			return fmt.Errorf("cannot copy the home without security: %w", err)
		}
	}
	for _, a := range artefacts {
		if err := a.place(fetchedDir, home); err != nil {
			return err
		}
	}
	if b.plugin != "" {
		return secureHome(ctx, home, java)
	}
	if err := os.MkdirAll(filepath.Join(home, "plugins"), 0o755); err != nil {
		return fmt.Errorf("cannot make the plugins folder: %w", err)
	}
	if err := writeDescriptors(home, b); err != nil {
		return err
	}
	return compileMain(ctx, home, b, java)
}

// place puts a, fetched before, where it belongs in the home.
func (a artefact) place(fetchedDir, home string) error {
	folder := filepath.Join(home, a.folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("cannot place %v: %w", a, err)
	}
	if a.ext == "jar" {
		if err := os.Rename(a.fetched(fetchedDir), filepath.Join(folder, a.file())); err != nil {
			return fmt.Errorf("cannot place %v: %w", a, err)
		}
		return nil
	}
	// The zip of a server has one folder on top, that of a plugin has none.
	top := ""
	if a.folder == "." {
		top = a.name + "-" + a.version + "/"
	}
	if err := unzip(a.fetched(fetchedDir), folder, top); err != nil {
		return fmt.Errorf("cannot unpack %v: %w", a, err)
	}
	return nil
}

// writeDescriptors makes a module of each folder below modules that holds jars
// of ours; a folder that the table does not know stops the assembly.
func writeDescriptors(home string, b build) error {
	known := map[string]module{}
	for _, m := range modules {
		known[m.name] = m
	}
	folders, err := os.ReadDir(filepath.Join(home, "modules"))
	if err != nil {
		return fmt.Errorf("the server came without modules: %w", err)
	}
	for _, f := range folders {
		path := filepath.Join(home, "modules", f.Name(), "plugin-descriptor.properties")
		if exists(path) {
			continue // came with the server
		}
		m, ok := known[f.Name()]
		if !ok {
			return fmt.Errorf("artefacts.txt places files in modules/%s, which kinds.go does not describe", f.Name())
		}
		if err := os.WriteFile(path, []byte(b.descriptor(m)), 0o644); err != nil {
			return fmt.Errorf("cannot describe module %s: %w", m.name, err)
		}
	}
	return nil
}

// compileMain compiles NodeMain against the server's own jars into home/main.
func compileMain(ctx context.Context, home string, b build, java jdk) error {
	dir := filepath.Join(home, "main")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder of the main class: %w", err)
	}
	source := filepath.Join(dir, "NodeMain.java")
	if err := os.WriteFile(source, []byte(strings.ReplaceAll(nodeMainSource, "PACKAGE", b.pkg)), 0o644); err != nil {
		return fmt.Errorf("cannot write the main class: %w", err)
	}
	classPath := filepath.Join(home, "lib") + "/*"
	err := run(ctx, dir, nil, java.tool("javac"), "--release", strconv.Itoa(b.release), "-nowarn", "-cp", classPath, "-d", dir, source)
	if err != nil {
		return fmt.Errorf("cannot compile NodeMain for %s: %w", b.base, err)
	}
	return nil
}

// unzip unpacks what the archive holds below top into dir.
func unzip(archive, dir, top string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		name, ok := strings.CutPrefix(f.Name, top)
		if !ok {
			return fmt.Errorf("%q is not below %q", f.Name, top)
		}
		if name == "" || strings.HasSuffix(name, "/") {
			continue // folders are made with their files
		}
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%q leaves the archive's folder", f.Name)
		}
		if err := unzipFile(f, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func unzipFile(f *zip.File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, f.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// linkTree copies the tree at from to to; files become hard links, as a home is never written to.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		return os.Link(path, filepath.Join(to, rel))
	})
}
