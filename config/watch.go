package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Defaults of WatchOptions.
const (
	defaultQuiet = 200 * time.Millisecond
	defaultPoll  = 30 * time.Second
)

// How long a look waits for those who go on writing, and how long files may be others at
// each look before that is told, in times of WatchOptions.Quiet.
const (
	maxPutOff = 10
	maxUneasy = 100
)

// WatchOptions say how soon a change is seen.
type WatchOptions struct {
	Quiet time.Duration // without a further event, before the files are read; 0: 200 ms
	Poll  time.Duration // between two looks without any event; 0: 30 s

	deaf bool // takes no events; for tests
}

// Watcher tells that the content of files has changed: that other bytes are there, not
// that a file was touched. It reads nothing but bytes, and hands them on: who is told
// loads them, and keeps what is at work if that fails.
//
// It listens to the file system for all that is passed on the way to the files, so that a
// folder or a link is seen to be exchanged wherever it stands in their paths. It looks by
// itself now and then too, since not every file system tells. Its owner has to Close it.
type Watcher[T content] struct {
	options WatchOptions
	files   files[T]
	reader  *Reader[T]
	changes chan T
	loaded  chan loaded
	notify  *fsnotify.Watcher // nil if the system has none to give
	passed  atomic.Pointer[map[string]bool]
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// content is what a Watcher tells of.
type content interface {
	hash() string // tells it from what was there before
}

// files are what a Watcher looks at.
type files[T content] struct {
	paths  []string
	read   func() T
	failed func(error) T // stands for what could not be read
}

// Change is what a security folder holds since its last change. Who loads that, and
// does not read the folder again, has judged just what the watcher has seen: bytes that
// were there only in between can't stay at work.
type Change struct {
	Folder Folder
	Err    error // of type Faults: the folder can't be read
}

func (c Change) hash() string {
	if c.Err != nil {
		return noHash
	}
	return c.Folder.Hash()
}

// FileChange is what a file holds since its last change.
type FileChange struct {
	Data []byte
	Err  error // the file can't be read
}

func (c FileChange) hash() string {
	if c.Err != nil {
		return noHash
	}
	return HashOf(c.Data)
}

// HashOf returns the hash of a file's content. Equal hashes mean equal content.
func HashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Hashes that stand for no content.
const (
	noHash     = "unreadable"
	uneasyHash = "never the same"
)

// loaded is what the owner of a watcher has read by itself.
type loaded struct {
	hash  string
	heard chan struct{} // closed when the watcher knows
}

// Watch starts watching the security folder dir. Known is the Hash of what is loaded: if
// the folder holds something else already, that is a change.
func Watch(dir, known string, o WatchOptions) *Watcher[Change] {
	paths := []string{dir, filepath.Join(dir, dataLink)}
	for _, f := range securityFiles {
		paths = append(paths, filepath.Join(dir, f.name))
	}
	return watch(files[Change]{
		paths: paths,
		read: func() Change {
			folder, err := ReadFolder(dir)
			return Change{Folder: folder, Err: err}
		},
		failed: func(err error) Change { return Change{Err: unreadable(dir, err)} },
	}, known, o)
}

// WatchFile starts watching the file at path. Known is the HashOf what is loaded.
func WatchFile(path, known string, o WatchOptions) *Watcher[FileChange] {
	return watch(files[FileChange]{
		paths: []string{path},
		read: func() FileChange {
			data, err := ReadFile(path)
			return FileChange{Data: data, Err: err}
		},
		failed: func(err error) FileChange { return FileChange{Err: err} },
	}, known, o)
}

func watch[T content](f files[T], known string, o WatchOptions) *Watcher[T] {
	if o.Quiet <= 0 {
		o.Quiet = defaultQuiet
	}
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	w := &Watcher[T]{options: o, files: f, changes: make(chan T, 1), loaded: make(chan loaded)}
	if !o.deaf {
		if notify, err := fsnotify.NewWatcher(); err == nil { // else polling has to do
			w.notify = notify
		}
	}
	w.reader = NewReader(w.look)
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	w.done.Go(func() { w.run(ctx, known) })
	return w
}

// Changes gets a value after each change. Of changes that nobody took in the meantime
// the last one counts.
func (w *Watcher[T]) Changes() <-chan T { return w.changes }

// Read returns what is there now, for an owner who does not wait for a change.
func (w *Watcher[T]) Read(ctx context.Context) T {
	it, err := w.reader.Read(ctx)
	if err != nil {
		return w.files.failed(err)
	}
	return it
}

// Loaded tells the watcher what its owner has read without waiting for it. Changes are
// told from that on: one from before is dropped, and what was there only for the moment in
// which the owner read it can't stay at work. It must not be called after Close.
func (w *Watcher[T]) Loaded(it T) {
	l := loaded{it.hash(), make(chan struct{})}
	w.loaded <- l
	<-l.heard
}

// Close stops the watcher and waits until it has stopped.
func (w *Watcher[T]) Close() {
	w.stop()
	w.done.Wait()
}

func (w *Watcher[T]) run(ctx context.Context, known string) {
	var events chan fsnotify.Event
	var errs chan error
	if w.notify != nil {
		defer func() { _ = w.notify.Close() }() // nothing to lose
		events, errs = w.notify.Events, w.notify.Errors
	}
	poll := time.NewTicker(w.options.Poll)
	defer poll.Stop()
	next := lookout{Timer: time.NewTimer(0), quiet: w.options.Quiet}
	defer next.Stop()
	seen := sight{known: known, before: known}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			switch {
			case !ok:
				events = nil // the system tells no more: polling has to do
			case w.matters(e):
				next.putOff()
			}
		case _, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			next.putOff() // events were lost
		case <-poll.C:
			next.Reset(0)
		case l := <-w.loaded:
			w.drop()
			seen.known = l.hash
			close(l.heard)
			next.putOff()
		case <-next.C:
			next.begin()
			it := w.Read(ctx)
			if ctx.Err() != nil {
				return
			}
			switch seen.of(it.hash(), maxUneasy*w.options.Quiet) {
			case same:
			case changed:
				w.tell(it)
			case uneasy:
				w.tell(w.files.failed(errUneasy))
				next.putOff()
			case unsettled:
				next.putOff()
			}
		}
	}
}

var errUneasy = errors.New("the content is another one at each look; something writes without end")

// lookout is when to look next.
type lookout struct {
	*time.Timer
	quiet time.Duration
	late  time.Time // the look is put off no further; zero: not put off yet
}

// putOff has the look wait for quiet, but not for ever: who writes all the time must not keep a
// change from being seen.
func (l *lookout) putOff() {
	if l.late.IsZero() {
		l.late = time.Now().Add(maxPutOff * l.quiet)
	}
	l.Reset(min(l.quiet, time.Until(l.late)))
}

// begin begins the look that was waited for.
func (l *lookout) begin() { l.late = time.Time{} }

// sight is what the looks of a watcher have seen.
type sight struct {
	known  string    // what its owner has, or was told of
	before string    // what the last look saw
	since  time.Time // the looks see something else each; zero: they do not
}

// seeing is what one more look means.
type seeing int

const (
	same      seeing = iota // what is known
	unsettled               // something else, maybe half written: what counts is what stays
	changed                 // something else, and it stays
	uneasy                  // something else at each look for too long
)

// of takes what a look has seen, and forbears with what does not settle for so long.
func (s *sight) of(hash string, most time.Duration) seeing {
	settled := hash == s.before
	s.before = hash
	switch {
	case hash == s.known:
		s.since = time.Time{}
		return same
	case settled:
		s.known, s.since = hash, time.Time{}
		return changed
	case s.since.IsZero():
		s.since = time.Now()
	case s.known != uneasyHash && time.Since(s.since) > most:
		s.known = uneasyHash // so that whatever stays is told, be it what was there before
		return uneasy
	}
	return unsettled
}

// tell puts a change in the place of one that nobody took yet.
func (w *Watcher[T]) tell(it T) {
	w.drop()
	w.changes <- it // there is room: nobody else sends
}

// drop takes back a change that nobody took yet.
func (w *Watcher[T]) drop() {
	select {
	case <-w.changes:
	default:
	}
}

// look returns what is there. It listens first, so that what is put there later is heard of.
func (w *Watcher[T]) look() T {
	if w.notify != nil {
		w.listen()
	}
	return w.files.read()
}

// listen asks the system for events of all that is passed on the way to the files. It asks
// anew each time: a folder may be another one by the same name. Where it is refused,
// polling has to do.
func (w *Watcher[T]) listen() {
	for _, old := range w.notify.WatchList() {
		_ = w.notify.Remove(old) // gone already, with its folder
	}
	for range maxDetours {
		passed := w.ways()
		for step := range passed {
			_ = w.notify.Add(filepath.Dir(step))
		}
		w.passed.Store(&passed)
		if maps.Equal(passed, w.ways()) {
			return
		}
	}
}

// maxDetours is how often listen tries to find ways that do not change while it asks.
const maxDetours = 3

// ways returns all that is passed on the way to the files.
func (w *Watcher[T]) ways() map[string]bool {
	passed := map[string]bool{}
	for _, path := range w.files.paths {
		for _, step := range way(path) {
			passed[step] = true
		}
	}
	return passed
}

// matters reports whether an event is about something on the way to the files. Of a folder the
// system tells all that happens in it.
func (w *Watcher[T]) matters(e fsnotify.Event) bool {
	passed := w.passed.Load()
	return passed == nil || (*passed)[filepath.Clean(e.Name)] // below the root it begins with "//"
}
