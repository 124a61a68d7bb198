package config

import (
	"context"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Defaults of WatchOptions.
const (
	defaultQuiet = 200 * time.Millisecond
	defaultPoll  = 30 * time.Second
)

// WatchOptions say how soon a change is seen.
type WatchOptions struct {
	Quiet time.Duration // without a further event, before the files are read; 0: 200 ms
	Poll  time.Duration // between two looks without any event; 0: 30 s

	deaf bool // takes no events; for tests
}

// Watcher tells that the content of a security folder has changed: that other
// bytes are there, not that a file was touched. It reads nothing but bytes, and
// hands them on: who is told loads them, and keeps what is at work if that fails.
//
// It listens to the file system and looks by itself now and then, since not every
// file system tells, and a folder that is exchanged as a whole takes its watch
// with it. Its owner has to Close it.
type Watcher struct {
	dir     string
	options WatchOptions
	reader  *Reader[Change]
	changes chan Change
	loaded  chan loaded
	notify  *fsnotify.Watcher // nil if the system has none to give
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// Change is what a security folder holds since its last change. Who loads that, and
// does not read the folder again, has judged just what the watcher has seen: bytes that
// were there only in between can't stay at work.
type Change struct {
	Folder Folder
	Err    error // of type Faults: the folder can't be read
}

// hash tells what a folder holds from what another one does.
func (c Change) hash() string {
	if c.Err != nil {
		return noHash
	}
	return c.Folder.Hash()
}

// loaded is what the owner of a watcher has read by itself.
type loaded struct {
	hash  string
	heard chan struct{} // closed when the watcher knows
}

// Watch starts watching dir. Known is the Hash of what is loaded: if the folder
// holds something else already, that is a change.
func Watch(dir, known string, o WatchOptions) *Watcher {
	if o.Quiet <= 0 {
		o.Quiet = defaultQuiet
	}
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	w := &Watcher{dir: dir, options: o, changes: make(chan Change, 1), loaded: make(chan loaded)}
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
func (w *Watcher) Changes() <-chan Change { return w.changes }

// Read returns what is in the folder now, for an owner who does not wait for a change.
func (w *Watcher) Read(ctx context.Context) Change {
	c, err := w.reader.Read(ctx)
	if err != nil {
		return Change{Err: unreadable(w.dir, err)}
	}
	return c
}

// Loaded tells the watcher what its owner has read without waiting for it. Changes are
// told from that on: one from before is dropped, and what was there only for the moment in
// which the owner read it can't stay at work. It must not be called after Close.
func (w *Watcher) Loaded(c Change) {
	l := loaded{c.hash(), make(chan struct{})}
	w.loaded <- l
	<-l.heard
}

// Close stops the watcher and waits until it has stopped.
func (w *Watcher) Close() {
	w.stop()
	w.done.Wait()
}

func (w *Watcher) run(ctx context.Context, known string) {
	var events chan fsnotify.Event
	var errs chan error
	if w.notify != nil {
		defer func() { _ = w.notify.Close() }() // nothing to lose
		events, errs = w.notify.Events, w.notify.Errors
	}
	poll := time.NewTicker(w.options.Poll)
	defer poll.Stop()
	quiet := time.NewTimer(0)
	defer quiet.Stop()
	before := known // what the last look saw
	for {
		select {
		case <-ctx.Done():
			return
		case <-events:
			quiet.Reset(w.options.Quiet)
		case <-errs: // events were lost
			quiet.Reset(w.options.Quiet)
		case <-poll.C:
			quiet.Reset(0)
		case l := <-w.loaded:
			w.drop()
			known = l.hash
			close(l.heard)
			quiet.Reset(w.options.Quiet)
		case <-quiet.C:
			change := w.Read(ctx)
			if ctx.Err() != nil {
				return
			}
			seen := change.hash()
			switch {
			case seen == known:
			case seen == before:
				known = seen
				w.tell(change)
			default: // may be half written: what counts is what stays
				quiet.Reset(w.options.Quiet)
			}
			before = seen
		}
	}
}

// tell puts a change in the place of one that nobody took yet.
func (w *Watcher) tell(c Change) {
	w.drop()
	w.changes <- c // there is room: nobody else sends
}

// drop takes back a change that nobody took yet.
func (w *Watcher) drop() {
	select {
	case <-w.changes:
	default:
	}
}

// noHash stands for the hash of a folder that can't be read.
const noHash = "unreadable"

// look returns what is in the folder.
func (w *Watcher) look() Change {
	if w.notify != nil {
		// Again each time: the folder may be another one by the same name. It fails if
		// there is none, which is seen below.
		_ = w.notify.Add(w.dir)
	}
	folder, err := ReadFolder(w.dir)
	return Change{Folder: folder, Err: err}
}
