package main

import (
	"go.uber.org/zap"

	"guard/config"
)

// spareDescriptors are for what is no connection: files, listeners, probes, and clients
// that are being turned away.
const spareDescriptors = 128

// fitDescriptors lowers the connections of clients to what the limit of descriptors
// leaves room for, so that clients can't take those that the cluster is reached by. The
// runtime has raised the soft limit to the hard one when guard started.
func fitDescriptors(c *config.Config, limit uint64, log *zap.Logger) {
	others := uint64(spareDescriptors + c.Upstream.MaxConns*len(c.Upstream.URLs)) //nolint:gosec // G115: checked to be positive
	wanted := others + uint64(c.Limits.MaxConnections)                            //nolint:gosec // G115: checked to be positive
	if limit >= wanted {
		return
	}
	fits := 1
	if limit > others {
		fits = int(limit - others) //nolint:gosec // G115: less than wanted
	}
	log.Warn("the limit of open files is too low for limits.max_connections: fewer clients are let in; raise it (ulimit -n, LimitNOFILE)",
		zap.Uint64("limit", limit), zap.Uint64("wanted", wanted), zap.Int("max_connections", fits))
	c.Limits.MaxConnections = fits
}
