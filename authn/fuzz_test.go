package authn

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"guard/config"
)

// FuzzIdentify holds that no header makes somebody out of nobody: a name comes out
// only where name and password went in.
func FuzzIdentify(f *testing.F) {
	f.Add("Basic YTpi")
	f.Add(basicHeader("anna", rightPassword))
	f.Add("basic  \t" + base64.RawStdEncoding.EncodeToString([]byte("anna:"+rightPassword)))
	f.Add("Bearer x")
	v := newVerifier(f, VerifierOptions{CacheTTL: time.Hour})
	v.matches = func(s *stored, password []byte) bool { return s.text != nil && string(password) == rightPassword }
	c := newChain(f, map[string]config.User{"anna": user(cheapHash)}, v)
	decoys := c.domains[0].(*Basic).decoys
	for i := range decoys {
		decoys[i].text = nil // the stand-in knows no decoy
	}
	f.Fuzz(func(t *testing.T, header string) {
		id, err := c.Identify(t.Context(), with(header))
		if err != nil {
			if id.Name != "" {
				t.Fatalf("%q is refused with %v and yet %q", header, err, id.Name)
			}
			return
		}
		// A second road to the same answer.
		words := strings.Fields(header)
		if len(words) != 2 || !strings.EqualFold(words[0], "basic") {
			t.Fatalf("%q is %q", header, id.Name)
		}
		text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(words[1], "="))
		if err != nil || string(text) != "anna:"+rightPassword || id.Name != "anna" {
			t.Fatalf("%q is %q, and decodes to %q, %v", header, id.Name, text, err)
		}
	})
}
