package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// maxFile bounds what is read of one file: far above any policy or bundle of CAs.
const maxFile = 64 << 20 // 64 MiB

// ReadFile reads a file that may be another one by the same name at each look. It takes
// regular files only, up to 64 MiB: a pipe or a device in the place of one would hold its
// reader for ever, or fill the memory.
func ReadFile(path string) ([]byte, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("more than %d bytes", maxFile)}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// openFile opens a regular file. What it is, is asked of what was opened, which does not
// wait for a pipe's other end.
func openFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // G304: the operator names the file
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w but %s", errNotRegular, kindOf(info.Mode()))}
	}
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, err
	}
	return file, nil
}

// kindOf names what is no regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	default:
		return "something else"
	}
}

var (
	errNotRegular = errors.New("not a regular file")

	// ErrStalled says that files were not read in time.
	ErrStalled = errors.New("the files were not read in time: their file system does not answer")
)

// patience is how long a file system has to give the files of one part.
const patience = 10 * time.Second

// Reader reads files again and again, and never waits for them without end. A mount that
// stalls holds a system call, which nothing can take back; it holds one goroutine of a
// Reader then, and no more are begun until it lets go.
type Reader[T any] struct {
	read func() T
	most time.Duration
	turn chan struct{} // holds a token while no read runs
}

// NewReader returns a reader that waits at most 10 seconds for read. Read gets no lock and
// holds none: it may never return.
func NewReader[T any](read func() T) *Reader[T] {
	r := &Reader[T]{read: read, most: patience, turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	return r
}

// Read returns what a read brought that began after the call, ErrStalled, or why ctx has
// ended.
func (r *Reader[T]) Read(ctx context.Context) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.most, ErrStalled)
	defer cancel()
	var none T
	select {
	case <-r.turn:
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	got := make(chan T, 1) // nobody may be left to take it
	go func() {
		defer func() { r.turn <- struct{}{} }()
		got <- r.read()
	}()
	select {
	case it := <-got:
		return it, nil
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
