package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A runDir is the folder of one node: configuration, data, logs. The process
// that owns it holds a lock on the file owner in it, so that a folder whose owner
// was killed can be told from one in use.
type runDir struct {
	path  string
	owner *os.File
}

// keepLogs is how long the logs of a run that ended badly are kept.
const keepLogs = 24 * time.Hour

// newRunDir makes a folder for a node of kind and clears those of dead owners.
func newRunDir(ctx context.Context, kind Kind) (*runDir, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	runs := filepath.Join(cache, "runs")
	if err := os.MkdirAll(runs, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the folder for runs: %w", err)
	}
	var r *runDir
	err = withLock(ctx, filepath.Join(cache, "runs.lock"), func() error {
		if err := sweep(runs); err != nil {
			return err
		}
		r, err = makeRunDir(runs, kind)
		return err
	})
	return r, err
}

func makeRunDir(runs string, kind Kind) (*runDir, error) {
	path, err := os.MkdirTemp(runs, string(kind)+"-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder for the node: %w", err)
	}
	for _, sub := range []string{"data", "logs", "repo", "tmp"} {
		if err := os.Mkdir(filepath.Join(path, sub), 0o755); err != nil {
			return nil, fmt.Errorf("cannot make a folder for the node: %w", err)
		}
	}
	owner, err := os.Create(filepath.Join(path, "owner"))
	if err != nil {
		return nil, fmt.Errorf("cannot own the node's folder: %w", err)
	}
	if err := syscall.Flock(int(owner.Fd()), syscall.LOCK_EX); err != nil {
		owner.Close()
		return nil, fmt.Errorf("cannot own the node's folder: %w", err)
	}
	return &runDir{path: path, owner: owner}, nil
}

// log returns the path of the node's log.
func (r *runDir) log() string { return filepath.Join(r.path, "logs", "node.log") }

// release gives the folder up: all of it goes, or all but logs and configuration.
func (r *runDir) release(keep bool) error {
	defer r.owner.Close()
	if keep {
		return removeData(r.path)
	}
	return os.RemoveAll(r.path)
}

// sweep clears what runs left whose owners were killed: their data at once, their logs later.
func sweep(runs string) error {
	folders, err := os.ReadDir(runs)
	if err != nil {
		return fmt.Errorf("cannot look for old runs: %w", err)
	}
	for _, f := range folders {
		path := filepath.Join(runs, f.Name())
		if owned(path) {
			continue
		}
		info, err := f.Info()
		if err != nil {
			continue // another process has just removed it
		}
		if time.Since(info.ModTime()) > keepLogs {
			err = os.RemoveAll(path)
		} else {
			err = removeData(path)
		}
		if err != nil {
			return fmt.Errorf("cannot clear an old run: %w", err)
		}
	}
	return nil
}

// owned reports whether a living process holds the lock of the run at path.
func owned(path string) bool {
	f, err := os.Open(filepath.Join(path, "owner"))
	if err != nil {
		return false
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK)
}

func removeData(path string) error {
	var errs []error
	for _, sub := range []string{"data", "repo", "tmp"} {
		errs = append(errs, os.RemoveAll(filepath.Join(path, sub)))
	}
	return errors.Join(errs...)
}
