package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckTellsAll: check and serve tell faults of certificates and of the policy together.
func TestCheckTellsAll(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "guard.yml")
	for path, text := range map[string]string{
		file:                           "tls: {certificate: cert.pem, key: key.pem}\nupstream: {urls: ['http://127.0.0.1:1']}\n",
		filepath.Join(dir, "cert.pem"): "none",
		filepath.Join(dir, "key.pem"):  "none",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := copySample(t)
	write(t, folder, "roles.yml", "_meta: {type: roles, config_version: 2}\nr: {index_permissions: [{index_patterns: [a], dls: '{\"nosuch\":{}}'}]}\n")
	for _, name := range []string{"check", "serve"} {
		out, err := command(t, "", name, "--config", file, "--security", folder)
		if err == nil || !strings.Contains(err.Error(), "config: 2 faults:") || !strings.Contains(err.Error(), "guard.yml:1: tls.certificate: ") || !strings.Contains(err.Error(), "roles.yml:2: r.index_permissions[0].dls: ") {
			t.Errorf("%s: got %v and %q; want a fault of each file", name, err, out)
		}
	}
}
