//go:build unix

package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadFile holds what is read: a regular file of a bounded size, also by a link. All
// else is refused at once, and nobody waits for who might write to it.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	large, err := os.Create(at("large"))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		os.WriteFile(at("file"), []byte("text"), 0o600), os.Symlink(at("file"), at("link")), os.WriteFile(at("empty"), nil, 0o600),
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink(at("pipe"), at("link to a pipe")),
		large.Truncate(maxFile+1), large.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	f := func(path, want, wantErr string) {
		t.Helper()
		got, err := ReadFile(path)
		if string(got) != want || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%s: %q, %v; want %q, %q", path, got, err, want, wantErr)
		}
	}
	f(at("file"), "text", "")
	f(at("link"), "text", "")
	f(at("empty"), "", "")
	f(at("pipe"), "", "pipe: not a regular file but a pipe")
	f(at("link to a pipe"), "", "not a regular file but a pipe")
	f(at(""), "", "not a regular file but a folder")
	f("/dev/zero", "", "/dev/zero: not a regular file but a device")
	f(at("large"), "", "large: more than 67108864 bytes")
	f(at("none"), "", "no such file")
}

// TestPipes: no key of guard.yml and no file of the security folder makes guard wait for a pipe.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	security := filepath.Join(dir, "security")
	guard := filepath.Join(dir, "guard.yml")
	err := errors.Join(
		syscall.Mkfifo(pipe, 0o600), os.CopyFS(security, os.DirFS(filepath.Join("testdata", "security"))),
		os.Remove(filepath.Join(security, "roles.yml")), syscall.Mkfifo(filepath.Join(security, "roles.yml"), 0o600),
		os.WriteFile(guard, []byte("upstream: {username: guard, password_file: pipe, ca_file: pipe, urls: ['https://a:9200']}\n"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	var faults Faults
	if _, err := ReadFolder(security); !errors.As(err, &faults) || !strings.HasSuffix(faults[0].File, "roles.yml") || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("security folder: %v; want that roles.yml is not a regular file", err)
	}
	if _, _, err := Load(guard, Overrides{}); !errors.As(err, &faults) || len(faults) != 2 || strings.Count(err.Error(), "not a regular file") != 2 {
		t.Errorf("guard.yml: %v; want a fault of each key", err)
	}
	for path, kind := range map[string]string{pipe: "a pipe", "/dev/zero": "a device", security: "a folder"} {
		checkLoad(t, path, path+": cannot open: not a regular file but "+kind+"; want a file that guard can read")
	}
	_, err = ReadFolder(pipe)
	checkFaults(t, err, []string{pipe + ": cannot open: not a directory; want the security folder, with files that guard can read; security or --security names it"})
}

// checkLoad wants that what stands in the place of guard.yml is refused.
func checkLoad(t *testing.T, path, want string) {
	t.Helper()
	_, _, err := Load(path, Overrides{})
	checkFaults(t, err, []string{want})
}

// TestReader: who reads waits for a bounded time, while one read hangs no other is begun,
// and when it lets go what is read began after the call.
func TestReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Int64
		hang := make(chan struct{})
		r := NewReader(func() int64 {
			n := begun.Add(1)
			if n == 2 {
				<-hang
			}
			return n
		})
		f := func(ctx context.Context, want int64, wantErr error, wait time.Duration) {
			t.Helper()
			start := time.Now()
			got, err := r.Read(ctx)
			if got != want || !errors.Is(err, wantErr) || time.Since(start) != wait {
				t.Errorf("got %d, %v after %v; want %d, %v after %v", got, err, time.Since(start), want, wantErr, wait)
			}
		}
		f(t.Context(), 1, nil, 0)
		f(t.Context(), 0, ErrStalled, patience)
		f(t.Context(), 0, ErrStalled, patience)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		f(ended, 0, context.Canceled, 0)
		if n := begun.Load(); n != 2 {
			t.Errorf("%d reads begun; want 2: one hangs", n)
		}
		close(hang)
		synctest.Wait()
		f(t.Context(), 3, nil, 0)
	})
}

// TestWatchStalled: a folder that can't be read in time is a change with a fault, and so is
// what comes after it; the watcher can be closed meanwhile.
func TestWatchStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hang atomic.Pointer[chan struct{}]
		w := &Watcher[Change]{options: WatchOptions{Quiet: time.Second, Poll: time.Minute}, changes: make(chan Change, 1), loaded: make(chan loaded)}
		w.files.failed = func(err error) Change { return Change{Err: err} }
		w.reader = NewReader(func() Change {
			if h := hang.Load(); h != nil {
				<-*h
			}
			return Change{}
		})
		stalled := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		w.stop = cancel
		w.done.Go(func() { w.run(ctx, Folder{}.Hash()) })
		time.Sleep(time.Second)
		hang.Store(&stalled)
		if c := <-w.Changes(); !errors.Is(c.Err, ErrStalled) {
			t.Errorf("got %v; want %v", c.Err, ErrStalled)
		}
		hang.Store(nil)
		close(stalled)
		if c := <-w.Changes(); c.Err != nil {
			t.Errorf("got %v; want what the folder holds again", c.Err)
		}
		again := make(chan struct{})
		hang.Store(&again)
		time.Sleep(time.Minute + time.Second) // a look is under way
		w.Close()
		close(again)
	})
}
