package esjson

import (
	"bytes"
	"unsafe"
)

// countFrom is from where on tokens are counted: it costs less than what it saves.
const countFrom = 1 << 10 // 1 KiB

// Cost bounds the bytes that parsing src takes, by whatever limits, and printing it anew.
// It need not be JSON.
func Cost(src []byte) int64 {
	if len(src) < countFrom {
		return MostCost(len(src))
	}
	tokens := 1 // each but the first follows one of these
	for _, before := range [][]byte{{','}, {':'}, {'['}, {'{'}} {
		tokens += bytes.Count(src, before)
	}
	return costOf(len(src), tokens)
}

// MostCost is the Cost of the dearest text of size bytes: a token in every second one.
func MostCost(size int) int64 { return costOf(size, size) }

func costOf(size, tokens int) int64 {
	const (
		each    = int64(unsafe.Sizeof(token{})) + 8 // with its part of the set in which the keys of large objects are compared
		growing = 320                               // append doubles what is smaller, and adds a quarter to what is not
	)
	tokens = min(tokens, size/2+1)
	room := tokens + tokens/4 + min(tokens, growing)
	return int64(size) + each*int64(max(room, firstRoom(size)))
}

// firstRoom is how many tokens a new tape has room for.
func firstRoom(size int) int { return min(size/8+16, firstTokens) }
