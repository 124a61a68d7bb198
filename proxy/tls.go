package proxy

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

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

// serverMaterial is what guard shows to its clients, or nil for plain HTTP. Half a
// setting is an error: it never falls back to less.
func serverMaterial(c config.TLS) (*material, error) {
	if !c.Enabled() {
		if c.Key != "" || c.ClientCA != "" {
			return nil, errors.New("tls.key or tls.client_ca without tls.certificate")
		}
		return nil, nil //nolint:nilnil // no TLS is not a fault
	}
	return newMaterial("client", serverFiles(c), func(read contents) (*generation, error) { return serverTLS(c, read) })
}

func serverFiles(c config.TLS) (paths []string) {
	for _, pair := range c.Pairs() {
		paths = append(paths, pair.Certificate, pair.Key)
	}
	return named(append(paths, c.ClientCA))
}

// named returns those paths that are set.
func named(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}

func serverTLS(c config.TLS, read contents) (*generation, error) {
	conf, err := baseTLS(c.MinVersion, c.CipherSuites)
	if err != nil {
		return nil, fmt.Errorf("cannot serve clients: %w", err)
	}
	for _, pair := range c.Pairs() { // of these a client gets the first that is valid for the name it asks for
		cert, err := read.pair(pair.Certificate, pair.Key)
		if err != nil {
			return nil, fmt.Errorf("cannot load the certificate for clients: %w", err)
		}
		conf.Certificates = append(conf.Certificates, cert)
	}
	g := &generation{tls: conf, ends: firstEnd(conf.Certificates)}
	switch c.ClientAuth {
	case config.ClientAuthNone, "":
		return g, nil
	case config.ClientAuthOptional:
		conf.ClientAuth = tls.VerifyClientCertIfGiven
	case config.ClientAuthRequired:
		conf.ClientAuth = tls.RequireAndVerifyClientCert
	default:
		return nil, fmt.Errorf("tls.client_auth %q; want none, optional or required", c.ClientAuth)
	}
	if conf.ClientCAs, err = read.pool(c.ClientCA); err != nil {
		return nil, err
	}
	return g, nil
}

// clientMaterial is what guard shows to the cluster: certificate and account.
func clientMaterial(c config.Upstream) (*material, error) {
	if (c.ClientCert == "") != (c.ClientKey == "") {
		return nil, errors.New("upstream.client_certificate and upstream.client_key belong together")
	}
	return newMaterial("upstream", clientFiles(c), func(read contents) (*generation, error) { return clientTLS(c, read) })
}

func clientFiles(c config.Upstream) []string {
	return named([]string{c.CAFile, c.ClientCert, c.ClientKey, c.PasswordFile})
}

// clientTLS returns how guard speaks to a node by https; the host name is set for each
// node and is always checked.
func clientTLS(c config.Upstream, read contents) (*generation, error) {
	conf, err := baseTLS(c.MinVersion, c.CipherSuites)
	if err != nil {
		return nil, fmt.Errorf("cannot speak to the cluster: %w", err)
	}
	g := &generation{tls: conf}
	if c.CAFile != "" {
		if conf.RootCAs, err = read.pool(c.CAFile); err != nil {
			return nil, err
		}
	}
	if c.ClientCert != "" {
		cert, err := read.pair(c.ClientCert, c.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("cannot load the certificate for the cluster: %w", err)
		}
		conf.Certificates = []tls.Certificate{cert}
		g.ends = firstEnd(conf.Certificates)
	}
	g.account, err = accountLine(c, read)
	return g, err
}

// accountLine returns the header line that shows guard to the cluster.
func accountLine(c config.Upstream, read contents) (string, error) {
	password := c.Password
	if c.PasswordFile != "" {
		text, err := read.file(c.PasswordFile)
		if err == nil {
			password, err = config.ParsePassword(text)
		}
		if err != nil {
			return "", fmt.Errorf("cannot read the password for the cluster: %w", err)
		}
	}
	if c.Username == "" {
		return "", nil
	}
	cred := base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + password.Reveal()))
	return "Authorization: Basic " + cred + "\r\n", nil
}
