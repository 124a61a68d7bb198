package authn

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // G505: a stored form of the plugin, read and never written
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// The most that one check of a stored hash may cost: about two seconds of a core
// and 256 MiB. A stored form that asks for more is refused when it is read.
const (
	maxBcryptCost       = 15
	maxPBKDF2Iterations = 5_000_000
	maxArgon2Memory     = 256 << 10 // KiB: 256 MiB
	maxArgon2Passes     = 32
	maxArgon2Lanes      = 16
	maxSalt             = 256 // bytes
	minKey, maxKey      = 16, 128
)

// class is a family of hashes with its costs: checks of one class take equal time.
type class struct {
	family   family
	function int // PBKDF2: what the stored form says
	work     int // bcrypt: cost; PBKDF2: iterations; Argon2: passes
	memory   int // Argon2: KiB
	lanes    int // Argon2
	saltSize int
	keySize  int
}

type family uint8

const (
	familyNone family = iota // zero value: no password is right
	familyBcrypt
	familyPBKDF2
	familyArgon2i
	familyArgon2id
)

// stored is a parsed password hash.
type stored struct {
	class class
	text  []byte // bcrypt: the whole form
	salt  []byte
	key   []byte
}

// parseHash recognises a stored hash by its form. Its errors never quote it.
func parseHash(text string) (stored, error) {
	switch {
	case strings.HasPrefix(text, "$2a$"), strings.HasPrefix(text, "$2b$"), strings.HasPrefix(text, "$2y$"):
		return parseBcrypt(text)
	case strings.HasPrefix(text, "$argon2"):
		return parseArgon2(text)
	case len(text) > 3 && text[0] == '$' && text[1] >= '1' && text[1] <= '5' && text[2] == '$':
		return parsePBKDF2(text)
	default:
		return stored{}, errors.New("unknown form of password hash")
	}
}

const (
	bcryptLength   = 60 // "$2y$12$", 22 characters of salt, 31 of hash
	bcryptAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

func parseBcrypt(text string) (stored, error) {
	if len(text) != bcryptLength || text[6] != '$' || strings.Trim(text[7:], bcryptAlphabet) != "" {
		return stored{}, errors.New("broken bcrypt hash")
	}
	cost, err := strconv.Atoi(text[4:6])
	if err != nil || cost < bcrypt.MinCost || cost > maxBcryptCost {
		return stored{}, fmt.Errorf("bcrypt cost %q is out of range; want %d to %d", text[4:6], bcrypt.MinCost, maxBcryptCost)
	}
	return stored{class: class{family: familyBcrypt, work: cost}, text: []byte(text)}, nil
}

// pbkdf2Functions are the hash functions by the number in a stored form.
var pbkdf2Functions = map[int]func() hash.Hash{
	1: sha1.New, 2: sha256.New224, 3: sha256.New, 4: sha512.New384, 5: sha512.New,
}

const pbkdf2SHA256 = 3

// parsePBKDF2 reads $function$n$salt$key; n holds the iterations in its upper
// 32 bits and the bits of the key in its lower.
func parsePBKDF2(text string) (stored, error) {
	broken := errors.New("broken PBKDF2 hash")
	parts := strings.Split(text, "$")
	if len(parts) != 5 {
		return stored{}, broken
	}
	n, err := strconv.ParseUint(parts[2], 10, 64)
	if err != nil {
		return stored{}, broken
	}
	salt, err := decodeBase64(parts[3])
	if err != nil {
		return stored{}, broken
	}
	key, err := decodeBase64(parts[4])
	if err != nil || uint64(len(key))*8 != n&(1<<32-1) {
		return stored{}, broken
	}
	iterations := n >> 32
	if iterations < 1 || iterations > maxPBKDF2Iterations {
		return stored{}, fmt.Errorf("%d PBKDF2 iterations are out of range; want 1 to %d", iterations, maxPBKDF2Iterations)
	}
	c := class{
		family: familyPBKDF2, function: int(text[1] - '0'), work: int(iterations), //nolint:gosec // G115: bounded above
		saltSize: len(salt), keySize: len(key),
	}
	return checkSizes(stored{class: c, salt: salt, key: key})
}

// parseArgon2 reads the form of the password hashing competition:
// $argon2id$v=19$m=65536,t=3,p=1$salt$key.
func parseArgon2(text string) (stored, error) {
	broken := errors.New("broken Argon2 hash")
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return stored{}, broken
	}
	var c class
	switch parts[1] {
	case "argon2i":
		c.family = familyArgon2i
	case "argon2id":
		c.family = familyArgon2id
	default:
		return stored{}, fmt.Errorf("%q hashes cannot be checked; want argon2id or argon2i", parts[1])
	}
	if parts[2] != "v=19" {
		return stored{}, fmt.Errorf("Argon2 version %q cannot be checked; want v=19", parts[2])
	}
	costs := strings.Split(parts[3], ",")
	if len(costs) != 3 {
		return stored{}, broken
	}
	for i, field := range []struct {
		name string
		into *int
		max  int
	}{{"m=", &c.memory, maxArgon2Memory}, {"t=", &c.work, maxArgon2Passes}, {"p=", &c.lanes, maxArgon2Lanes}} {
		digits, ok := strings.CutPrefix(costs[i], field.name)
		n, err := strconv.Atoi(digits)
		if !ok || err != nil {
			return stored{}, broken
		}
		if n < 1 || n > field.max {
			return stored{}, fmt.Errorf("Argon2 cost %q is out of range; want 1 to %d", costs[i], field.max)
		}
		*field.into = n
	}
	salt, err := decodeBase64(parts[4])
	if err != nil {
		return stored{}, broken
	}
	key, err := decodeBase64(parts[5])
	if err != nil {
		return stored{}, broken
	}
	c.saltSize, c.keySize = len(salt), len(key)
	return checkSizes(stored{class: c, salt: salt, key: key})
}

func checkSizes(s stored) (stored, error) {
	if len(s.salt) < 1 || len(s.salt) > maxSalt {
		return stored{}, fmt.Errorf("salt of %d bytes; want 1 to %d", len(s.salt), maxSalt)
	}
	if len(s.key) < minKey || len(s.key) > maxKey {
		return stored{}, fmt.Errorf("key of %d bytes; want %d to %d", len(s.key), minKey, maxKey)
	}
	return s, nil
}

// decodeBase64 reads standard base64 with or without padding.
func decodeBase64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") { // the decoder skips them
		return nil, errors.New("line end in base64")
	}
	encoding := base64.RawStdEncoding
	if strings.HasSuffix(text, "=") {
		encoding = base64.StdEncoding
	}
	return encoding.Strict().DecodeString(text)
}

// matches reports whether password is the one that s was made of. It takes the
// same time whether it is or not.
func (s *stored) matches(password []byte) bool {
	switch c := s.class; c.family {
	case familyBcrypt:
		// bcrypt reads 72 bytes of a password; the plugin's checks cut it off as well.
		// $2a$ is taken as all others: password4j 1.8.2 alone, which the plugin has now,
		// makes another hash under that name of a password that is not ASCII.
		return bcrypt.CompareHashAndPassword(s.text, password) == nil
	case familyPBKDF2:
		key, err := pbkdf2.Key(pbkdf2Functions[c.function], string(password), s.salt, c.work, c.keySize)
		return err == nil && subtle.ConstantTimeCompare(key, s.key) == 1
	case familyArgon2i:
		key := argon2.Key(password, s.salt, uint32(c.work), uint32(c.memory), uint8(c.lanes), uint32(c.keySize)) //nolint:gosec // G115: bounded by parseArgon2
		return subtle.ConstantTimeCompare(key, s.key) == 1
	case familyArgon2id:
		key := argon2.IDKey(password, s.salt, uint32(c.work), uint32(c.memory), uint8(c.lanes), uint32(c.keySize)) //nolint:gosec // G115: bounded by parseArgon2
		return subtle.ConstantTimeCompare(key, s.key) == 1
	default:
		return false
	}
}

// decoy returns a hash of class c that no known password has.
func decoy(c class) stored {
	s := stored{class: c}
	if c.family == familyBcrypt {
		random := make([]byte, 53)
		_, _ = rand.Read(random) // never fails
		for i, b := range random {
			random[i] = bcryptAlphabet[b&63]
		}
		s.text = fmt.Appendf(nil, "$2b$%02d$%s", c.work, random)
		return s
	}
	s.salt, s.key = make([]byte, c.saltSize), make([]byte, c.keySize)
	_, _ = rand.Read(s.salt) // never fails
	_, _ = rand.Read(s.key)  // never fails
	return s
}
