package authz

import (
	"sync"

	"guard/internal/ask"
)

// subject is a principal with what its roles grant. It is immutable but for what it
// remembers.
type subject struct {
	who *ask.Principal
	*profile

	memo  sync.RWMutex            // guards rules
	rules map[string]*Restriction // by the set of entries that cover an index
}

// subject returns what is known of who; it is made from nothing but who and p.
func (p *Policy) subject(who *ask.Principal) *subject {
	if s, ok := p.subjects.Get(who); ok {
		return s
	}
	p.building.Lock()
	defer p.building.Unlock()
	if s, ok := p.subjects.Get(who); ok {
		return s
	}
	s := &subject{who: who, profile: p.profile(who), rules: make(map[string]*Restriction)}
	p.subjects.Add(who, s)
	return s
}

// Ruled reports whether any role of who carries a document, field or mask rule, on
// whatever index: then a name that comes to mean another index may come under it.
func (p *Policy) Ruled(who *ask.Principal) bool { return p.subject(who).ruled }
