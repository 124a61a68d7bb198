package authn

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// VerifierOptions bound what the checking of passwords may cost. The first two and
// CacheSize must be positive.
type VerifierOptions struct {
	Concurrency int           // hashes at a time
	Queue       int           // checks that may wait for their turn, of one site half of it; more get ErrBusy
	CacheTTL    time.Duration // how long a right password is remembered; 0: not at all
	CacheSize   int           // passwords remembered, and as many that are wrong

	FailedTTL       time.Duration // how long a wrong password is remembered; 0: not at all
	FailedPerMinute int           // wrong passwords of one network that are checked; 0: any number

	Now func() time.Time // nil: time.Now
}

// Verifier checks passwords against stored hashes. It lives as long as the process,
// so that a new policy neither doubles the hashes at work nor forgets all logins:
// what it remembers is bound to the stored hash, and a changed one is not found.
//
// What it remembers is HMAC-SHA256 under a key of this process: no password can be got
// from it. A wrong one is remembered too, for a short while and for who has tried it, and
// who has tried too many has none checked for a while.
type Verifier struct {
	ttl   time.Duration
	now   func() time.Time
	known *lru.Cache[fingerprint, *login] // nil: nothing is remembered
	wrong *failures

	queue  *queue
	prints sync.Pool // of *printer

	mu      sync.Mutex // guards running
	running map[fingerprint]*check

	// matches is stored.matches; tests count its calls.
	matches func(*stored, []byte) bool

	// Counts since the process started, by which tests tell what a login cost: passwords that
	// were remembered as right or wrong, hashes with decoys among them, checks refused with
	// ErrBusy and with TooManyFailures.
	hits, wrongHits, hashes, busy, tooMany atomic.Uint64
}

// fingerprint stands for a password of an account with one stored hash.
type fingerprint [sha256.Size]byte

// NewVerifier returns a verifier with a key of its own.
func NewVerifier(o VerifierOptions) (*Verifier, error) {
	if o.Concurrency < 1 || o.Queue < 1 || o.CacheTTL < 0 || o.CacheSize < 1 || o.FailedTTL < 0 || o.FailedPerMinute < 0 {
		return nil, fmt.Errorf("cannot check passwords with %d hashes at a time, %d waiting, cache of %d for %v; want positive numbers",
			o.Concurrency, o.Queue, o.CacheSize, o.CacheTTL)
	}
	v := &Verifier{
		ttl:     o.CacheTTL,
		now:     o.Now,
		queue:   newQueue(o.Concurrency, o.Queue),
		running: map[fingerprint]*check{},
		matches: (*stored).matches,
	}
	if v.now == nil {
		v.now = time.Now
	}
	if o.CacheTTL > 0 {
		known, err := lru.New[fingerprint, *login](o.CacheSize)
		if err != nil {
			return nil, fmt.Errorf("cannot make the cache of logins: %w", err)
		}
		v.known = known
	}
	var err error
	if v.wrong, err = newFailures(o.FailedTTL, o.CacheSize, o.FailedPerMinute); err != nil {
		return nil, err
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	v.prints.New = func() any { return &printer{mac: hmac.New(sha256.New, key)} }
	return v, nil
}

// ForgetFailures drops the passwords that are remembered as wrong. It is called when a
// policy was put to work. None could be right by that alone, since each is bound to the stored
// hash that it was checked against; this holds whatever a later policy may bind it to.
func (v *Verifier) ForgetFailures() {
	v.wrong.forget()
}

// attempt is a password that somebody says belongs to an account. For an account
// that does not exist, or must not log in, hash is nil.
type attempt struct {
	domain   string
	name     []byte
	password []byte
	from     netip.Addr // the network of the client
	hash     *stored
	hashText string
	decoys   []stored // one of each class in the account's domain
}

// verify returns nil if the password is right, ErrRejected if it is wrong, ErrBusy,
// a *TooManyFailures, or the error of ctx.
func (v *Verifier) verify(ctx context.Context, a attempt) error {
	mark, now := v.fingerprint(a), v.now()
	known := v.recall(mark)
	remembered := known != nil && now.Before(known.until)
	shown := known.shownFrom(a.from)
	if remembered && shown {
		v.hits.Add(1)
		return nil
	}
	if v.wrong.known(failure{mark, a.from}, now) {
		v.wrongHits.Add(1)
		return ErrRejected
	}
	if wait := v.wrong.wait(a.from, now); wait > 0 && !shown {
		v.tooMany.Add(1)
		return &TooManyFailures{wait}
	}
	if remembered {
		// Where a wrong one could not be checked, this one is not let in either.
		if v.queue.full(siteOf(a.from)) {
			v.busy.Add(1)
			return ErrBusy
		}
		v.hits.Add(1)
		known.show(a.from)
		return nil
	}
	right, err := v.once(ctx, mark, a)
	switch {
	case err != nil:
		return err
	case !right:
		v.wrong.remember(failure{mark, a.from}, v.now())
		return ErrRejected
	}
	if known := v.recall(mark); known != nil {
		known.show(a.from)
	}
	return nil
}

// recall returns what is remembered of a password that was right, or nil.
func (v *Verifier) recall(mark fingerprint) *login {
	if v.known == nil {
		return nil
	}
	known, _ := v.known.Get(mark)
	return known
}

// check is a password that is being checked: who sends the same meanwhile waits
// for its result, so that a client with many connections costs one hash.
type check struct {
	site  netip.Addr    // of who has it checked
	done  chan struct{} // closed when the fields below are set
	right bool
	err   error
}

func (v *Verifier) once(ctx context.Context, mark fingerprint, a attempt) (bool, error) {
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		v.mu.Lock()
		c, joined := v.running[mark]
		if !joined {
			c = &check{site: siteOf(a.from), done: make(chan struct{})}
			v.running[mark] = c
		}
		v.mu.Unlock()
		if !joined {
			v.lead(ctx, c, mark, a)
			return c.right, c.err
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if !c.leftOpen(siteOf(a.from)) {
			return c.right, c.err
		}
	}
}

// leftOpen reports whether the check came to nothing for a reason that is its leader's
// own, so that the next one leads: its client went away before it had its turn, or its site
// had no room.
func (c *check) leftOpen(site netip.Addr) bool {
	return errors.Is(c.err, context.Canceled) || errors.Is(c.err, context.DeadlineExceeded) ||
		errors.Is(c.err, ErrBusy) && c.site != site
}

// lead runs the check, and ends it for those who wait even if it panics.
func (v *Verifier) lead(ctx context.Context, c *check, mark fingerprint, a attempt) {
	c.err = ErrRejected // of a panic
	defer func() {
		v.mu.Lock()
		delete(v.running, mark)
		v.mu.Unlock()
		close(c.done)
	}()
	c.right, c.err = v.hashInTurn(ctx, a)
	switch {
	case c.err != nil:
	case !c.right:
		v.wrong.count(a.from, v.now())
	case v.known != nil:
		v.known.Add(mark, v.recall(mark).renewed(v.now().Add(v.ttl)))
	}
}

func (v *Verifier) hashInTurn(ctx context.Context, a attempt) (bool, error) {
	if err := v.queue.acquire(ctx, siteOf(a.from)); err != nil {
		if errors.Is(err, ErrBusy) {
			v.busy.Add(1)
		}
		return false, err
	}
	defer v.queue.release()
	return v.hash(a), nil
}

// hash reports whether the password is right. A wrong one costs one hash of each
// class that the domain stores, and so does an unknown name: neither the sum nor a
// cheaper hash of some account tells whether a name exists.
func (v *Verifier) hash(a attempt) bool {
	if a.hash != nil && v.match(a.hash, a.password) {
		return true
	}
	for i := range a.decoys {
		if a.hash == nil || a.decoys[i].class != a.hash.class {
			v.match(&a.decoys[i], a.password)
		}
	}
	return false
}

func (v *Verifier) match(s *stored, password []byte) bool {
	v.hashes.Add(1)
	return v.matches(s, password)
}

// printer makes fingerprints; it is reused, since a keyed hash is dear to set up.
type printer struct {
	mac hash.Hash
	buf []byte
}

// fingerprint binds the password to its domain, name and stored hash. Each part is
// written after its length, so that no two attempts are the same bytes.
func (v *Verifier) fingerprint(a attempt) (mark fingerprint) {
	p := v.prints.Get().(*printer)
	p.buf = appendPart(p.buf[:0], a.domain)
	p.buf = appendPart(p.buf, a.hashText)
	p.buf = appendPart(p.buf, a.name)
	p.buf = appendPart(p.buf, a.password)
	p.mac.Reset()
	p.mac.Write(p.buf)
	clear(p.buf) // holds the password
	p.buf = p.mac.Sum(p.buf[:0])
	copy(mark[:], p.buf)
	clear(p.buf)
	v.prints.Put(p)
	return mark
}

func appendPart[T string | []byte](dst []byte, part T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(part)))
	return append(dst, part...)
}
