package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
)

// The header of the PROXY protocol, by which a proxy in front of guard names its client
// before the first byte of TLS or HTTP.
const (
	binarySignature = "\r\n\r\n\x00\r\nQUIT\n" // of version 2
	textStart       = "PROXY "                 // of version 1
	maxTextHeader   = 107                      // bytes, as the protocol has it
	maxBinaryHeader = 536                      // bytes with addresses and extensions: what fits into the first segment of any path
)

var errNoAnnouncement = errors.New("no header of the PROXY protocol")

func badAnnouncement(format string, args ...any) error {
	return fmt.Errorf("malformed header of the PROXY protocol: "+format, args...)
}

// announcement is what such a header says. The zero value: the proxy speaks for itself, as
// in a health check.
type announcement struct {
	relayed bool       // somebody else does
	client  netip.Addr // zero: its proxy knows it by no address
}

func relayed(client netip.Addr, err error) (announcement, error) {
	return announcement{err == nil, client}, err
}

// readAnnouncement reads the header of a connection and not a byte behind it. io.EOF means
// that not a byte came.
func readAnnouncement(r io.Reader) (announcement, error) {
	var buf [maxBinaryHeader]byte
	start := buf[:len(binarySignature)] // a header of either version is longer
	if _, err := io.ReadFull(r, start); err != nil {
		return announcement{}, err
	}
	switch {
	case string(start) == binarySignature:
		return readBinary(r, buf[:])
	case bytes.HasPrefix(start, []byte(textStart)):
		return relayed(readText(r, buf[:maxTextHeader], len(start)))
	}
	return announcement{}, errNoAnnouncement
}

// readText reads on in a header of version 1, of which buf has n bytes. As long as there
// is no line end at least two bytes are to come, so it reads by twos and never too far.
func readText(r io.Reader, buf []byte, n int) (netip.Addr, error) {
	for {
		more := 2
		if end := bytes.IndexAny(buf[:n], "\r\n"); end >= 0 {
			switch string(buf[end:n]) {
			case "\r\n":
				return parseText(string(buf[:end]))
			case "\r":
				more = 1
			default:
				return netip.Addr{}, badAnnouncement("a line end within %q", buf[:n])
			}
		}
		if n+more > len(buf) {
			return netip.Addr{}, badAnnouncement("no line end in %d bytes", n)
		}
		if _, err := io.ReadFull(r, buf[n:n+more]); err != nil {
			return netip.Addr{}, noEOF(err)
		}
		n += more
	}
}

// parseText reads "PROXY TCP4 source destination port port".
func parseText(line string) (netip.Addr, error) {
	parts := strings.Split(strings.TrimPrefix(line, textStart), " ")
	if parts[0] == "UNKNOWN" { // what follows has no meaning
		return netip.Addr{}, nil
	}
	if len(parts) != 5 {
		return netip.Addr{}, badAnnouncement("%q; want a protocol, two addresses and two ports", line)
	}
	source, err := parseEnd(parts[0], parts[1], parts[3])
	if _, err2 := parseEnd(parts[0], parts[2], parts[4]); err != nil || err2 != nil {
		return netip.Addr{}, firstError(err, err2)
	}
	return source, nil
}

func parseEnd(protocol, host, port string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Zone() != "" || protocol != "TCP4" && protocol != "TCP6" || addr.Is4() != (protocol == "TCP4") {
		return netip.Addr{}, badAnnouncement("protocol %q with address %q", protocol, host)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return netip.Addr{}, badAnnouncement("port %q", port)
	}
	return addr.Unmap(), nil
}

// readBinary reads on in a header of version 2, behind its signature.
func readBinary(r io.Reader, buf []byte) (announcement, error) {
	const fixed = len(binarySignature) + 4 // version and command, family and protocol, length
	if _, err := io.ReadFull(r, buf[len(binarySignature):fixed]); err != nil {
		return announcement{}, noEOF(err)
	}
	command, family := buf[fixed-4], buf[fixed-3]
	end := fixed + int(binary.BigEndian.Uint16(buf[fixed-2:fixed]))
	if end > len(buf) {
		return announcement{}, badAnnouncement("%d bytes; want at most %d", end, len(buf))
	}
	if _, err := io.ReadFull(r, buf[fixed:end]); err != nil {
		return announcement{}, noEOF(err)
	}
	switch command {
	case 0x20: // LOCAL: the proxy itself
		return announcement{}, nil
	case 0x21: // PROXY
		return relayed(parseFamily(family, buf[fixed:end]))
	}
	return announcement{}, badAnnouncement("version and command 0x%02x", command)
}

// parseFamily reads the source from the block of addresses. Extensions behind it are
// skipped.
func parseFamily(family byte, block []byte) (netip.Addr, error) {
	want := map[byte]int{0x00: 0, 0x11: 12, 0x21: 36, 0x31: 216} // none, TCP over IPv4 and IPv6, Unix socket
	size, known := want[family]
	if !known || len(block) < size {
		return netip.Addr{}, badAnnouncement("family 0x%02x with %d bytes of addresses", family, len(block))
	}
	switch family {
	case 0x11:
		return netip.AddrFrom4([4]byte(block)), nil
	case 0x21:
		return netip.AddrFrom16([16]byte(block)).Unmap(), nil
	}
	return netip.Addr{}, nil
}

// noEOF tells a header that is cut from a connection without one.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
