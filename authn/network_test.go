package authn

import (
	"net/netip"
	"testing"
)

func TestNetwork(t *testing.T) {
	f := func(addr, want string) {
		t.Helper()
		if got := Network(netip.MustParseAddr(addr)); got.String() != want {
			t.Errorf("%s counts as %s; want %s", addr, got, want)
		}
	}
	f("192.0.2.1", "192.0.2.1")
	f("::ffff:192.0.2.1", "192.0.2.1")
	f("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::")
	f("2001:db8:1:2::", "2001:db8:1:2::")
	f("fe80::1%eth0", "fe80::")
	if got := Network(netip.Addr{}); got.IsValid() {
		t.Errorf("no address counts as %s", got)
	}
}
