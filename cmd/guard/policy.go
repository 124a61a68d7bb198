package main

import (
	"guard/authn"
	"guard/authz"
	"guard/config"
	"guard/gate"
)

// policy is a security folder, ready for use: who somebody is, and what he may do.
type policy struct {
	chain *authn.Chain
	rules *gate.Policy
	hash  string // of the files
}

// loadPolicy reads, validates and compiles the security folder. All faults are
// reported at once; warnings come in both cases.
func loadPolicy(c *config.Config, v *authn.Verifier) (*policy, []config.Warning, error) {
	folder, err := config.ReadFolder(c.Security)
	if err != nil {
		return nil, nil, err
	}
	return compilePolicy(folder, c, v)
}

// compilePolicy is loadPolicy for what was read.
func compilePolicy(folder config.Folder, c *config.Config, v *authn.Verifier) (*policy, []config.Warning, error) {
	sec, warnings, err := config.ParseSecurity(folder, config.Options{Policy: c.Policy})
	if err != nil {
		return nil, warnings, err
	}
	chain, more, err := authn.New(sec, v)
	warnings = append(warnings, more...)
	if err != nil {
		return nil, warnings, err
	}
	compiled, more, err := authz.Compile(sec, c.Policy)
	warnings = append(warnings, more...)
	if err != nil {
		return nil, warnings, err
	}
	rules, more, err := gate.NewPolicy(compiled, gate.Settings{
		MaxUpstreamURI: c.Limits.MaxUpstreamURI, MaxDepth: c.Limits.MaxDepth, MaxStateAge: c.State.MaxAge,
		PublishAddress: c.PublishAddress,
	})
	warnings = append(warnings, more...)
	if err != nil {
		return nil, warnings, err
	}
	return &policy{chain: chain, rules: rules, hash: sec.Hash}, warnings, nil
}

func newVerifier(c *config.Config) (*authn.Verifier, error) {
	return authn.NewVerifier(authn.VerifierOptions{
		Concurrency: c.Limits.HashConcurrency, Queue: c.Limits.HashQueue,
		CacheTTL: c.Auth.CacheTTL, CacheSize: c.Auth.CacheSize,
		FailedTTL: c.Auth.FailedTTL, FailedPerMinute: c.Auth.FailedPerMinute,
	})
}
