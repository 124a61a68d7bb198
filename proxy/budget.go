package proxy

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"guard/internal/ask"
)

// budget bounds the bytes that are held for requests under way, in all and for one user.
type budget struct {
	left atomic.Int64 // in all
	each int64        // for one user

	mu    sync.Mutex // guards users
	users map[string]*allowance
}

// allowance is what one user may still take. It is kept while requests of the user hold
// something.
type allowance struct {
	left   atomic.Int64
	shares int // requests that hold something; guarded by the mutex of the budget
}

// take takes n bytes from what is left, if that much is.
func take(left *atomic.Int64, n int64) bool {
	if left.Add(-n) >= 0 {
		return true
	}
	left.Add(n)
	return false
}

// open returns what user may take. Who opened it closes it.
func (b *budget) open(user string) *allowance {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users == nil {
		b.users = make(map[string]*allowance)
	}
	a := b.users[user]
	if a == nil {
		a = &allowance{}
		a.left.Store(b.each)
		b.users[user] = a
	}
	a.shares++
	return a
}

func (b *budget) close(user string, a *allowance) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.shares--; a.shares == 0 {
		delete(b.users, user)
	}
}

// share is what one request has taken from the budget. Nothing is taken before it is
// known who asks. Its upload may take more beside the reading of its answer.
type share struct {
	from *budget
	user string

	mu   sync.Mutex // guards own and held
	own  *allowance // nil until something is taken
	held int64
}

// take takes n bytes, or says which limit leaves no room for them.
func (s *share) take(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == nil {
		s.own = s.from.open(s.user)
	}
	if !take(&s.own.left, n) {
		return noRoom(ask.LimitUserInFlight, "too many bytes are held for requests of this user; try again")
	}
	if !take(&s.from.left, n) {
		s.own.left.Add(n)
		return noRoom(ask.LimitInFlight, "too many bytes are held for requests under way; try again")
	}
	s.held += n
	return nil
}

func noRoom(met ask.Limit, public string) error {
	return &ask.Rejection{Status: 429, Type: "circuit_breaking_exception", Reason: ask.ReasonTooLarge, Limit: met, Public: public}
}

// passOn gives n bytes to another share, which holds nothing yet, and the rest back.
func (s *share) passOn(to *share, n int64) error {
	s.mu.Lock()
	missing := n - s.held
	s.mu.Unlock()
	if missing > 0 {
		if err := s.take(missing); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	s.own.left.Add(s.held - n)
	s.from.left.Add(s.held - n)
	to.from, to.user, to.own, to.held = s.from, s.user, s.own, n
	s.own, s.held = nil, 0
	return nil
}

// release gives everything back.
func (s *share) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own == nil {
		return
	}
	s.own.left.Add(s.held)
	s.from.left.Add(s.held)
	s.from.close(s.user, s.own)
	s.own, s.held = nil, 0
}

// What requests hold beside the bodies and answers themselves.
const (
	copyBuffer  = 256 << 10 // of a body or answer that passes by
	smallBuffer = 8 << 10   // the same where there is no room for that; not counted
)

var errTooLarge = errors.New("larger than the limit")

// sizeHint says how long a body is thought to be. The zero value knows nothing.
type sizeHint struct {
	announced int64 // bytes; what is not known is 0 or less
	trust     int64 // up to here all that was announced is taken at once
}

// A client may announce what it never sends: its body holds room as its bytes come.
const (
	trustClient  = 4 << 10 // 4 KiB
	trustCluster = 4 << 20 // 4 MiB
)

// first returns how much room a body gets before its first byte has come.
func (h sizeHint) first() int64 {
	if h.announced > 0 && h.announced <= h.trust {
		return h.announced + 1 // one more to meet the end without growing
	}
	return 4 << 10
}

// next returns how much it gets once it has filled room.
func (h sizeHint) next(room int64) int64 {
	if room <= h.announced && h.announced < 2*room {
		return h.announced + 1
	}
	return 2 * room
}

// readWhole reads r to its end. What it holds is taken from the share first, and beyond
// what is trusted grows with what has come, not with what was announced.
func readWhole(r io.Reader, size sizeHint, limit int64, s *share) ([]byte, error) {
	if size.announced > limit {
		return nil, errTooLarge
	}
	room := size.first()
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
			room = size.next(room)
			if err := s.take(room - int64(cap(buf))); err != nil {
				return nil, err
			}
			buf = append(make([]byte, 0, room), buf...)
		}
	}
}

// heldBuffer gathers what is written, and takes its room from a share before it grows.
type heldBuffer struct {
	b     []byte
	share *share
}

func (h *heldBuffer) Write(p []byte) (int, error) {
	if need := len(h.b) + len(p); need > cap(h.b) {
		room := max(need, 2*cap(h.b), 4<<10)
		if err := h.share.take(int64(room - cap(h.b))); err != nil {
			return 0, err
		}
		h.b = append(make([]byte, 0, room), h.b...)
	}
	h.b = append(h.b, p...)
	return len(p), nil
}
