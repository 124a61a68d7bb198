package proxy

import (
	"net/netip"

	"guard/config"
)

// proxies are the peers whose word about their own clients is taken.
type proxies struct {
	nets []netip.Prefix
	unix bool // whoever connects to the socket
}

func newProxies(list []string) (proxies, error) {
	var p proxies
	for _, text := range list {
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
