package testbed

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

//go:embed artefacts.txt
var artefactsText string

// An artefact is one pinned file: where it comes from, what its bytes are and where it goes.
type artefact struct {
	sha256  string
	folder  string // inside the home
	group   string
	name    string
	version string
	ext     string // "jar" or "zip"
}

// file returns the name under which Maven stores a.
func (a artefact) file() string { return a.name + "-" + a.version + "." + a.ext }

func (a artefact) String() string { return a.group + ":" + a.name + ":" + a.version + ":" + a.ext }

// parseArtefacts reads the form that the head of artefacts.txt describes.
func parseArtefacts(text string) (map[string][]artefact, error) {
	sections := map[string][]artefact{}
	section := ""
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			continue
		}
		a, err := parseArtefact(line)
		if err != nil {
			return nil, fmt.Errorf("artefacts.txt:%d: %w", i+1, err)
		}
		if section == "" {
			return nil, fmt.Errorf("artefacts.txt:%d: %v stands before the first [section]", i+1, a)
		}
		sections[section] = append(sections[section], a)
	}
	return sections, nil
}

func parseArtefact(line string) (artefact, error) {
	words := strings.Fields(line)
	if len(words) != 3 {
		return artefact{}, fmt.Errorf("%q has %d columns; want sha256, folder and coordinates", line, len(words))
	}
	if sum, err := hex.DecodeString(words[0]); err != nil || len(sum) != sha256.Size {
		return artefact{}, fmt.Errorf("%q is no SHA-256; want 64 hexadecimal digits", words[0])
	}
	if !filepath.IsLocal(words[1]) {
		return artefact{}, fmt.Errorf("folder %q leaves the home; want a relative path", words[1])
	}
	parts := strings.Split(words[2], ":")
	if len(parts) == 3 {
		parts = append(parts, "jar")
	}
	if len(parts) != 4 || parts[3] != "jar" && parts[3] != "zip" {
		return artefact{}, fmt.Errorf("cannot read coordinates %q; want group:artifact:version or group:artifact:version:zip", words[2])
	}
	return artefact{sha256: words[0], folder: words[1], group: parts[0], name: parts[1], version: parts[2], ext: parts[3]}, nil
}

// verify returns an error unless the file at path has the pinned bytes.
func (a artefact) verify(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%v was not fetched: %w", a, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("cannot read %v: %w", a, err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != a.sha256 {
		return fmt.Errorf("checksum mismatch: %v has SHA-256 %s; artefacts.txt wants %s", a, got, a.sha256)
	}
	return nil
}
