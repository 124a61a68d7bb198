package proxy

import (
	"errors"
	"io"
	"sync/atomic"

	"guard/internal/ask"
)

// budget bounds the bytes that are held for all requests together.
type budget struct{ left atomic.Int64 }

func (b *budget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

// share is what one request has taken from the budget. Its upload may take more beside
// the reading of its answer.
type share struct {
	from *budget
	held atomic.Int64
}

func (s *share) take(n int64) error {
	if !s.from.take(n) {
		return &ask.Rejection{
			Status: 429, Type: "circuit_breaking_exception", Reason: ask.ReasonTooLarge, Limit: ask.LimitInFlight,
			Public: "too many bytes are held for requests under way; try again",
		}
	}
	s.held.Add(n)
	return nil
}

func (s *share) release() {
	s.from.left.Add(s.held.Swap(0))
}

var errTooLarge = errors.New("larger than the limit")

// sizeHint says how long a body is thought to be. The zero value knows nothing.
type sizeHint struct {
	announced int64 // bytes; what is not known is 0 or less
	trust     int64 // up to here all that was announced is taken at once
}

// A client may announce what it never sends.
const (
	trustClient  = 64 << 10 // 64 KiB
	trustCluster = 4 << 20  // 4 MiB
)

// readWhole reads r to its end. What it holds is taken from the share first, and beyond
// what is trusted grows with what has come, not with what was announced.
func readWhole(r io.Reader, size sizeHint, limit int64, s *share) ([]byte, error) {
	if size.announced > limit {
		return nil, errTooLarge
	}
	room := int64(4 << 10)
	if size.announced > 0 && size.announced <= size.trust {
		room = size.announced + 1 // one more to meet the end without growing
	}
	if err := s.take(room); err != nil {
		return nil, err
	}
	buf := make([]byte, 0, room)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, err
		}
		if len(buf) == cap(buf) {
			if err := s.take(int64(cap(buf))); err != nil {
				return nil, err
			}
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
	}
}
