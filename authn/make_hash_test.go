//go:build !race

// Under the race detector three hashes at full cost take a quarter of a minute,
// and they share nothing.

package authn

import (
	"strings"
	"testing"
)

func TestHash(t *testing.T) {
	f := func(algorithm Algorithm, prefix string) {
		t.Helper()
		text, err := Hash("correct hörse", algorithm)
		if err != nil {
			t.Error(err)
			return
		}
		s, err := parseHash(text)
		if err != nil || !strings.HasPrefix(text, prefix) {
			t.Errorf("%s gives %q, which parses with %v; want it to start with %q", algorithm, text, err, prefix)
			return
		}
		if !s.matches([]byte("correct hörse")) {
			t.Errorf("%s: the hash does not match its password", algorithm)
		}
	}
	f(Bcrypt, "$2y$12$")
	f(PBKDF2, "$3$2576980377600256$") // what the plugin writes: 600,000 iterations, 256 bits
	f(Argon2id, "$argon2id$v=19$m=65536,t=3,p=1$")

	fail := func(password string, algorithm Algorithm, want string) {
		t.Helper()
		if text, err := Hash(password, algorithm); err == nil || err.Error() != want {
			t.Errorf("hash %q, error %v; want %q", text, err, want)
		}
	}
	fail("", Bcrypt, "cannot hash an empty password: it could not log in")
	fail("\xff", Bcrypt, "cannot hash the password: it is no valid UTF-8, and could not log in")
	fail(strings.Repeat("p", 73), Bcrypt, "cannot hash the password: bcrypt: password length exceeds 72 bytes; want at most 72 bytes, or another algorithm")
	fail("p", "md5", `unknown algorithm "md5"; want one of bcrypt, pbkdf2, argon2id`)
}
