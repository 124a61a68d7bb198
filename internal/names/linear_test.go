package names

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestIsLinear(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		if got := compileLinear(text) != nil; got != want {
			t.Errorf("%q: got %v; want %v", text, got, want)
		}
	}
	f(`logs-\d{4}\.(eu|us)[a-z_-]*`, true)
	f(`^(?:a|b).+?x{2,}$`, true)
	f(`a{1,3}b{2}`, true)
	f(`[$({]`, true)
	f(`(a+)+b`, true)
	f(`(?=a)b`, false)
	f(`(?!a)b`, false)
	f(`(?i)a`, false)
	f(`(?<n>a)`, false)
	f(`(a)\1`, false)
	f(`\ba`, false)
	f(`\s`, false)
	f(`\u0041`, false)
	f(`a$b`, false)
	f(`a++`, false)
	f(`a{,3}`, false)
	f(`a{x}`, false)
	f(`a{1001}`, false) // more than Go's engine repeats
	f(`a\`, false)
}

// TestEnginesAgree holds that an expression means the same whichever engine runs it.
func TestEnginesAgree(t *testing.T) {
	parts := []string{"a", "b", "-", ".", `\.`, `\d`, `\w`, `\D`, "[ab]", "[^a-]", "[a-c1]", "(a|b)", "(?:ab|)", "*", "+", "?", "*?", "{2}", "{0,2}", "|", "^", "é", "(", ")", `\-`, "$"}
	letters := []rune("aabb1.-é\n")
	linear := 0
	for seed := range 20000 {
		d := rand.New(rand.NewPCG(uint64(seed), 1))
		var text strings.Builder
		for range 1 + d.IntN(6) {
			text.WriteString(parts[d.IntN(len(parts))])
		}
		r, err := compileRegex(text.String())
		if err != nil || r.linear == nil {
			continue
		}
		linear++
		for range 20 {
			name := make([]rune, d.IntN(6))
			for i := range name {
				name[i] = letters[d.IntN(len(letters))]
			}
			want, err := r.re.MatchString(string(name))
			if err == nil && r.match(string(name)) != want {
				t.Fatalf("%q on %q: got %v; want %v", text.String(), string(name), !want, want)
			}
		}
	}
	if linear < 2000 {
		t.Errorf("%d expressions compared; want more", linear)
	}
}
