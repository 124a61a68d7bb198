package main

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"guard/config"
	"guard/proxy"
)

// openCluster reports whether the cluster answers a request that carries none of
// guard's credentials: then guard protects nothing from whoever reaches it.
func openCluster(ctx context.Context, c *config.Config) (bool, error) {
	bare := c.Upstream
	bare.Username, bare.Password, bare.PasswordFile, bare.ClientCert, bare.ClientKey = "", config.Secret{}, "", "", ""
	t, err := proxy.NewTransport(bare, c.Timeouts)
	if err != nil {
		return false, err
	}
	defer t.Close()
	// The second is for services that let nobody read the state.
	for _, target := range []string{"/_cluster/state/version", "/_resolve/index/.none*"} {
		status, _, err := t.Fetch(ctx, "GET", target)
		if err != nil {
			return false, fmt.Errorf("cannot ask the cluster without credentials: %w", err)
		}
		if status < 300 {
			return true, nil
		}
	}
	return false, nil
}

const openWarning = "the cluster answers without guard's credentials: whoever can reach it is not bound by any rule; " +
	"bind the nodes to loopback beside guard, or have the cluster ask for a credential that only guard has"

// warnIfOpen looks once at the start.
func (srv *server) warnIfOpen(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	open, err := openCluster(ctx, srv.config)
	switch {
	case err != nil:
		srv.log.Debug("cannot tell whether the cluster is open", zap.Error(err))
	case open:
		srv.log.Warn(openWarning)
	}
}
