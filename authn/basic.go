package authn

import (
	"bytes"
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"guard/config"
	"guard/internal/ask"
)

// attributePrefix is what the attributes of internal users are known by in rules.
const attributePrefix = "attr.internal."

// Basic identifies the internal users by HTTP Basic.
type Basic struct {
	domain   string
	verifier *Verifier
	accounts map[string]*account
	decoys   []stored // one of each class
}

var _ Provider = (*Basic)(nil)

// manyClasses is from where on the price of hiding which kind of hash an account
// has is worth a warning.
const manyClasses = 4

// account is a user that may log in.
type account struct {
	identity ask.Identity
	hash     stored
	hashText string
}

// newBasic returns a domain of the internal users. Faults name users whose hash
// cannot be checked.
func newBasic(domain string, users map[string]config.User, v *Verifier) (*Basic, []config.Warning, config.Faults) {
	b := &Basic{domain: domain, verifier: v, accounts: make(map[string]*account, len(users))}
	var warnings []config.Warning
	var faults config.Faults
	classes := map[class]bool{}
	for _, name := range slices.Sorted(maps.Keys(users)) {
		user := users[name]
		if !user.Hash.IsSet() {
			continue
		}
		hash, err := parseHash(user.Hash.Reveal())
		if err != nil {
			faults = append(faults, user.Pos.At("hash").Fault(err.Error(), "a hash as guard hash prints it"))
			continue
		}
		// Those who must not log in count as well: the cost tells nothing of them.
		if n := len(classes); !classes[hash.class] && n+1 == manyClasses {
			warnings = append(warnings, user.Pos.At("hash").Fault("many kinds of stored hashes: each failed login costs one of every kind", "one algorithm with one cost"))
		}
		classes[hash.class] = true
		if !user.Enabled {
			continue
		}
		if user.IsService() {
			warnings = append(warnings, user.Pos.At("attributes").Fault("service accounts are not built yet: the user cannot log in", ""))
			continue
		}
		b.accounts[name] = newAccount(domain, name, user, hash)
	}
	if len(classes) == 0 {
		classes[class{family: familyBcrypt, work: bcryptCost}] = true
	}
	for c := range classes {
		b.decoys = append(b.decoys, decoy(c))
	}
	return b, warnings, faults
}

func newAccount(domain, name string, user config.User, hash stored) *account {
	attributes := make(map[string]string, len(user.Attributes))
	for key, value := range user.Attributes {
		attributes[attributePrefix+key] = value
	}
	return &account{
		identity: ask.Identity{
			Name:          name,
			BackendRoles:  user.BackendRoles,
			SecurityRoles: user.SecurityRoles,
			Attributes:    attributes,
			Domain:        domain,
		},
		hash:     hash,
		hashText: user.Hash.Reveal(),
	}
}

// Identify returns the internal user whose name and password c carries. The
// identity is shared and read only.
func (b *Basic) Identify(ctx context.Context, c Credentials) (ask.Identity, error) {
	if len(c.Authorization) == 0 {
		return ask.Identity{}, ErrNoCredentials
	}
	if len(c.Authorization) > 1 {
		return ask.Identity{}, ErrAmbiguous
	}
	encoded, ok := cutScheme(c.Authorization[0])
	if !ok {
		return ask.Identity{}, ErrNoCredentials
	}
	buf := buffers.Get().(*buffer)
	defer buf.release()
	name, password, ok := buf.decode(encoded)
	if !ok {
		return ask.Identity{}, ErrRejected
	}
	a := attempt{domain: b.domain, name: name, password: password, from: Network(c.Peer), decoys: b.decoys}
	user := b.accounts[string(name)]
	if user != nil {
		a.hash, a.hashText = &user.hash, user.hashText
	}
	if err := b.verifier.verify(ctx, a); err != nil {
		return ask.Identity{}, err
	}
	if user == nil {
		panic("BUG: a password is right for a user that does not exist")
	}
	return user.identity, nil
}

// cutScheme returns what follows the scheme Basic, and reports whether that is the
// scheme of an Authorization header.
func cutScheme(header string) (credentials string, ok bool) {
	const scheme = "basic"
	header = strings.Trim(header, " \t")
	if len(header) < len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) {
		return "", false
	}
	rest := header[len(scheme):]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", false // another scheme that starts like it
	}
	return strings.TrimLeft(rest, " \t"), true
}

// buffer holds decoded credentials, so that each request need not allocate some.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

const maxPooled = 4 << 10 // 4 KiB: one huge header must not pin memory

// release wipes the credentials before others get the buffer.
func (b *buffer) release() {
	clear(b.b[:cap(b.b)])
	if cap(b.b) <= maxPooled {
		buffers.Put(b)
	}
}

// decode returns name and password, which live until release. It reports whether
// there are both: in base64, valid UTF-8, divided by the first ':'.
func (b *buffer) decode(encoded string) (name, password []byte, ok bool) {
	if strings.ContainsAny(encoded, "\r\n") { // the decoder skips them
		return nil, nil, false
	}
	encoding := base64.RawStdEncoding
	if strings.HasSuffix(encoded, "=") {
		encoding = base64.StdEncoding
	}
	n := len(encoded)
	b.b = append(b.b[:0], encoded...)
	b.b = slices.Grow(b.b, n)[:2*n]
	size, err := encoding.Strict().Decode(b.b[n:], b.b[:n])
	if err != nil {
		return nil, nil, false
	}
	text := b.b[n : n+size]
	name, password, ok = bytes.Cut(text, []byte{':'})
	if !ok || len(name) == 0 || len(password) == 0 || !utf8.Valid(text) {
		return nil, nil, false
	}
	return name, password, true
}
