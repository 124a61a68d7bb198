package config

import (
	"path/filepath"
)

// maxSocketPath is what the kernel takes, but for its last byte.
const maxSocketPath = 107

func (c *Config) validateListen(r *report) {
	_, err := c.ListenMode.Perm()
	if err != nil {
		r.fault(c.Pos.At("listen_mode"), "octal digits, such as 0660", "%q", string(c.ListenMode))
	}
	path, local := c.Socket()
	switch at := c.Pos.At("listen"); {
	case !local:
		checkAddress(r, at, c.Listen)
		if c.ListenMode != defaultMode && err == nil {
			r.fault(c.Pos.At("listen_mode"), "a socket to listen on, or no mode", "set, and listen is no socket")
		}
	case !filepath.IsAbs(path):
		r.fault(at, "an absolute path, such as unix:/run/guard/guard.sock", "path %q", path)
	case len(path) > maxSocketPath:
		r.fault(at, "at most 107 bytes", "a path of %d bytes", len(path))
	}
}
