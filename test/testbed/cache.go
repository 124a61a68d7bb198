package testbed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// logMu keeps progress lines of concurrent starts whole.
var logMu sync.Mutex

// progress tells whoever waits what is going on; tests print it as it comes.
func progress(format string, args ...any) {
	logMu.Lock()
	defer logMu.Unlock()
	fmt.Fprintf(os.Stderr, "testbed: "+format+"\n", args...)
}

// longStep runs f and says every 15 seconds that it is still at it.
func longStep(what string, f func() error) error {
	progress("%s ...", what)
	begin := time.Now()
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(15 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				progress("still %s (%d s)", what, int(time.Since(begin).Seconds()))
			case <-done:
				return
			}
		}
	}()
	err := f()
	close(done)
	<-ended
	return err
}

// cacheDir returns the folder that homes and runs are kept in.
func cacheDir() (string, error) {
	dir := os.Getenv("GUARD_TESTBED_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("cannot place the cache: %w; set GUARD_TESTBED_CACHE to a folder", err)
		}
		dir = filepath.Join(user, "guard-testbed")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("cannot place the cache: %w", err)
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// homeName names a home by what is in it, so that a changed pin, module or
// main class makes a new home instead of a stale one; pins of other sections change nothing.
// Who changes what assemble does raises the layout.
func homeName(b build) string {
	h := sha256.New()
	fmt.Fprintf(h, "layout 1\n%v\n%s\n%s\n%s\n%v\n", b, sectionText(b.base), sectionText(b.plugin), nodeMainSource, modules)
	name := b.base
	if b.plugin != "" {
		name += "-secured"
	}
	return fmt.Sprintf("%s-%x", name, h.Sum(nil)[:6])
}

// sectionText returns the lines of one section of artefacts.txt; none for no section.
func sectionText(name string) string {
	_, text, _ := strings.Cut(artefactsText, "["+name+"]\n")
	text, _, _ = strings.Cut(text, "\n[")
	return text
}

// withLock runs f while this process alone holds the lock file.
func withLock(ctx context.Context, path string, f func() error) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("cannot open lock: %w", err)
	}
	defer file.Close() // closing unlocks
	for told := false; ; told = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f()
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("cannot lock %s: %w", path, err)
		}
		if !told {
			progress("waiting for another run that holds %s", path)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up waiting for %s: %w", path, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Fetch makes sure that the home of kind is in the cache and returns its folder.
// It is safe to be called by several processes at once.
func Fetch(ctx context.Context, kind Kind) (string, error) {
	b, ok := builds[kind]
	if !ok {
		return "", fmt.Errorf("unknown kind of node %q; want one of %v", kind, Kinds())
	}
	java, err := findJDK(kind, b.java)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(cache, "homes", homeName(b))
	if exists(home) {
		return home, nil // fast path: a home appears by a rename, whole
	}
	if b.plugin != "" {
		base := b
		base.plugin = ""
		if _, err := fetchHome(ctx, cache, base, java); err != nil {
			return "", fmt.Errorf("cannot fetch %s: %w", kind, err)
		}
	}
	if home, err = fetchHome(ctx, cache, b, java); err != nil {
		return "", fmt.Errorf("cannot fetch %s: %w", kind, err)
	}
	return home, nil
}

// fetchHome assembles the home of b aside and renames it into place.
func fetchHome(ctx context.Context, cache string, b build, java jdk) (string, error) {
	home := filepath.Join(cache, "homes", homeName(b))
	return home, keep(ctx, filepath.Join(cache, "lock"), home, func(aside string) (string, error) {
		return filepath.Join(aside, "home"), assemble(ctx, aside, cache, b, java)
	})
}

// Keep makes sure that the cache has the folder of that name and returns its path. What
// is missing is filled by fill, in a folder beside that is renamed when it is whole.
// It is safe to be called by several processes at once; one fills at a time.
func Keep(ctx context.Context, name string, fill func(dir string) error) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(cache, name)
	if exists(path) {
		return path, nil // fast path: a folder appears by a rename, whole
	}
	return path, keep(ctx, filepath.Join(cache, "keep.lock"), path, func(aside string) (string, error) {
		dir := filepath.Join(aside, filepath.Base(path))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", fmt.Errorf("cannot make a folder in the cache: %w", err)
		}
		return dir, longStep("making "+name, func() error { return fill(dir) })
	})
}

// keep makes path, if it is missing, while this process alone holds the lock: what
// produce returns, made in a folder of its own, is renamed to it.
func keep(ctx context.Context, lock, path string, produce func(aside string) (string, error)) error {
	return withLock(ctx, lock, func() error {
		if exists(path) {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("cannot make the cache: %w", err)
		}
		aside := lock + ".aside" // under the lock there is one
		if err := os.RemoveAll(aside); err != nil {
			return fmt.Errorf("cannot clear what an earlier run left: %w", err)
		}
		defer os.RemoveAll(aside)
		made, err := produce(aside)
		if err != nil {
			return err
		}
		return os.Rename(made, path)
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
