package config

import (
	"crypto/tls"
	"slices"
	"strings"
)

func (t *TLS) validate(r *report) {
	checkOneOf(r, t.Pos.At("client_auth"), t.ClientAuth, ClientAuthNone, ClientAuthOptional, ClientAuthRequired)
	checkPair(r, t.Pos, "certificate", t.Certificate, "key", t.Key)
	for _, c := range t.Certificates {
		checkPair(r, c.Pos, "certificate", c.Certificate, "key", c.Key)
		if c.Certificate == "" && c.Key == "" {
			r.fault(c.Pos, "the files of a certificate and its key", "neither certificate nor key")
		}
	}
	checkCiphers(r, t.Pos, t.MinVersion, t.CipherSuites)
	if !t.Enabled() && t.Key == "" {
		t.refusePlain(r)
	}
	if t.ClientAuth != ClientAuthNone && t.ClientCA == "" {
		r.fault(t.Pos.At("client_ca"), "the file of the CAs that sign client certificates", "not set, and client_auth is %q", string(t.ClientAuth))
	}
	if t.ClientCA != "" && t.ClientAuth == ClientAuthNone {
		r.fault(t.Pos.At("client_auth"), quoted(ClientAuthOptional, ClientAuthRequired)+", or no client_ca", "client certificates are not asked for")
	}
}

// refusePlain refuses settings of TLS that would have no effect: clients would be
// served without it, and their owner would not know.
func (t *TLS) refusePlain(r *report) {
	for _, f := range []struct {
		key string
		set bool
	}{
		{"client_ca", t.ClientCA != ""},
		{"min_version", t.MinVersion == TLS13},
		{"cipher_suites", len(t.CipherSuites) > 0},
	} {
		if f.set {
			r.fault(t.Pos.At("certificate"), "a certificate and key: without them clients are served without TLS", "not set, and %s is", f.key)
		}
	}
}

// refuseTLS refuses settings of TLS towards a cluster that is reached without it.
func (u *Upstream) refuseTLS(r *report) {
	const want = "an https URL, or no TLS settings"
	for _, f := range []struct{ key, value string }{{"ca_file", u.CAFile}, {"client_certificate", u.ClientCert}} {
		if f.value != "" {
			r.fault(u.Pos.At(f.key), want, "%q, and no URL is https", f.value)
		}
	}
	if u.MinVersion == TLS13 {
		r.fault(u.Pos.At("min_version"), want, "%q, and no URL is https", string(u.MinVersion))
	}
	if len(u.CipherSuites) > 0 {
		r.fault(u.Pos.At("cipher_suites"), want, "%d suites, and no URL is https", len(u.CipherSuites))
	}
}

// checkCiphers checks the versions and suites of one side.
func checkCiphers(r *report, pos Pos, least TLSVersion, suites []string) {
	checkOneOf(r, pos.At("min_version"), least, TLS12, TLS13)
	if least == TLS13 && len(suites) > 0 {
		r.fault(pos.At("cipher_suites"), "no suites: they are those of TLS 1.2", "%d suites, and min_version is 1.3", len(suites))
	}
	for i, name := range suites {
		if _, ok := CipherSuite(name); !ok {
			r.fault(pos.Item("cipher_suites", i), "one of "+strings.Join(cipherSuites(), ", "), "%q is no safe suite of TLS 1.2", name)
		}
	}
}

// CipherSuite returns the number of a suite of TLS 1.2 that is safe to use.
func CipherSuite(name string) (id uint16, ok bool) {
	for _, s := range tls.CipherSuites() {
		if s.Name == name && slices.Contains(s.SupportedVersions, tls.VersionTLS12) {
			return s.ID, true
		}
	}
	return 0, false
}

func cipherSuites() (names []string) {
	for _, s := range tls.CipherSuites() {
		if _, ok := CipherSuite(s.Name); ok {
			names = append(names, s.Name)
		}
	}
	return names
}
