package authn

// stats are counts since the process started.
type stats struct {
	CacheHits uint64 // passwords that were remembered as right
	WrongHits uint64 // passwords that were remembered as wrong
	Hashes    uint64 // hashes computed, decoys among them
	Busy      uint64 // checks refused with ErrBusy
	TooMany   uint64 // checks refused with TooManyFailures
}

// stats returns the counts so far.
func (v *Verifier) stats() stats {
	return stats{
		CacheHits: v.hits.Load(), WrongHits: v.wrongHits.Load(), Hashes: v.hashes.Load(), Busy: v.busy.Load(), TooMany: v.tooMany.Load(),
	}
}
