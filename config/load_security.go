package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// metaVersion is the version of the file format; the plugin knows no other.
const metaVersion = 2

// securityFile is a file of the security folder.
type securityFile struct {
	name     string
	kind     string // what its _meta.type says
	optional bool
	load     func(*loader, *document)
}

// securityFiles are all files of the folder, in the order in which they are read.
var securityFiles = []securityFile{
	{name: "config.yml", kind: "config", load: (*loader).config},
	{name: "roles.yml", kind: "roles", load: (*loader).roles},
	{name: "roles_mapping.yml", kind: "rolesmapping", load: (*loader).mappings},
	{name: "internal_users.yml", kind: "internalusers", load: (*loader).users},
	{name: "action_groups.yml", kind: "actiongroups", load: (*loader).actionGroups},
	{name: "tenants.yml", kind: "tenants", load: (*loader).tenants},
	{name: "allowlist.yml", kind: "allowlist", optional: true, load: (*loader).allowlist},
	{name: "audit.yml", kind: "audit", optional: true, load: (*loader).audit},
	{name: "nodes_dn.yml", kind: "nodesdn", optional: true, load: (*loader).nodesDN},
}

// dataLink is the link through which Kubernetes shows the files of a ConfigMap or Secret.
const dataLink = "..data"

// Folder is the content of a security folder at one moment.
type Folder struct {
	Dir     string            // for messages
	Files   map[string][]byte // by name
	Folders []string          // that are in it, sorted, and not read
}

// ReadFolder reads a security folder. A folder that Kubernetes mounts from a
// ConfigMap or Secret is read as one generation: its files are links into a
// folder that is exchanged as a whole, and are read there. An error is of type Faults.
func ReadFolder(dir string) (Folder, error) {
	folder := Folder{Dir: dir, Files: map[string][]byte{}}
	from := dir
	if data, err := filepath.EvalSymlinks(filepath.Join(dir, dataLink)); err == nil {
		from = data
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return Folder{}, unreadable(dir, err)
	}
	for _, entry := range entries {
		path := filepath.Join(from, entry.Name())
		info, err := os.Stat(path) // follows links
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if err == nil && info.IsDir() {
			folder.Folders = append(folder.Folders, entry.Name())
			continue
		}
		if !isSecurityFile(entry.Name()) {
			folder.Files[entry.Name()] = nil // named in a warning, not read
			continue
		}
		data, err := ReadFile(path)
		if err != nil {
			return Folder{}, unreadable(dir, err)
		}
		folder.Files[entry.Name()] = data
	}
	return folder, nil
}

func unreadable(dir string, err error) Faults {
	return faultOf(dir, err, "the security folder, with files that guard can read; security or --security names it")
}

func isSecurityFile(name string) bool {
	return slices.ContainsFunc(securityFiles, func(f securityFile) bool { return f.name == name })
}

// isFolder reports whether a folder stands where name should be a file. A container
// makes one when it mounts a file that does not exist.
func (f Folder) isFolder(name string) bool { return slices.Contains(f.Folders, name) }

// Hash returns a hash of all files that count. Equal hashes mean equal content.
func (f Folder) Hash() string {
	h := sha256.New()
	for _, file := range securityFiles {
		if data, ok := f.Files[file.name]; ok {
			fmt.Fprintf(h, "%s %d\n", file.name, len(data))
			h.Write(data)
		} else if f.isFolder(file.name) {
			fmt.Fprintf(h, "%s is a folder\n", file.name)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Options are what the reading of a security folder depends on besides its files.
type Options struct {
	Policy    Policy                           // of guard.yml
	LookupEnv func(name string) (string, bool) // nil: the process's environment
}

// faultOf puts what the operating system refused in the form of a fault.
func faultOf(file string, err error, want string) Faults {
	msg := err.Error()
	var at *fs.PathError
	if errors.As(err, &at) {
		file, msg = at.Path, fmt.Sprintf("cannot %s: %v", at.Op, at.Err) // the place is said once
	}
	return Faults{{File: file, Msg: msg, Want: want}}
}

// ParseSecurity validates the files of a folder. An error of type Faults lists all
// that is wrong; warnings come in both cases.
func ParseSecurity(folder Folder, o Options) (*Security, []Warning, error) {
	l := &loader{dir: folder.Dir, security: &Security{Hash: folder.Hash()}}
	l.decoder.report = &l.report
	if !o.Policy.DisableEnvReplacement {
		l.decoder.env = newEnvironment(o.LookupEnv)
	}
	for _, file := range securityFiles {
		data, ok := folder.Files[file.name]
		switch {
		case ok:
			l.file(file, data)
		case folder.isFolder(file.name):
			l.report.fault(Pos{File: l.path(file.name)}, "a file", "is a folder")
		case file.optional:
			file.load(l, nil)
		default:
			l.report.fault(Pos{File: l.path(file.name)}, fmt.Sprintf("it, with at least _meta: {type: %s, config_version: %d}", file.kind, metaVersion), "file is missing")
		}
	}
	l.otherFiles(folder)
	l.crossCheck()
	slices.SortStableFunc(l.report.warnings, byPlace)
	if err := l.report.faults.Err(); err != nil {
		return nil, l.report.warnings, err
	}
	return l.security, l.report.warnings, nil
}

// loader reads the files of one folder into one Security.
type loader struct {
	dir      string
	security *Security
	report   report
	decoder  decoder
}

func (l *loader) path(name string) string { return filepath.Join(l.dir, name) }

func (l *loader) file(file securityFile, data []byte) {
	doc := parseDocument(&l.report, l.path(file.name), data)
	if doc == nil {
		return
	}
	l.checkMeta(doc, file.kind)
	file.load(l, doc)
}

func (l *loader) otherFiles(folder Folder) {
	for name := range folder.Files {
		if isSecurityFile(name) {
			continue
		}
		why := "no file of a security folder has this name"
		if name == "whitelist.yml" {
			why = "its successor is allowlist.yml"
		}
		l.report.warn(Pos{File: l.path(name)}, "", "file is ignored: %s", why)
	}
	for _, name := range folder.Folders {
		if isSecurityFile(name) {
			continue // a fault already
		}
		l.report.warn(Pos{File: l.path(name)}, fmt.Sprintf("the files directly in %q", folder.Dir), "folder is ignored")
	}
}

// meta is the entry _meta.
type meta struct {
	Pos     Pos    `yaml:"-"`
	Type    string `yaml:"type"`
	Version int    `yaml:"config_version"`
}

func (l *loader) checkMeta(doc *document, kind string) {
	want := fmt.Sprintf("{type: %s, config_version: %d}", kind, metaVersion)
	for i := 0; i+1 < len(doc.root.Content); i += 2 {
		if doc.root.Content[i].Value != metaKey {
			continue
		}
		var m meta
		pos := doc.pos.At(metaKey)
		before := len(l.report.faults)
		l.decoder.decode(doc.root.Content[i+1], pos, reflect.ValueOf(&m).Elem())
		if len(l.report.faults) > before {
			return
		}
		if m.Type != kind {
			l.report.fault(pos.At("type"), fmt.Sprintf("%q", kind), "%q", m.Type)
		}
		if m.Version != metaVersion {
			l.report.fault(pos.At("config_version"), fmt.Sprint(metaVersion), "%d", m.Version)
		}
		return
	}
	l.report.fault(doc.pos.At(metaKey), want, "_meta is missing")
}

const metaKey = "_meta"

// entries decodes all entries of a document: every key at the top but _meta.
func entries[T any](l *loader, doc *document) map[string]T {
	m := make(map[string]T, len(doc.root.Content)/2)
	for i := 0; i+1 < len(doc.root.Content); i += 2 {
		key, value := doc.root.Content[i], doc.root.Content[i+1]
		if key.Value == metaKey || isMerge(key) {
			continue
		}
		pos := doc.pos.At(key.Value)
		if isNull(value) {
			l.report.fault(pos, "a map of keys; {} for an empty one", "null")
			continue
		}
		var entry T
		l.decoder.decode(value, pos, reflect.ValueOf(&entry).Elem())
		m[key.Value] = entry
	}
	return m
}

// onlyEntry decodes the entry `config` of a document that must have no other. It
// reports whether there is one.
func onlyEntry[T any](l *loader, doc *document, required bool) (entry T, ok bool) {
	all := entries[T](l, doc)
	for name := range all {
		if name != "config" {
			l.report.fault(doc.pos.At(name), "one entry, \"config\"", "unknown entry %q", name)
		}
	}
	entry, ok = all["config"]
	if !ok {
		absent := reflect.ValueOf(&entry).Elem()
		applyDefaults(absent)
		placeSections(absent, doc.pos.At("config"))
		if required {
			l.report.fault(doc.pos.At("config"), "one entry, \"config\"", "config is missing")
		}
	}
	return entry, ok
}

// dynamicConfig is the only entry of config.yml.
type dynamicConfig struct {
	Pos     Pos     `yaml:"-"`
	Dynamic Dynamic `yaml:"dynamic"`
}

func (l *loader) config(doc *document) {
	entry, ok := onlyEntry[dynamicConfig](l, doc, true)
	l.security.Dynamic = entry.Dynamic
	if ok {
		l.checkDynamic(&l.security.Dynamic)
	}
}

func (l *loader) roles(doc *document) {
	l.security.Roles = entries[Role](l, doc)
	for _, name := range sortedKeys(l.security.Roles) {
		l.checkRole(l.security.Roles[name])
	}
	mergeBuiltIn(l, l.security.Roles, builtInRoles(), "role")
}

func (l *loader) mappings(doc *document) {
	l.security.Mappings = entries[Mapping](l, doc)
	for _, name := range sortedKeys(l.security.Mappings) {
		l.checkMapping(l.security.Mappings[name])
	}
}

func (l *loader) users(doc *document) {
	l.security.Users = entries[User](l, doc)
	for _, name := range sortedKeys(l.security.Users) {
		l.checkUser(name, l.security.Users[name])
	}
}

func (l *loader) actionGroups(doc *document) {
	l.security.ActionGroups = entries[ActionGroup](l, doc)
	for _, name := range sortedKeys(l.security.ActionGroups) {
		group := l.security.ActionGroups[name]
		l.checkPatterns(group.Pos, "allowed_actions", group.AllowedActions)
	}
	mergeBuiltIn(l, l.security.ActionGroups, builtInActionGroups(), "action group")
}

func (l *loader) tenants(doc *document) {
	l.security.Tenants = entries[Tenant](l, doc)
	mergeBuiltIn(l, l.security.Tenants, builtInTenants(), "tenant")
}

func (l *loader) allowlist(doc *document) {
	if doc == nil {
		return
	}
	l.security.Allowlist, _ = onlyEntry[Allowlist](l, doc, false)
	l.checkAllowlist(l.security.Allowlist)
}

func (l *loader) audit(doc *document) {
	if doc == nil {
		return
	}
	l.security.Audit, _ = onlyEntry[Audit](l, doc, false)
	l.checkAudit(l.security.Audit)
}

func (l *loader) nodesDN(doc *document) {
	if doc == nil {
		return
	}
	l.security.NodesDN = entries[NodesDN](l, doc)
}

// positioned is an entry that knows its place.
type positioned interface {
	Role | ActionGroup | Tenant
	place() Pos
}

func (r Role) place() Pos        { return r.Pos }
func (g ActionGroup) place() Pos { return g.Pos }
func (t Tenant) place() Pos      { return t.Pos }

// mergeBuiltIn puts what is built in over what the file says, as the plugin does.
func mergeBuiltIn[T positioned](l *loader, entries, builtIn map[string]T, what string) {
	for name, entry := range builtIn {
		if own, ok := entries[name]; ok {
			l.report.warn(own.place(), "another name", "%s %q is built in; this one is ignored", what, name)
		}
		entries[name] = entry
	}
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
