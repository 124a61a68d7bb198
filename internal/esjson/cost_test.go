package esjson

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// TestCost: what parsing takes is never more than what was said before.
func TestCost(t *testing.T) {
	f := func(text string) {
		t.Helper()
		var tape Tape
		_, _ = Parse(&tape, []byte(text), Limits{MaxDepth: 1024, MaxTokens: 64 << 20}) // a text with a fault has a cost too
		took := int64(len(text)) + int64(cap(tape.tokens))*int64(unsafe.Sizeof(token{})) + 4*int64(cap(tape.set))
		if most := Cost([]byte(text)); took > most {
			t.Errorf("%.40s of %d bytes: parsing took %d; want at most %d", text, len(text), took, most)
		}
		if cost, most := Cost([]byte(text)), MostCost(len(text)); cost > most {
			t.Errorf("%.40s: cost %d is above that of the dearest text of its size, %d", text, cost, most)
		}
	}
	f("")
	f("1")
	f("{")
	for _, n := range []int{1, 10, 100, 1000, 100_000} {
		f("[" + strings.Repeat("1,", n) + "1]")
		f("[" + strings.Repeat("[],", n) + "[]]")
		f(strings.Repeat("[", n) + strings.Repeat("]", n))
		f("[" + strings.Repeat(`"`+strings.Repeat("a", 1000)+`",`, n/100) + "1]")
		f("{" + keys(n) + "}")
		f(strings.Repeat(",", n))
	}
}

// keys are the members of an object with n keys.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + strings.Repeat("k", i%7) + string(rune('a'+rand.IntN(26))) + itoa(i) + `":1`)
	}
	return b.String()
}

func itoa(n int) string {
	digits := "0123456789"
	if n < 10 {
		return digits[n : n+1]
	}
	return itoa(n/10) + digits[n%10:n%10+1]
}
