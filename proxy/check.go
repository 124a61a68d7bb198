package proxy

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"guard/config"
)

// endsSoon is from when on the end of a certificate is worth a warning.
const endsSoon = 14 * 24 * time.Hour

// CheckFiles reads the certificates, keys and CAs that c names as serving does, and opens
// no socket. An error of type config.Faults lists all that is wrong. A certificate that
// is not valid now, or not for long, is a warning: guard would serve with it.
func CheckFiles(c *config.Config, now time.Time) ([]config.Warning, error) {
	paths := append(serverFiles(c.TLS), clientFiles(c.Upstream)...)
	read, err := config.NewReader(func() contents { return readContents(paths) }).Read(context.Background())
	if err != nil {
		read = unread(paths, err)
	}
	k := fileCheck{read: read, now: now}
	for _, pair := range c.TLS.Pairs() {
		k.pair(pair.Pos.At("certificate"), pair.Certificate, pair.Key)
	}
	k.authorities(c.TLS.Pos.At("client_ca"), c.TLS.ClientCA)
	k.pair(c.Upstream.Pos.At("client_certificate"), c.Upstream.ClientCert, c.Upstream.ClientKey)
	k.authorities(c.Upstream.Pos.At("ca_file"), c.Upstream.CAFile)
	if err := k.faults.Err(); err != nil {
		return k.warnings, err
	}
	if _, err := serverTLS(c.TLS, read); err != nil {
		return k.warnings, err
	}
	_, err = clientTLS(c.Upstream, read)
	return k.warnings, err
}

// fileCheck collects what is to be said of files.
type fileCheck struct {
	read     contents
	now      time.Time
	faults   config.Faults
	warnings []config.Warning
}

// pair checks a certificate with its key, if there is one.
func (k *fileCheck) pair(at config.Pos, certFile, keyFile string) {
	if certFile == "" {
		return
	}
	pair, err := k.read.pair(certFile, keyFile)
	if err != nil {
		k.faults = append(k.faults, at.Fault(err.Error(), "certificates in PEM, that of the key first"))
		return
	}
	k.validity(at, certFile, chainOf(pair))
}

// authorities checks a file of CAs, if there is one.
func (k *fileCheck) authorities(at config.Pos, file string) {
	if file == "" {
		return
	}
	certs, err := k.read.authorities(file)
	if err != nil {
		k.faults = append(k.faults, at.Fault(err.Error(), "the certificates of CAs in PEM"))
		return
	}
	k.validity(at, file, certs)
}

// validity warns of certificates that others would not take now, or soon no more.
func (k *fileCheck) validity(at config.Pos, file string, certs []*x509.Certificate) {
	warn := func(cert *x509.Certificate, verb string, when time.Time, want string) {
		msg := fmt.Sprintf("the certificate of %q in %q %s %s", cert.Subject, file, verb, when.UTC().Format(time.RFC3339))
		k.warnings = append(k.warnings, at.Fault(msg, want))
	}
	for _, cert := range certs {
		switch {
		case k.now.After(cert.NotAfter):
			warn(cert, "has ended at", cert.NotAfter, "a new one")
		case k.now.Before(cert.NotBefore):
			warn(cert, "begins at", cert.NotBefore, "one that is valid now")
		case k.now.Add(endsSoon).After(cert.NotAfter):
			warn(cert, "ends at", cert.NotAfter, "a new one before that")
		}
	}
}
