package config

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
)

// maxSocketPath is what the kernel takes, but for its last byte.
const maxSocketPath = 107

func (c *Config) validateListen(r *report) {
	_, err := c.ListenMode.Perm()
	if err != nil {
		r.fault(c.Pos.At("listen_mode"), "octal digits, such as 0660", "%q", string(c.ListenMode))
	}
	path, local := c.Socket()
	switch at := c.Pos.At("listen"); {
	case !local:
		checkAddress(r, at, c.Listen)
		if c.ListenMode != defaultMode && err == nil {
			r.fault(c.Pos.At("listen_mode"), "a socket to listen on, or no mode", "set, and listen is no socket")
		}
	case !filepath.IsAbs(path):
		r.fault(at, "an absolute path, such as unix:/run/guard/guard.sock", "path %q", path)
	case len(path) > maxSocketPath:
		r.fault(at, "at most 107 bytes", "a path of %d bytes", len(path))
	}
}

// ProxyUnix names whoever connects to the socket among the trusted proxies.
const ProxyUnix = "unix"

// ParseProxy reads an address or a CIDR of a trusted proxy.
func ParseProxy(text string) (netip.Prefix, error) {
	const want = "want an address, a CIDR such as 10.1.0.0/16, or unix"
	if !strings.Contains(text, "/") {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" || addr.Is4In6() {
			return netip.Prefix{}, fmt.Errorf("trusted proxy %q; %s", text, want)
		}
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	net, err := netip.ParsePrefix(text)
	switch {
	case err != nil || net.Addr().Is4In6():
		return netip.Prefix{}, fmt.Errorf("trusted proxy %q; %s", text, want)
	case net != net.Masked():
		return netip.Prefix{}, fmt.Errorf("trusted proxy %q is an address within %s; want one of both", text, net.Masked())
	}
	return net, nil
}

// validateProxies checks who may name the addresses of clients, and how.
func (c *Config) validateProxies(r *report) {
	at := c.Pos.At("trusted_proxies")
	for i, text := range c.TrustedProxies {
		net, err := ParseProxy(text)
		switch pos := c.Pos.Item("trusted_proxies", i); {
		case text == ProxyUnix:
		case err != nil:
			r.fault(pos, "an address, a CIDR such as 10.1.0.0/16, or unix", "%q", text)
		case net.Bits() == 0:
			r.warn(pos, "the addresses of the proxies alone", "%q is everybody: each client may name its address itself", text)
		}
	}
	_, socket := c.Socket()
	local := slices.Contains(c.TrustedProxies, ProxyUnix)
	if local && !socket {
		r.fault(at, "a socket to listen on, or no unix", "unix, and listen is no socket")
	}
	header := c.Pos.At("forwarded_header")
	checkOneOf(r, header, c.ForwardedHeader, XForwardedFor, Forwarded, ForwardedNone)
	if c.ForwardedHeader == Forwarded && len(c.TrustedProxies) == 0 {
		r.fault(header, "trusted_proxies as well: nobody else's header is read", "%q, and no proxy is trusted", string(c.ForwardedHeader))
	}
	if !c.ProxyProtocol {
		if c.ForwardedHeader == ForwardedNone && len(c.TrustedProxies) > 0 {
			r.fault(at, "a forwarded_header, proxy_protocol, or no proxies", "set, and nothing that they say is read")
		}
		return
	}
	if len(c.TrustedProxies) == 0 {
		r.fault(at, "the addresses of the proxies that name their clients", "not set, and proxy_protocol is")
	} else if socket && !local {
		r.fault(at, "unix, or no proxy_protocol", "no unix, and proxy_protocol is set for a socket")
	}
}
