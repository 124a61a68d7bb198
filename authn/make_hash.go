package authn

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// Algorithm names a family of password hashes.
type Algorithm string

// The families that Hash makes.
const (
	Bcrypt   Algorithm = "bcrypt"
	PBKDF2   Algorithm = "pbkdf2"
	Argon2id Algorithm = "argon2id"
)

// Algorithms are the names that Hash knows.
func Algorithms() []string { return []string{string(Bcrypt), string(PBKDF2), string(Argon2id)} }

// The costs of new hashes are the plugin's defaults, so that a hash is as good
// there as here.
const (
	bcryptCost       = 12
	pbkdf2Iterations = 600_000
	pbkdf2Salt       = 128   // bytes
	argon2Memory     = 65536 // KiB: 64 MiB
	argon2Passes     = 3
	argon2Lanes      = 1
	argon2Salt       = 32 // bytes
	newKey           = 32 // bytes
)

// Hash returns the form in which internal_users.yml stores password.
func Hash(password string, algorithm Algorithm) (string, error) {
	if password == "" {
		return "", errors.New("cannot hash an empty password: it could not log in")
	}
	if !utf8.ValidString(password) {
		return "", errors.New("cannot hash the password: it is no valid UTF-8, and could not log in")
	}
	switch algorithm {
	case Bcrypt:
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcryptCost)
		if err != nil {
			return "", fmt.Errorf("cannot hash the password: %w; want at most 72 bytes, or another algorithm", err)
		}
		hash[2] = 'y' // what the plugin writes; the letters differ in name only
		return string(hash), nil
	case PBKDF2:
		salt := randomBytes(pbkdf2Salt)
		key, err := pbkdf2.Key(pbkdf2Functions[pbkdf2SHA256], password, salt, pbkdf2Iterations, newKey)
		if err != nil {
			return "", fmt.Errorf("cannot hash the password: %w", err)
		}
		const n = uint64(pbkdf2Iterations)<<32 | newKey*8
		base := base64.StdEncoding
		return fmt.Sprintf("$%d$%d$%s$%s", pbkdf2SHA256, n, base.EncodeToString(salt), base.EncodeToString(key)), nil
	case Argon2id:
		salt := randomBytes(argon2Salt)
		key := argon2.IDKey([]byte(password), salt, argon2Passes, argon2Memory, argon2Lanes, newKey)
		base := base64.RawStdEncoding
		return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argon2Memory, argon2Passes, argon2Lanes,
			base.EncodeToString(salt), base.EncodeToString(key)), nil
	default:
		return "", fmt.Errorf("unknown algorithm %q; want one of %s", algorithm, strings.Join(Algorithms(), ", "))
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}
