package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestSecretDoesNotShow prints secrets in every way that code comes by.
func TestSecretDoesNotShow(t *testing.T) {
	const text = "hunter2"
	type holder struct {
		Public  Secret
		private Secret
		pointer *Secret
		list    []Secret
		byName  map[string]Secret
		tree    Settings
	}
	s := NewSecret(text)
	h := holder{s, s, &s, []Secret{s}, map[string]Secret{"a": s}, Settings{tree: func() map[string]any { return map[string]any{"password": text} }}}
	var out []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s"} {
		out = append(out, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, h), fmt.Sprintf(verb, &h), fmt.Sprintf(verb, h.tree))
	}
	for _, v := range []any{s, &s, h, h.tree, map[string]any{"s": s}} {
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(j))
	}
	y, err := yaml.Marshal(map[string]any{"s": s})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", s, "holder", h)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "holder", h)
	out = append(out, string(y), log.String())
	for _, o := range out {
		for _, form := range []string{text, fmt.Sprintf("%x", text), fmt.Sprintf("%X", text)} {
			if strings.Contains(o, form) {
				t.Errorf("%q shows the secret", o)
			}
		}
	}
	if s.Reveal() != text {
		t.Errorf("Reveal gives %q; want %q", s.Reveal(), text)
	}
}

func TestSecretEqual(t *testing.T) {
	f := func(a, b string, want bool) {
		t.Helper()
		if got := NewSecret(a).Equal(NewSecret(b)); got != want {
			t.Errorf("%q equals %q: %v; want %v", a, b, got, want)
		}
	}
	f("", "", true)
	f("a", "a", true)
	f("a", "b", false)
	f("a", "", false)
	if (Secret{}).IsSet() || NewSecret("").IsSet() || !NewSecret("a").IsSet() {
		t.Error("IsSet is wrong")
	}
}
