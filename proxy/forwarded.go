package proxy

import (
	"net/netip"
	"slices"
	"strings"

	"guard/config"
)

// maxHops bounds how many proxies are followed to a client: a longer chain is read no
// further.
const maxHops = 16

// maxPairs bounds what an element of Forwarded may say of one hop.
const maxPairs = 16

// proxies are the peers whose word about their own clients is taken.
type proxies struct {
	nets   []netip.Prefix
	unix   bool   // whoever connects to the socket
	header string // where they name their clients, in lower case; empty: nowhere
	// cutLast cuts the last element off that header, and name reads its address.
	cutLast func(chain string) (rest, element string, more bool)
	name    func(element string) (netip.Addr, bool)
}

func newProxies(c *config.Config) (proxies, error) {
	var p proxies
	switch c.ForwardedHeader {
	case config.XForwardedFor, "":
		p.header, p.cutLast, p.name = "x-forwarded-for", cutLastPlain, func(s string) (netip.Addr, bool) { return parseNode(s, true) }
	case config.Forwarded:
		p.header, p.cutLast, p.name = "forwarded", cutLastQuoted, parseForwarded
	case config.ForwardedNone:
	}
	for _, text := range c.TrustedProxies {
		if text == config.ProxyUnix {
			p.unix = true
			continue
		}
		net, err := config.ParseProxy(text)
		if err != nil {
			return p, err
		}
		p.nets = append(p.nets, net)
	}
	return p, nil
}

// trusts reports whether an address is that of a proxy. The zero address is nobody's.
func (p *proxies) trusts(addr netip.Addr) bool {
	for _, net := range p.nets {
		if net.Contains(addr) {
			return true
		}
	}
	return false
}

// known returns the address of a client if it is that of one: where a proxy has named
// nobody, the last address that is known is its own, and no role may be given to all of
// its clients because of it.
func (p *proxies) known(client netip.Addr) netip.Addr {
	if p.trusts(client) {
		return netip.Addr{}
	}
	return client
}

// origin is where a request comes from.
type origin struct {
	client netip.Addr   // zero: it came by a Unix socket, and nobody named its address
	via    []netip.Addr // the trusted proxies between it and guard, the nearest last
}

// originOf finds the client behind a trusted peer. The chain is read from its end, which
// the peer wrote: as long as an address is a trusted proxy's, what stands before it is
// that proxy's word. The first that is not is the client, and what stands before it is
// anybody's. At what can't be read the last good address is taken, never one further on.
func (p *proxies) originOf(peer netip.Addr, h *head) origin {
	from := origin{client: peer}
	for _, f := range slices.Backward(h.fields) {
		if f.key == p.header && !p.follow(&from, f.value) {
			break
		}
	}
	slices.Reverse(from.via)
	return from
}

// follow reads a line of the chain from its end; via grows from the nearest on. It
// reports whether the line before has a say too. No element goes on in another line:
// what others wrote there can't change what this one says.
func (p *proxies) follow(from *origin, chain string) (further bool) {
	for more := true; more; {
		if len(from.via) == maxHops {
			return false
		}
		var element string
		chain, element, more = p.cutLast(chain)
		addr, ok := p.name(element)
		if !ok {
			return false
		}
		if from.client.IsValid() {
			from.via = append(from.via, from.client)
		}
		from.client = addr
		if !p.trusts(addr) {
			return false
		}
	}
	return true
}

// String is what the cluster gets as X-Forwarded-For: what guard believes, written anew.
// No byte of it was written by who is not trusted.
func (o *origin) String() string {
	if !o.client.IsValid() {
		return ""
	}
	b := o.client.AppendTo(nil)
	for _, hop := range o.via {
		b = hop.AppendTo(append(b, ", "...))
	}
	return string(b)
}

func cutLastPlain(chain string) (rest, element string, more bool) {
	i := strings.LastIndexByte(chain, ',')
	return chain[:max(i, 0)], chain[i+1:], i >= 0
}

// cutLastQuoted is cutLastPlain for elements with quoted strings, read from the end as
// well: so a quote that somebody further left has opened can't swallow what the nearer
// proxies wrote. A quote after an odd number of backslashes is escaped.
func cutLastQuoted(chain string) (rest, element string, more bool) {
	quoted := false
	for i := len(chain) - 1; i >= 0; i-- {
		switch {
		case chain[i] == '"' && !escaped(chain[:i]):
			quoted = !quoted
		case chain[i] == ',' && !quoted:
			return chain[:i], chain[i+1:], true
		}
	}
	return "", chain, false
}

// escaped reports whether the byte behind s is, if s is within a quoted string.
func escaped(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// parseForwarded returns the address of an element of Forwarded (RFC 7239), such as
// for="[2001:db8::1]:4711";proto=https.
func parseForwarded(element string) (addr netip.Addr, ok bool) {
	var seen []string
	for rest := element; rest != ""; {
		rest = strings.TrimLeft(rest, "; \t")
		if rest == "" {
			break
		}
		name, value, _ := strings.Cut(rest, "=")
		name = strings.ToLower(name)
		if !isToken(name) || slices.Contains(seen, name) || len(seen) == maxPairs {
			return netip.Addr{}, false
		}
		seen = append(seen, name)
		if value, rest, ok = cutValue(value); !ok {
			return netip.Addr{}, false
		}
		if name == "for" {
			if addr, ok = parseNode(value, false); !ok {
				return netip.Addr{}, false
			}
		}
	}
	return addr, addr.IsValid()
}

// cutValue cuts a token or quoted string off, which has to end at a semicolon. Escapes
// are not undone: no address has any.
func cutValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ";")
		value = strings.TrimRight(value, " \t")
		return value, rest, isToken(value)
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			rest = strings.TrimLeft(s[i+1:], " \t")
			return s[1:i], rest, rest == "" || rest[0] == ';'
		}
	}
	return "", "", false
}

// parseNode reads an address with an optional port. bare says whether an IPv6 address
// may stand without brackets.
func parseNode(s string, bare bool) (netip.Addr, bool) {
	s = strings.Trim(s, " \t")
	inner := s
	bracketed := strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]")
	if bracketed {
		inner = s[1 : len(s)-1]
	}
	addr, err := netip.ParseAddr(inner)
	if err != nil {
		with, portErr := netip.ParseAddrPort(s)
		addr, err, bracketed = with.Addr(), portErr, strings.HasPrefix(s, "[")
	}
	if err != nil || addr.Zone() != "" || addr.Is4() && bracketed || addr.Is6() && !bracketed && !bare {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}
