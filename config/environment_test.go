package config

import (
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

func TestExpand(t *testing.T) {
	e := newEnvironment(testEnv)
	f := func(text, want string) {
		t.Helper()
		got, err := e.expand(text)
		if err != nil || got != want {
			t.Errorf("%q became %q, %v; want %q", text, got, err, want)
		}
	}
	f("", "")
	f("plain", "plain")
	f("${env.ROLE}", "readall")
	f("a-${env.ROLE}-${env.ROLE}", "a-readall-readall")
	f("${env.NONE:-other}", "other")
	f("${env.NONE:-}", "")
	f("${env.ROLE:-other}", "readall")
	f("${env.NONE:-a:-b c}", "a:-b c")
	f("${envbase64.B64}", "readall")
	f("${envbase64.NONE:-eA==}", "x")
	f("${env.NESTED}", "${env.ROLE}") // a value is not substituted again
	f("${env.YAML}", "x\nevil:\n  users: ['*']")
	// These belong to requests.
	f("${user.name} ${user_name} ${attr.internal.env.x} $env {env.ROLE}", "${user.name} ${user_name} ${attr.internal.env.x} $env {env.ROLE}")

	fail := func(text, msg, want string) {
		t.Helper()
		got, err := e.expand(text)
		if err == nil || err.msg != msg || err.want != want {
			t.Errorf("%q became %q, %+v; want %q, %q", text, got, err, msg, want)
		}
	}
	const forms = "${env.NAME}, ${envbase64.NAME} or ${envbc.NAME}, with a default as in ${env.NAME:-default}"
	fail("${env.NONE}", `environment variable "NONE" is not set`, "it set, or a default: ${env.NONE:-…}")
	fail("${envbc.NONE}", `environment variable "NONE" is not set`, "it set, or a default: ${envbc.NONE:-…}")
	fail("${env.}", "malformed environment variable", forms)
	fail("${env.A B}", "malformed environment variable", forms)
	fail("${environment.A}", "malformed environment variable", forms)
	fail("${env.ROLE", "malformed environment variable", forms)
	fail("${env.x ${env.ROLE}", "malformed environment variable", forms)
	fail("${envbase64.NOB64}", `environment variable "NOB64" is no text in base64`, "standard base64, padded, of UTF-8")
	fail("${envbase64.NONE:-/w==}", `environment variable "NONE" is no text in base64`, "standard base64, padded, of UTF-8")
	fail("${envbc.LONG}", `environment variable "LONG" cannot be hashed`, "a password of 1 to 72 bytes")
	fail("${envbc.NONE:-}", `environment variable "NONE" cannot be hashed`, "a password of 1 to 72 bytes")

	hash, err := e.expand("${envbc.PASS}")
	if err != nil || bcrypt.CompareHashAndPassword([]byte(hash), []byte("correct horse")) != nil {
		t.Errorf("${envbc.PASS} became %q, %v; want a hash of its value", hash, err)
	}
}

// TestEnvironmentInFiles holds that a value stays a value: it brings no keys.
func TestEnvironmentInFiles(t *testing.T) {
	users := "_meta: {type: internalusers, config_version: 2}\nu:\n  hash: \"${env.YAML}\"\n  enabled: ${env.ENABLED}\n  backend_roles: [\"x-${env.ROLE}\"]\n  attributes: {a: \"${user.name}\"}\n"
	s, _, err := parseSample(t, map[string]string{"internal_users.yml": users})
	if err != nil {
		t.Fatal(err)
	}
	u := s.Users["u"]
	if len(s.Users) != 1 || u.Enabled || u.BackendRoles[0] != "x-readall" || u.Attributes["a"] != "${user.name}" || !strings.HasPrefix(u.Hash.Reveal(), "x\nevil") {
		t.Errorf("users %+v, hash %q", s.Users, u.Hash.Reveal())
	}

	refused(t, "internal_users.yml", "_meta: {type: internalusers, config_version: 2}\nu: {hash: '${env.NONE}', enabled: '${env.ROLE}'}\n",
		`internal_users.yml:2: u.hash: environment variable "NONE" is not set; want it set, or a default: ${env.NONE:-…}`,
		`internal_users.yml:2: u.enabled: "readall"; want true or false`)

	off, _, err := ParseSecurity(sampleFolder(t, map[string]string{"internal_users.yml": users[:strings.Index(users, "  enabled")]}),
		Options{LookupEnv: testEnv, Policy: Policy{DisableEnvReplacement: true}})
	if err != nil || off.Users["u"].Hash.Reveal() != "${env.YAML}" {
		t.Errorf("with substitution off: %v", err)
	}
}
