package esjson

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestValidUTF8 compares with the standard library on every text of three bytes
// at the edges of the table, in front of and behind plain text.
func TestValidUTF8(t *testing.T) {
	edges := []byte{0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff}
	check := func(b []byte) {
		t.Helper()
		if got, want := validUTF8(b), utf8.Valid(b); got != want {
			t.Fatalf("validUTF8(% x) = %v; want %v", b, got, want)
		}
	}
	check(nil)
	for _, a := range edges {
		for _, b := range edges {
			for _, c := range edges {
				check([]byte{a, b, c})
				check([]byte{a, b, c, 0x80})
				check([]byte{'0', '1', '2', '3', '4', '5', '6', a, b, c, 0xbf, '7'})
			}
		}
	}
	for r := rune(0); r <= utf8.MaxRune; r++ {
		check(utf8.AppendRune(nil, r))
	}
}

func FuzzValidUTF8(f *testing.F) {
	f.Add([]byte("Übermäßig 日本語 😀 \xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := validUTF8(b), utf8.Valid(b); got != want {
			t.Fatalf("validUTF8(% x) = %v; want %v", b, got, want)
		}
	})
}

func BenchmarkValidUTF8(b *testing.B) {
	texts := map[string][]byte{
		"german":   []byte(strings.Repeat("Überall wächst grünes Gras, und die Straße führt nach Köln. ", 50)),
		"japanese": []byte(strings.Repeat("吾輩は猫である。名前はまだ無い。", 70)),
	}
	for _, name := range []string{"german", "japanese"} {
		text := bytes.Clone(texts[name])
		b.Run(name+"/table", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				validUTF8(text)
			}
		})
		b.Run(name+"/std", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				utf8.Valid(text)
			}
		})
	}
}
