package main

import (
	"errors"
	"time"

	"guard/authn"
	"guard/authz"
	"guard/config"
	"guard/gate"
	"guard/proxy"
)

// policy is a security folder, ready for use: who somebody is, and what he may do.
type policy struct {
	chain *authn.Chain
	rules *gate.Policy
	hash  string // of the files
}

// prepare reads all that guard.yml names: the files of both sides and the policy. All
// faults of both are reported at once; warnings come in both cases.
func prepare(c *config.Config, v *authn.Verifier) (*policy, []config.Warning, error) {
	warnings, filesErr := proxy.CheckFiles(c, time.Now())
	p, more, err := loadPolicy(c, v)
	warnings = append(warnings, more...)
	if err := joinFaults(filesErr, err); err != nil {
		return nil, warnings, err
	}
	return p, warnings, nil
}

// joinFaults returns the faults of all errors as one list. An error that is no list of
// faults is returned alone.
func joinFaults(errs ...error) error {
	var all config.Faults
	for _, err := range errs {
		var faults config.Faults
		switch {
		case errors.As(err, &faults):
			all = append(all, faults...)
		case err != nil:
			return err
		}
	}
	return all.Err()
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
	chain, more, err := authn.New(sec, c.Policy, v)
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
		MaxUpstreamURI: c.Limits.MaxUpstreamURI, MaxDepth: c.Limits.MaxDepth, MaxStateAge: c.State.MaxAge, MaxKept: c.Limits.MaxKeptDecisions,
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
