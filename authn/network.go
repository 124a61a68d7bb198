package authn

import "net/netip"

// Network returns what counts as one client where clients are told apart by address: an
// IPv4 address, or 64 bits of an IPv6 one, since who has one address there has all of
// these. Without an address (of a Unix socket) it is the zero value.
func Network(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a
	}
	p, err := a.Prefix(64)
	if err != nil {
		return netip.Addr{} // never: 64 bits are there
	}
	return p.Addr()
}
