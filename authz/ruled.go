package authz

import "guard/internal/ask"

// Ruled reports whether any role of who carries a document, field or mask rule, on
// whatever index: then a name that comes to mean another index may come under it.
func (p *Policy) Ruled(who *ask.Principal) bool { return p.subject(who).ruled }
