package authn

import (
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// Of "correct hörse": $2a$ by the library of the plugin's older versions (Bouncy
// Castle 1.82), the others by that of 2.19 and 3.x (password4j 1.8.2).
var pluginHashes = map[string]string{
	"bcrypt a":      "$2a$04$0gz0uX2QPyMsYKFT2qFHkuGou/kvPPAIEmTcJ6BJkD2Owxy/J0Fi.",
	"bcrypt b":      "$2b$04$T1Afvd.DxQ2hseiDv1oMNevb7S8QBEg8tiUZGF9tWUzefffw0VeZe",
	"bcrypt y":      "$2y$04$fKOHca2i9ViRLXmTpKy4s.swNwZx0ir41a9lQKN2lI/ZfuudFHWX2",
	"pbkdf2 sha1":   "$1$4294967296256$tEo1P0+wtg2wFL8XoHhQ+Ya31Ym+PBkr2fmNhXNaARuEZ+AAtbhFMiiB8hWiZh9bOV34OYhfS5DaZeXCO4O93ojH6Gt1NHsmxCVs4mrhtsQCo4nkGMveSWToBtjVNxkfDe/IIMuBTzpg893yYfImxgfsnd+TBq3yiCTXurXk08o=$2mmPpDV4x81aN2y/NcuDne4bLgrpqwx64haceJhcFM0=",
	"pbkdf2 sha224": "$2$4294967296256$DJ/JnSqn6i7ect6R3LjJWQRVZSjcoYQllDrV8OQwOnsOLmLJwq8g/yuKqpF4exSdynJzEj8BsDtj0miA9RP5cnXxG4Gf+xRY9xtsEwnkrxTuJR/nYe014hBLk8gDIC8skctQFBGcUoWQBbdWsltHRaKVXSIQuXIVT1Gbi/O3oO8=$4oMLkR1vZNexP4RU118yDaCWhEy1ILVLV/pENvkUOR4=",
	"pbkdf2 sha256": "$3$4294967296256$NdLrAmSnoIaYoC3hGtVsJNjFxAHrlxr+eM8cDM7cJmG3GSGx87FAJoJy6EFwiT2KtulMSLdN3eal6B5upG07f4WubLg40KXo6IvgnhiOEQG0KpjsW+9zd5oJ0RfJzhfhDA1k41FUwldl/Rf840tHcvjJiDlK/QYrLhAqmoHwPSQ=$9HwYgdnCbzwT8YH3Vy/GyiX/I5SJRQJvPjbV3yR1Cb4=",
	"pbkdf2 sha384": "$4$4294967296256$tOBsQApa/BYceXeK6oF4bygNB/JeIqHFADILkTA20MnTZg7ZPlR7dOJ7peUSb/fv5FHeiOUJ4v+Z30ur+eFTmnrEFhYnJlFLGEDnU4Bvd4G4A5IlJv1VRTEkln1Ikk+lY/UQEHSb5kFJo409WhReV0toM/wJP1n6DqZNSmuR594=$2qqD7j42uNGZpud3MzDwJ21nn6GSkerAZE3nEhxVmOc=",
	"pbkdf2 sha512": "$5$4294967296512$/a6gpUv88pGO1bEKmQ56WA==$uqfHFHTc6GRvo+zOjHNZV2GgWDS2MiI2xuLMP657Al2S/St/viF6VHMFc6GI0xtiyCYMxnPi/hmI1WBqEHSl8g==",
	"argon2id":      "$argon2id$v=19$m=1024,t=2,p=1$oy+uytZdV3qrPSbZiGbj+3FQc7kPAx8c95mxOJmmrWk$AQmC3b5YM7aYIiX+LoAOwMdTu/7D4LiCwzqP4D5YJQQ",
	"argon2i":       "$argon2i$v=19$m=1024,t=1,p=2$GRjUb+B4gafhJ8TMfFYX0g$XwKC95YN6N67zEqV3M7PHg",
}

func TestPluginHashes(t *testing.T) {
	for name, text := range pluginHashes {
		t.Run(name, func(t *testing.T) {
			s, err := parseHash(text)
			if err != nil {
				t.Fatal(err)
			}
			f := func(password string, want bool) {
				t.Helper()
				if got := s.matches([]byte(password)); got != want {
					t.Errorf("password %q matches: %v; want %v", password, got, want)
				}
			}
			f("correct hörse", true)
			f("correct horse", false)
			f("correct hörse ", false)
			f("", false)
		})
	}
}

// TestLongPassword holds that bytes behind the 72nd are cut off as the plugin does.
func TestLongPassword(t *testing.T) {
	s, err := parseHash("$2y$04$Ad9XzMExukxAL8tSZF4W4.E2wK42kPKKdhWiLUFK/eH..8tpnyqOS")
	if err != nil {
		t.Fatal(err)
	}
	const alphabet = "abcdefghijklmnopqrstuvwxyz"
	password := strings.Repeat(alphabet, 4)[:80]
	if !s.matches([]byte(password)) {
		t.Error("a password of 80 bytes does not match the plugin's hash of it")
	}
}

func TestRefusedHash(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := parseHash(text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: error %v; want %q", text, err, want)
		}
	}
	bc := "Cm.cke.HpMzvXW1DBepna.AP0TrH3hlAsW2tQmV3bo/tVRsZtFAPa"
	f("", "unknown form of password hash")
	f("secret", "unknown form of password hash")
	f("$1$", "unknown form of password hash")
	f("$6$rounds=5000$salt$hash", "unknown form of password hash")
	f("$2x$04$"+bc, "unknown form of password hash")
	f("$2a$04$"+bc+"a", "broken bcrypt hash")
	f("$2a$04$"+bc[1:], "broken bcrypt hash")
	f("$2a$04$"+bc[:52]+"=", "broken bcrypt hash")
	f("$2a$04-"+bc, "broken bcrypt hash")
	f("$2a$03$"+bc, `bcrypt cost "03" is out of range; want 4 to 15`)
	f("$2a$16$"+bc, `bcrypt cost "16" is out of range; want 4 to 15`)
	f("$2a$31$"+bc, `bcrypt cost "31" is out of range; want 4 to 15`)
	f("$2a$-4$"+bc, `bcrypt cost "-4" is out of range; want 4 to 15`)
	f("$3$1$aaaa", "broken PBKDF2 hash")
	f("$3$x$AAAA$AAAA", "broken PBKDF2 hash")
	f("$3$-1$AAAA$AAAA", "broken PBKDF2 hash")
	f("$3$4294967320$A!AA$AAAA", "broken PBKDF2 hash")
	f("$3$4294967320$AAAA$AAAAA", "broken PBKDF2 hash")
	f("$3$4294967320$AAAA$AAAA$", "broken PBKDF2 hash")
	f("$3$4294967552$AAAA$AAAA", "broken PBKDF2 hash") // 256 bits promised, 24 there
	f("$3$24$AAAA$AAAA", "0 PBKDF2 iterations are out of range; want 1 to 5000000")
	f("$3$18446744069414584344$AAAA$AAAA", "4294967295 PBKDF2 iterations are out of range; want 1 to 5000000")
	f("$3$4294967320$AAAA$AAAA", "key of 3 bytes; want 16 to 128")
	f("$3$4294967424$$AAAAAAAAAAAAAAAAAAAAAA==", "salt of 0 bytes; want 1 to 256")
	key := "AAAAAAAAAAAAAAAAAAAAAA"
	f("$argon2d$v=19$m=1024,t=1,p=1$AAAA$"+key, `"argon2d" hashes cannot be checked; want argon2id or argon2i`)
	f("$argon2id$v=16$m=1024,t=1,p=1$AAAA$"+key, `Argon2 version "v=16" cannot be checked; want v=19`)
	f("$argon2id$m=1024,t=1,p=1$AAAA$"+key, "broken Argon2 hash")
	f("$argon2id$v=19$m=1024,t=1$AAAA$"+key, "broken Argon2 hash")
	f("$argon2id$v=19$t=1,m=1024,p=1$AAAA$"+key, "broken Argon2 hash")
	f("$argon2id$v=19$m=x,t=1,p=1$AAAA$"+key, "broken Argon2 hash")
	f("$argon2id$v=19$m=1024,t=1,p=1$A$"+key, "broken Argon2 hash")
	f("$argon2id$v=19$m=1024,t=1,p=1$AAAA$A\n"+key, "broken Argon2 hash")
	f("$argon2id$v=19$m=1048576,t=1,p=1$AAAA$"+key, `Argon2 cost "m=1048576" is out of range; want 1 to 262144`)
	f("$argon2id$v=19$m=1024,t=0,p=1$AAAA$"+key, `Argon2 cost "t=0" is out of range; want 1 to 32`)
	f("$argon2id$v=19$m=1024,t=1,p=255$AAAA$"+key, `Argon2 cost "p=255" is out of range; want 1 to 16`)
	f("$argon2id$v=19$m=1024,t=1,p=1$AAAA$AAAA", "key of 3 bytes; want 16 to 128")
}

func TestZeroHashMatchesNothing(t *testing.T) {
	var s stored
	for _, password := range []string{"", "a"} {
		if s.matches([]byte(password)) {
			t.Errorf("the zero hash matches %q", password)
		}
	}
}

// TestDecoy holds that a decoy is of the class it was asked for, is really hashed,
// and matches nothing.
func TestDecoy(t *testing.T) {
	for name, text := range pluginHashes {
		s, err := parseHash(text)
		if err != nil {
			t.Fatal(err)
		}
		d := decoy(s.class)
		if d.class != s.class {
			t.Errorf("%s: decoy of class %+v; want %+v", name, d.class, s.class)
		}
		if d.matches([]byte("correct hörse")) {
			t.Errorf("%s: the decoy matches", name)
		}
		if s.class.family != familyBcrypt {
			continue
		}
		// Any other error would come before the hashing, and in no time.
		if err := bcrypt.CompareHashAndPassword(d.text, []byte("x")); err != bcrypt.ErrMismatchedHashAndPassword { //nolint:errorlint // the library's own sentinel
			t.Errorf("%s: the decoy is no hash: %v", name, err)
		}
		if again, err := parseHash(string(d.text)); err != nil || again.class != s.class {
			t.Errorf("%s: the decoy parses as %+v, %v", name, again.class, err)
		}
	}
}

// FuzzParseHash holds that a hash which is accepted stays within the bounds, so
// that no stored form can make one check cost more.
func FuzzParseHash(f *testing.F) {
	for _, text := range pluginHashes {
		f.Add(text)
	}
	f.Add("$argon2id$v=19$m=,t=,p=$$")
	f.Add("$5$$$")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseHash(text)
		if err != nil {
			return
		}
		ok := false
		switch c := s.class; c.family {
		case familyBcrypt:
			ok = c.work <= maxBcryptCost
		case familyPBKDF2:
			ok = c.work >= 1 && c.work <= maxPBKDF2Iterations && len(s.key) <= maxKey && pbkdf2Functions[c.function] != nil
		case familyArgon2i, familyArgon2id:
			ok = c.work >= 1 && c.work <= maxArgon2Passes && c.memory <= maxArgon2Memory && c.lanes >= 1 && c.lanes <= maxArgon2Lanes
		}
		if !ok {
			t.Fatalf("%q was accepted as %+v", text, s.class)
		}
	})
}
