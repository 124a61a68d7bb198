package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sampleFolder returns the folder in testdata, with some of its files replaced. An
// empty text removes a file. Messages name the files without a folder.
func sampleFolder(t testing.TB, replaced map[string]string) Folder {
	t.Helper()
	folder, err := ReadFolder(filepath.Join("testdata", "security"))
	if err != nil {
		t.Fatal(err)
	}
	folder.Dir = ""
	files := maps.Clone(folder.Files)
	for name, text := range replaced {
		files[name] = []byte(text)
		if text == "" {
			delete(files, name)
		}
	}
	folder.Files = files
	return folder
}

// testEnv is the environment of these tests.
func testEnv(name string) (string, bool) {
	value, ok := map[string]string{
		"ROLE":    "readall",
		"YAML":    "x\nevil:\n  users: ['*']",
		"NESTED":  "${env.ROLE}",
		"ENABLED": "false",
		"B64":     "cmVhZGFsbA==",
		"NOB64":   "?",
		"LONG":    strings.Repeat("p", 73),
		"PASS":    "correct horse",
	}[name]
	return value, ok
}

func parseSample(t testing.TB, replaced map[string]string) (*Security, []Warning, error) {
	t.Helper()
	return ParseSecurity(sampleFolder(t, replaced), Options{LookupEnv: testEnv})
}

func readSecurity(dir string, o Options) (*Security, []Warning, error) {
	folder, err := ReadFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	return ParseSecurity(folder, o)
}

var ignorePos = cmpopts.IgnoreTypes(Pos{})

func TestParseSecurity(t *testing.T) {
	s, warnings, err := parseSample(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) > 0 {
		t.Errorf("warnings %v; want none", warnings)
	}
	wantRole := Role{
		Description:        "sees the open cases of the own region",
		ClusterPermissions: []string{"cluster_composite_ops_ro"},
		IndexPermissions: []IndexPermission{{
			IndexPatterns:  []string{"cases-*", "/^log-(?!secret).*/"},
			DLS:            "{\"term\": {\"region\": \"${attr.internal.region}\"}}\n",
			FLS:            []string{"~salary", "!note.*"},
			AllowedActions: []string{"read"},
		}},
	}
	if diff := cmp.Diff(wantRole, s.Roles["analyst"], ignorePos); diff != "" {
		t.Errorf("role analyst (-want +got):\n%s", diff)
	}
	wantUser := User{
		Hash: NewSecret("none"), Enabled: true,
		BackendRoles:  []string{"analysts-eu"},
		SecurityRoles: []string{"support"},
		Attributes:    map[string]string{"region": "eu", "level": "3"},
	}
	if diff := cmp.Diff(wantUser, s.Users["anna"], ignorePos); diff != "" {
		t.Errorf("user anna (-want +got):\n%s", diff)
	}
	if s.Users["old"].Enabled {
		t.Error("user old is enabled; want enabled: false to hold")
	}
	if got := s.Mappings["support"].AndBackendRoles; !cmp.Equal(got, []string{"staff", "support"}) {
		t.Errorf("and_backend_roles %q", got)
	}
	if d := s.Dynamic; !d.DoNotFailOnForbidden || d.PrivilegesEvaluationType != EvaluationV4 || !d.IgnoreUnauthorizedIndices || d.Kibana.Index != ".kibana" {
		t.Errorf("dynamic %+v; want what the file says and the defaults", d)
	}
	domains := s.Dynamic.Domains()
	if len(domains) != 1 || domains[0].Name != "passwords" || !domains[0].Authenticator.Challenge || !domains[0].Usable() {
		t.Errorf("domains %+v; want passwords alone", domains)
	}
	if n := s.Dynamic.Authc["certificates"].Authenticator.Config.Len(); n != 2 {
		t.Errorf("settings of certificates: %d keys; want 2", n)
	}
	if s.Roles["all_access"].ClusterPermissions[0] != "*" || len(s.ActionGroups["read"].AllowedActions) != 3 {
		t.Error("built-in roles or groups are missing")
	}
}

func TestPositions(t *testing.T) {
	s, _, err := parseSample(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	role := s.Roles["analyst"]
	f := func(pos Pos, want, wantPath string) {
		t.Helper()
		if pos.String() != want || pos.Path != wantPath {
			t.Errorf("place %q at %s; want %q at %s", pos.Path, pos, wantPath, want)
		}
	}
	f(role.Pos, "roles.yml:5", "analyst")
	f(role.IndexPermissions[0].Pos, "roles.yml:9", "analyst.index_permissions[0]")
	f(role.IndexPermissions[0].Pos.At("dls"), "roles.yml:10", "analyst.index_permissions[0].dls")
	f(role.IndexPermissions[0].Pos.Item("fls", 1), "roles.yml:12", "analyst.index_permissions[0].fls[1]")
	f(s.Roles["support"].IndexPermissions[0].Pos.Item("fls", 1), "roles.yml:21", "support.index_permissions[0].fls[1]")
	f(role.IndexPermissions[0].Pos.At("masked_fields"), "roles.yml:9", "analyst.index_permissions[0].masked_fields") // not in the file: its entry
	f(s.Dynamic.OnBehalfOf.Pos, "config.yml:8", "config.dynamic.on_behalf_of")
	f(s.Roles["readall"].Pos, "built in", "")
}

// TestPluginForms holds forms that the plugin's own folder uses.
func TestPluginForms(t *testing.T) {
	f := func(file, text string) {
		t.Helper()
		if _, _, err := parseSample(t, map[string]string{file: text}); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	f("action_groups.yml", "_meta:\n  type: \"actiongroups\"\n  config_version: 2\n") // nothing but _meta
	f("allowlist.yml", "")                                                            // absent
	f("audit.yml", "")
	f("nodes_dn.yml", "---\n_meta: {type: nodesdn, config_version: 2}\n# remote:\n#   nodes_dn: []\n")
	f("roles.yml", "_meta: {type: roles, config_version: 2}\nkibana_read_only:\n  reserved: true\n")
	f("roles.yml", "_meta: {type: roles, config_version: 2}\nr: {}\n")
	f("roles.yml", "_meta: {type: roles, config_version: '2'}\nr: {reserved: null, index_permissions: null, description: null}\n")
	f("internal_users.yml", "_meta: {type: internalusers, config_version: 2}\nu: {hash: x, attributes: {a: 1, b: true, c: 1.5}, enabled: 'true'}\n")
}

// refusedCase is a folder with one file replaced, and all faults it must give.
func refused(t *testing.T, file, text string, want ...string) {
	t.Helper()
	s, _, err := parseSample(t, map[string]string{file: text})
	checkFaults(t, err, want)
	if s != nil {
		t.Error("a folder with faults gave a Security; want nil")
	}
}

func checkFaults(t *testing.T, err error, want []string) {
	t.Helper()
	var faults Faults
	if !errors.As(err, &faults) {
		t.Errorf("got error %v; want faults %q", err, want)
		return
	}
	got := make([]string, len(faults))
	for i, f := range faults {
		got[i] = f.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// TestFolders: a folder inside the security folder, such as one that was copied into
// itself, is named and changes nothing; one with a dot, such as Kubernetes makes, is not.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	sample := os.DirFS(filepath.Join("testdata", "security"))
	for _, at := range []string{dir, filepath.Join(dir, "security"), filepath.Join(dir, ".git")} {
		if err := os.CopyFS(at, sample); err != nil {
			t.Fatal(err)
		}
	}
	s, warnings, err := readSecurity(dir, Options{LookupEnv: testEnv})
	if err != nil {
		t.Fatal(err)
	}
	if want := sampleFolder(t, nil).Hash(); s.Hash != want {
		t.Errorf("the policy has hash %s; want that of the files alone, %s", s.Hash, want)
	}
	want := fmt.Sprintf("%s: folder is ignored; want the files directly in %q", filepath.Join(dir, "security"), dir)
	if len(warnings) != 1 || warnings[0].String() != want {
		t.Errorf("warnings %v; want %s", warnings, want)
	}
}

// TestFolderForFile: a folder named like a file of the policy is a fault, for optional
// files too: what would stand in the file may be what was to protect. It is a change
// for who watches the folder, also where no file was.
func TestFolderForFile(t *testing.T) {
	for _, file := range securityFiles {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "security"))); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, file.name)
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		without, err := ReadFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		with, err := ReadFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, warnings, err := ParseSecurity(with, Options{LookupEnv: testEnv})
		checkFaults(t, err, []string{path + ": is a folder; want a file"})
		if len(warnings) > 0 {
			t.Errorf("%s: warnings %v; want the fault alone", file.name, warnings)
		}
		if with.Hash() == without.Hash() {
			t.Errorf("%s: the hash does not tell a folder from nothing", file.name)
		}
	}
}

func TestRefusedYAML(t *testing.T) {
	const meta = "_meta: {type: roles, config_version: 2}\n"
	f := func(text string, want ...string) {
		t.Helper()
		refused(t, "roles.yml", text, want...)
	}
	f(" ", `roles.yml:1: file is empty; want a map of keys`)
	f("# nothing\n", `roles.yml:1: file is empty; want a map of keys`)
	f("- a\n", `roles.yml:1: a list; want a map of keys`)
	f("roles", `roles.yml:1: "roles"; want a map of keys`)
	const closed, tab, column = "each bracket closed, and commas between the items", "spaces at the start of a line, not a tab", "the keys of a map in one column, and "
	const token = "quotes around a text that starts with '@', '%' or '`', and no '|' or '>' inside braces and brackets"
	f(meta+"r:\n  reserved: [true\n", `roles.yml:3: did not find expected ',' or ']'; want `+closed)
	f(meta+"r: {reserved: true\n", `roles.yml:2: did not find expected ',' or '}'; want `+closed)
	f(meta+"r:\n\treserved: true\n", `roles.yml:3: found character that cannot start any token; want `+tab)
	f(meta+"r:\n  reserved: true\n\thidden: true\n", `roles.yml:4: found a tab character that violates indentation; want `+tab)
	f(meta+"r:\n  index_permissions:\n  - dls: |\n \t  {}\n", `roles.yml:5: found a tab character where an indentation space is expected; want `+tab)
	f(meta+"r:\n  cluster_permissions:\n  - read\n\t- write\n", `roles.yml:5: found a tab character that violates indentation; want `+tab)
	f(meta+"r: {description: @x}\n", "roles.yml:2: found character that cannot start any token; want "+token)
	f(meta+"r: {description: |\n  x}\n", "roles.yml:2: found character that cannot start any token; want "+token)
	f(meta+"r:\n  cluster_permissions: [>\n    read]\n", "roles.yml:3: found character that cannot start any token; want "+token)
	f(meta+"r: {cluster_permissions: [*]}\n", `roles.yml:2: did not find expected alphabetic or numeric character; want quotes around a text that starts with '*' or '&'`)
	f(meta+"r: {cluster_permissions: [*read]}\n", `roles.yml:2: unknown anchor 'read' referenced; want quotes around a text that starts with '*'`)
	f(meta+"r:\n  description: a: b\n", `roles.yml:3: mapping values are not allowed in this context; want `+column+`quotes around a text with ': ' in it`)
	f(meta+"r:\n  description: x\n hidden: true\n", `roles.yml:4: did not find expected key; want `+column+`nothing behind a quoted text or a closed bracket`)
	f(meta+"r:\n  cluster_permissions:\n  - read\n   - write\n  -x: y\n  z\n", `roles.yml:7: could not find expected ':'; want a colon and a space behind each key`)
	f(meta+"r: {description: \"\\d\"}\n", `roles.yml:2: found unknown escape character; want single quotes around a text with a backslash`)
	f(meta+"r: {description: \"x}\n", `roles.yml:2: found unexpected end of stream; want each quote closed`)
	f(meta+"r: {description: \"x}\n---\n", `roles.yml:2: found unexpected document indicator; want each quote closed`)
	f(meta+"r: {description: \"\xff\"}\n", `roles.yml:2: invalid UTF-8; want UTF-8`)
	f(meta+"---\n"+meta, `roles.yml:2: a second document starts here; want one document in a file`)
	f(meta+"---\na: [", `roles.yml:3: did not find expected node content; want `+closed)
	f(meta+"r: &x {reserved: true}\ns: *x\n",
		`roles.yml:2: r: anchor "&x"; want the text itself, written out where it is used`,
		`roles.yml:3: s: alias "*x"; want the text itself, written out where it is used`)
	f(meta+"r: &x {}\ns:\n  <<: *x\n",
		`roles.yml:2: r: anchor "&x"; want the text itself, written out where it is used`,
		`roles.yml:4: s."<<": merge key "<<"; want the keys themselves, written out where they are used`,
		`roles.yml:4: s."<<": alias "*x"; want the text itself, written out where it is used`)
	f(meta+"r: {description: !!str 5}\n", `roles.yml:2: r.description: tag "!!str"; want a value without tag; quote a text that starts with '!'`)
	f(meta+"r: {index_permissions: [{fls: [!secret ]}]}\n", `roles.yml:2: r.index_permissions[0].fls[0]: tag "!secret"; want a value without tag; quote a text that starts with '!'`,
		`roles.yml:2: r.index_permissions[0].fls[0]: blank entry ""; want a field or pattern`)
	f(meta+"r: {reserved: true}\nr: {hidden: true}\n", `roles.yml:3: r: duplicate key "r", first in line 2; want each key once`)
	f(meta+"r:\n  hidden: true\n  hidden: false\n", `roles.yml:4: r.hidden: duplicate key "hidden", first in line 3; want each key once`)
	f(meta+"r: {\"hidden\": true, hidden: false}\n", `roles.yml:2: r.hidden: duplicate key "hidden", first in line 2; want each key once`)
	f(meta+"? [a, b]\n: {}\n", `roles.yml:2: key is a list; want a text`)
	f(meta+"\"${env.ROLE}\": {}\n", `roles.yml:2: "${env.ROLE}": environment variable in key "${env.ROLE}"; want a plain key; only values are substituted`)
}

// TestLineOfAlias: the line that is named is that of the alias, whatever else looks like
// it in comments, quotes and texts. Other faults of which the parser names no line, or
// counts it from 0, have the right one as well.
func TestLineOfAlias(t *testing.T) {
	f := func(text string, line int) {
		t.Helper()
		const what = `unknown anchor 'read' referenced; want quotes around a text that starts with '*'`
		refused(t, "roles.yml", text, fmt.Sprintf("roles.yml:%d: %s", line, what))
	}
	const meta = "_meta: {type: roles, config_version: 2}\n"
	f(meta+"# never *read here\nr:\n  description: x\n  cluster_permissions:\n  - *read\n", 6)
	f(meta+"r: {description: '*reads'}\ns: {cluster_permissions: [*read]}\n", 3)
	f(meta+"r: {description: \"say *read\"}\ns: {cluster_permissions: [*read]}\n", 3)
	f(meta+"r:\n  description: say *read\ns: {cluster_permissions: [ *read ]}\n", 4)
	f(meta+"r:\n  description: |\n    *read\n    - *read\ns: *read\n", 6)
	f(meta+"r:\n  description: 'a\n    *read\n    # '\ns: {description: \"# \", hidden: *read}\nt: '*read'\n", 6)
	f(meta+"r: [*read]\ns: [*read]\n", 2) // the first of two
	f(meta+"r: &reads {}\ns: *reads\nt: *read\n", 4)
	f(meta+"r:\n  *read : {}\n", 3)
	f("*read", 1)
	f(meta+"---\n- '*read'\n- *read\n", 4) // in a second document

	refused(t, "roles.yml", meta+"r:\n  description: \"\u00e9\x01\"\n", `roles.yml:3: control characters are not allowed; want no control character; in double quotes \x01 stands for one`)
	refused(t, "roles.yml", meta+"# \x7f\n", `roles.yml:2: control characters are not allowed; want no control character; in double quotes \x01 stands for one`)
	refused(t, "roles.yml", meta+"r:\n  description: !a!b c\n", `roles.yml:3: found undefined tag handle; want quotes around a text that starts with '!'`)
}

// TestBounds holds that a file is measured before it costs.
func TestBounds(t *testing.T) {
	deep := func(levels int) string {
		return "_meta: {type: roles, config_version: 2}\nr: " + strings.Repeat("[", levels) + strings.Repeat("]", levels) + "\n"
	}
	refused(t, "roles.yml", deep(maxNesting), "roles.yml:2: nested too deeply; want at most 64 levels")
	refused(t, "roles.yml", deep(5000), "roles.yml:2: nested too deeply; want at most 64 levels")
	refused(t, "roles.yml", deep(maxNesting-2), "roles.yml:2: r: a list; want a map of keys")
	refused(t, "roles.yml", strings.Repeat("#", maxFileSize+1), "roles.yml:1: file has 67108865 bytes; want at most 67108864")
	long := strings.Repeat("x", 1000)
	refused(t, "roles.yml", "_meta: {type: roles, config_version: 2}\nr: "+long+"\n", `roles.yml:2: r: "`+long[:60]+`…"; want a map of keys`)
}

func TestRefusedTypes(t *testing.T) {
	const meta = "_meta: {type: roles, config_version: 2}\n"
	f := func(text string, want ...string) {
		t.Helper()
		refused(t, "roles.yml", meta+text, want...)
	}
	const keys = "one of cluster_permissions, description, hidden, index_permissions, reserved, static, tenant_permissions"
	f("r: {colour: red}\n", `roles.yml:2: r.colour: unknown key "colour"; want `+keys)
	f("r: {clusterPermissions: []}\n", `roles.yml:2: r.clusterPermissions: unknown key "clusterPermissions"; want "cluster_permissions"`)
	f("r: null\n", `roles.yml:2: r: null; want a map of keys; {} for an empty one`)
	f("r: []\n", `roles.yml:2: r: a list; want a map of keys`)
	f("r: yes\n", `roles.yml:2: r: "yes"; want a map of keys`)
	f("r: {reserved: yes}\n", `roles.yml:2: r.reserved: "yes"; want true or false`)
	f("r: {reserved: {}}\n", `roles.yml:2: r.reserved: a map of keys; want true or false`)
	f("r: {description: [a]}\n", `roles.yml:2: r.description: a list; want a text`)
	f("r: {cluster_permissions: read}\n", `roles.yml:2: r.cluster_permissions: "read"; want a list, as in [one, two]`)
	f("r: {cluster_permissions: {a: b}}\n", `roles.yml:2: r.cluster_permissions: a map of keys; want a list, as in [one, two]`)
	f("r: {cluster_permissions: [[a]]}\n", `roles.yml:2: r.cluster_permissions[0]: a list; want a text`)
	f("r: {cluster_permissions: [~]}\n", `roles.yml:2: r.cluster_permissions[0]: "~" is null; want a value; quote a text such as "~" or "null"`)
	f("r: {index_permissions: [a]}\n", `roles.yml:2: r.index_permissions[0]: "a"; want a map of keys`)
	f("r.s: {index_permissions: [{dls: {term: {a: 1}}}]}\n", `roles.yml:2: "r.s".index_permissions[0].dls: a map of keys; want a text`)
	// All at once, in the order of lines.
	f("r:\n  hidden: 1\n  x: 2\ns:\n  fls: []\n  description: {}\n",
		`roles.yml:3: r.hidden: "1"; want true or false`,
		`roles.yml:4: r.x: unknown key "x"; want `+keys,
		`roles.yml:6: s.fls: unknown key "fls"; want `+keys,
		`roles.yml:7: s.description: a map of keys; want a text`)
}

func TestRefusedMeta(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		refused(t, "tenants.yml", text, want...)
	}
	f("t: {}\n", `tenants.yml:1: _meta: _meta is missing; want {type: tenants, config_version: 2}`)
	f("_meta:\n", `tenants.yml:1: _meta.type: ""; want "tenants"`, `tenants.yml:1: _meta.config_version: 0; want 2`)
	f("_meta: tenants\n", `tenants.yml:1: _meta: "tenants"; want a map of keys`)
	f("_meta:\n  type: roles\n  config_version: 2\n", `tenants.yml:2: _meta.type: "roles"; want "tenants"`)
	f("_meta:\n  type: tenants\n  config_version: 1\n", `tenants.yml:3: _meta.config_version: 1; want 2`)
	f("_meta:\n  type: tenants\n  config_version: two\n", `tenants.yml:3: _meta.config_version: "two"; want a whole number`)
	f("_meta:\n  type: tenants\n  version: 2\n", `tenants.yml:3: _meta.version: unknown key "version"; want one of config_version, type`)
	f("", `tenants.yml: file is missing; want it, with at least _meta: {type: tenants, config_version: 2}`)
}

func TestAllFilesAtOnce(t *testing.T) {
	_, _, err := parseSample(t, map[string]string{
		"tenants.yml":        "",
		"roles.yml":          "_meta: {type: roles, config_version: 2}\nr: {x: 1}\nr: {y: 1}\n",
		"internal_users.yml": "_meta: {type: internalusers, config_version: 2}\nu: {Hash: x}\n",
	})
	const want = `config: 5 faults:
  internal_users.yml:2: u.Hash: unknown key "Hash"; want "hash"
  roles.yml:2: r.x: unknown key "x"; want one of cluster_permissions, description, hidden, index_permissions, reserved, static, tenant_permissions
  roles.yml:3: r: duplicate key "r", first in line 2; want each key once
  roles.yml:3: r.y: unknown key "y"; want one of cluster_permissions, description, hidden, index_permissions, reserved, static, tenant_permissions
  tenants.yml: file is missing; want it, with at least _meta: {type: tenants, config_version: 2}`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func TestReadFolder(t *testing.T) {
	s, _, err := readSecurity(filepath.Join("testdata", "security"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Roles["analyst"].Pos.File; got != filepath.Join("testdata", "security", "roles.yml") {
		t.Errorf("file %q", got)
	}
	missing := filepath.Join(t.TempDir(), "none")
	_, _, err = readSecurity(missing, Options{})
	checkFaults(t, err, []string{missing + ": cannot open: no such file or directory; want the security folder, with files that guard can read; security or --security names it"})
}

// TestConfigMap reads a folder as Kubernetes mounts it: links to links.
func TestConfigMap(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "..2024_01_01")
	if err := os.CopyFS(data, os.DirFS(filepath.Join("testdata", "security"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..2024_01_01", filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	for _, f := range securityFiles {
		if err := os.Symlink(filepath.Join("..data", f.name), filepath.Join(dir, f.name)); err != nil {
			t.Fatal(err)
		}
	}
	s, warnings, err := readSecurity(dir, Options{})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("error %v, warnings %v; want none", err, warnings)
	}
	if got, want := s.Roles["analyst"].Pos.File, filepath.Join(dir, "roles.yml"); got != want {
		t.Errorf("file %q; want %q", got, want)
	}
}
