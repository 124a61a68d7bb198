package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Load reads and validates guard.yml. Without a path the defaults hold. What o
// gives comes from flags and wins over the file. Paths in the file start at its
// folder, those of flags at the working folder. An error of type Faults lists all
// that is wrong; warnings come in both cases.
func Load(path string, o Overrides) (*Config, []Warning, error) {
	var data []byte
	if path != "" {
		var err error
		data, err = ReadFile(path)
		if err != nil {
			return nil, nil, faultOf(path, err, "a file that guard can read")
		}
	}
	var r report
	c := parse(&r, path, data, o, nil)
	if path != "" {
		c.Hash = HashOf(data)
	}
	c.readFiles(&r)
	if err := r.faults.Err(); err != nil {
		return nil, r.warnings, err
	}
	return c, r.warnings, nil
}

// parse is Load without the disk; path is empty if there is no file.
func parse(r *report, path string, data []byte, o Overrides, lookupEnv func(string) (string, bool)) *Config {
	c := &Config{}
	v := reflect.ValueOf(c).Elem()
	applyDefaults(v)
	if path == "" {
		placeSections(v, Pos{File: "command line"})
	} else if doc := parseDocument(r, path, data); doc != nil {
		d := decoder{report: r, env: newEnvironment(lookupEnv)}
		d.decode(doc.root, doc.pos, v)
		c.resolvePaths(filepath.Dir(path))
	}
	if len(r.faults) == 0 {
		// Only what could be read as a whole: a key that is left at its default
		// because its text has a fault would bring further ones.
		o.apply(c)
		c.Limits.derive()
		c.validate(r)
	}
	return c
}

// apply puts the values of flags over those of the file.
func (o Overrides) apply(c *Config) {
	for _, f := range []struct {
		flag, value string
		section     *Pos
		key         string
		field       *string
	}{
		{"--listen", o.Listen, &c.Pos, "listen", &c.Listen},
		{"--internal", o.Internal, &c.Pos, "internal", &c.Internal},
		{"--security", o.Security, &c.Pos, "security", &c.Security},
		{"--log-level", o.LogLevel, &c.Log.Pos, "level", (*string)(&c.Log.Level)},
	} {
		if f.value != "" {
			*f.field = f.value
			f.section.override(f.key, f.flag)
		}
	}
	if len(o.Upstream) > 0 {
		c.Upstream.URLs = slices.Clone(o.Upstream)
		c.Upstream.Pos.override("urls", "--upstream")
	}
}

// override makes a flag the place of a key.
func (p *Pos) override(key, flag string) {
	keys := map[string]Pos{key: {File: flag}}
	for k, at := range p.keys {
		if k != key {
			keys[k] = at
		}
	}
	p.keys = keys
}

// files are the keys that name a file.
func (c *Config) files() []fileKey {
	files := []fileKey{
		{c.TLS.Pos.At("certificate"), &c.TLS.Certificate},
		{c.TLS.Pos.At("key"), &c.TLS.Key},
		{c.TLS.Pos.At("client_ca"), &c.TLS.ClientCA},
		{c.Upstream.Pos.At("ca_file"), &c.Upstream.CAFile},
		{c.Upstream.Pos.At("client_certificate"), &c.Upstream.ClientCert},
		{c.Upstream.Pos.At("client_key"), &c.Upstream.ClientKey},
		{c.Upstream.Pos.At("password_file"), &c.Upstream.PasswordFile},
	}
	for i := range c.TLS.Certificates {
		pair := &c.TLS.Certificates[i]
		files = append(files, fileKey{pair.Pos.At("certificate"), &pair.Certificate}, fileKey{pair.Pos.At("key"), &pair.Key})
	}
	return files
}

type fileKey struct {
	pos  Pos
	path *string
}

func (c *Config) resolvePaths(dir string) {
	keys := append(c.files(), fileKey{c.Pos.At("security"), &c.Security})
	for _, f := range keys {
		if *f.path != "" && !filepath.IsAbs(*f.path) {
			*f.path = filepath.Join(dir, *f.path)
		}
	}
}

// readFiles reports each file that is named and can't be read, and takes the
// password of the upstream account from its own.
func (c *Config) readFiles(r *report) {
	for _, f := range c.files() {
		if *f.path == "" {
			continue
		}
		file, err := openFile(*f.path)
		if err != nil {
			r.fault(f.pos, "a file that guard can read", "%s", err)
			continue
		}
		_ = file.Close() // nothing was written
	}
	if c.Upstream.PasswordFile == "" || len(r.faults) > 0 {
		return
	}
	password, err := readPassword(c.Upstream.PasswordFile)
	if err != nil {
		r.fault(c.Upstream.Pos.At("password_file"), "a file with the password in one line", "%s", err)
		return
	}
	c.Upstream.Password = password
}

func readPassword(path string) (Secret, error) {
	data, err := ReadFile(path)
	if err != nil {
		return Secret{}, fmt.Errorf("cannot read the password: %w", err)
	}
	return ParsePassword(data)
}

// ParsePassword returns the password that a file holds: one line, whose end is cut off.
func ParsePassword(data []byte) (Secret, error) {
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if text == "" {
		return Secret{}, errors.New("file is empty")
	}
	if strings.ContainsAny(text, "\r\n") {
		return Secret{}, errors.New("file has more than one line")
	}
	return NewSecret(text), nil
}
