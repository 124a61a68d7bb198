package proxy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// Listen opens the listener for clients: on host:port, or on the socket unix:/path,
// whose file gets the mode. The file of a socket that nobody listens on any more is
// replaced; it is removed when the listener closes.
func Listen(ctx context.Context, address string, mode fs.FileMode) (net.Listener, error) {
	path, local := strings.CutPrefix(address, "unix:")
	if !local {
		var lc net.ListenConfig
		return lc.Listen(ctx, "tcp", address)
	}
	if err := clearStale(ctx, path); err != nil {
		return nil, err
	}
	// The file is made with this mode or a narrower one, so there is no moment in which
	// somebody connects who may not.
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error { return narrowSocket(raw, mode) }}
	ln, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, mode); err != nil {
		_ = ln.Close() // the other error is the one to report
		return nil, fmt.Errorf("cannot set the mode of the socket: %w", err)
	}
	return ln, nil
}

// clearStale removes the file of a socket that nobody listens on, as a process leaves it
// that was killed. Anything else in its place is an error.
func clearStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("the file is there and is no socket")
	}
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = c.Close()
		return fmt.Errorf("%w: another process listens on it", syscall.EADDRINUSE)
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("cannot tell whether somebody listens on it: %w", err)
	}
	return os.Remove(path)
}
