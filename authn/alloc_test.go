//go:build !race

// The race detector makes pools drop what they hold, at random.

package authn

import (
	"testing"
	"time"

	"guard/config"
)

func TestIdentifyRememberedDoesNotAllocate(t *testing.T) {
	v := newVerifier(t, VerifierOptions{CacheTTL: time.Hour})
	c := newChain(t, map[string]config.User{"anna": user(cheapHash)}, v)
	creds := with(basicHeader("anna", rightPassword))
	ctx := t.Context()
	if _, err := c.Identify(ctx, creds); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(200, func() { _, _ = c.Identify(ctx, creds) }); n != 0 {
		t.Errorf("Identify allocates %v times for a remembered password; want 0", n)
	}
}
