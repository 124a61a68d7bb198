package source

import "sync/atomic"

// stats counts what a Source does.
type stats struct {
	readings, errors, older atomic.Uint64
	lists                   atomic.Bool
}

// Stats is what a Source has done so far.
type Stats struct {
	Readings uint64 // of the whole state, or of all lists: something had changed
	Errors   uint64 // questions that failed; the last state stayed
	Older    uint64 // errors for an answer that was older than what was known
	Lists    bool   // whether the lists of the cluster are read, as its state is forbidden
}

// Stats returns what s has done so far.
func (s *Source) Stats() Stats {
	return Stats{Readings: s.readings.Load(), Errors: s.errors.Load(), Older: s.older.Load(), Lists: s.lists.Load()}
}
