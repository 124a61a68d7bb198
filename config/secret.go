package config

import (
	"crypto/subtle"
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Secret holds a text that must not be shown: whatever prints, logs or encodes
// it gets "[redacted]". Only Reveal gives the text. The zero value is unset.
type Secret struct {
	// A pointer, since fmt prints unexported fields of a struct without asking
	// its methods: there it finds an address and not the text.
	text *string
}

// NewSecret returns a secret that holds text; an empty text gives an unset one.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// IsSet reports whether s holds a text.
func (s Secret) IsSet() bool { return s.text != nil }

// Reveal returns the text itself. Its callers are the places to look at when
// asking where a secret may go.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Equal reports whether both hold the same text, in constant time for texts of
// equal length.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String returns "[redacted]".
func (Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (Secret) GoString() string { return redacted }

// Format writes "[redacted]" for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue returns "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns "[redacted]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON returns "[redacted]".
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalYAML returns "[redacted]".
func (Secret) MarshalYAML() (any, error) { return redacted, nil }
