package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"guard/config"
)

// baseTLS is what both sides have in common: versions, suites, and no HTTP/2.
func baseTLS(least config.TLSVersion, suites []string) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	switch least {
	case config.TLS12, "":
	case config.TLS13:
		conf.MinVersion = tls.VersionTLS13
	default:
		return nil, fmt.Errorf("version %q of TLS; want 1.2 or 1.3", least)
	}
	for _, name := range suites {
		id, ok := config.CipherSuite(name)
		if !ok {
			return nil, fmt.Errorf("%q is no safe suite of TLS 1.2", name)
		}
		conf.CipherSuites = append(conf.CipherSuites, id)
	}
	return conf, nil
}

// serverTLS returns what guard shows to its clients, or nil for plain HTTP. Half a
// setting is an error: it never falls back to less.
func serverTLS(c config.TLS) (*tls.Config, error) {
	if !c.Enabled() {
		if c.Key != "" || c.ClientCA != "" {
			return nil, errors.New("tls.key or tls.client_ca without tls.certificate")
		}
		return nil, nil //nolint:nilnil // no TLS is not a fault
	}
	conf, err := baseTLS(c.MinVersion, c.CipherSuites)
	if err != nil {
		return nil, fmt.Errorf("cannot serve clients: %w", err)
	}
	for _, pair := range c.Pairs() { // of these a client gets the first that is valid for the name it asks for
		cert, err := tls.LoadX509KeyPair(pair.Certificate, pair.Key)
		if err != nil {
			return nil, fmt.Errorf("cannot load the certificate for clients: %w", err)
		}
		conf.Certificates = append(conf.Certificates, cert)
	}
	switch c.ClientAuth {
	case config.ClientAuthNone, "":
		return conf, nil
	case config.ClientAuthOptional:
		conf.ClientAuth = tls.VerifyClientCertIfGiven
	case config.ClientAuthRequired:
		conf.ClientAuth = tls.RequireAndVerifyClientCert
	default:
		return nil, fmt.Errorf("tls.client_auth %q; want none, optional or required", c.ClientAuth)
	}
	conf.ClientCAs, err = loadCAs(c.ClientCA)
	return conf, err
}

// clientTLS returns how guard speaks to a node by https; the host name is set for each
// node and is always checked.
func clientTLS(c config.Upstream) (*tls.Config, error) {
	conf, err := baseTLS(c.MinVersion, c.CipherSuites)
	if err != nil {
		return nil, fmt.Errorf("cannot speak to the cluster: %w", err)
	}
	if c.CAFile != "" {
		pool, err := loadCAs(c.CAFile)
		if err != nil {
			return nil, err
		}
		conf.RootCAs = pool
	}
	if (c.ClientCert == "") != (c.ClientKey == "") {
		return nil, errors.New("upstream.client_certificate and upstream.client_key belong together")
	}
	if c.ClientCert != "" {
		cert, err := tls.LoadX509KeyPair(c.ClientCert, c.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("cannot load the certificate for the cluster: %w", err)
		}
		conf.Certificates = []tls.Certificate{cert}
	}
	return conf, nil
}

func loadCAs(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read CA file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in CA file %q; want PEM", file)
	}
	return pool, nil
}

// readPassword reads a password file; its last line end is cut off.
func readPassword(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("cannot read the password for the cluster: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}
