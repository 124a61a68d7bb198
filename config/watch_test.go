package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// By events only, and by looking only.
var (
	byEvents = WatchOptions{Quiet: 5 * time.Millisecond, Poll: time.Hour}
	byPoll   = WatchOptions{Quiet: 5 * time.Millisecond, Poll: 5 * time.Millisecond, deaf: true}
)

// watched is a copy of the sample folder, and who watches it.
type watched struct {
	*testing.T
	dir string
	w   *Watcher[Change]
}

func watchCopy(t *testing.T, dir string, o WatchOptions) watched {
	t.Helper()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "security"))); err != nil {
		t.Fatal(err)
	}
	folder, err := ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := Watch(dir, folder.Hash(), o)
	t.Cleanup(w.Close)
	return watched{T: t, dir: dir, w: w}
}

// write puts a file there as a whole, so that no look finds half of it.
func (w watched) write(name, text string) {
	w.Helper()
	half := filepath.Join(w.dir, ".half")
	if err := os.WriteFile(half, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	if err := os.Rename(half, filepath.Join(w.dir, name)); err != nil {
		w.Fatal(err)
	}
}

// changed wants a change that holds what is in the folder; half of it may come before.
func (w watched) changed(why string) {
	w.Helper()
	now, err := ReadFolder(w.dir)
	timeout := time.After(10 * time.Second)
	for {
		select {
		case c := <-w.w.Changes():
			if (c.Err == nil) == (err == nil) && c.Folder.Hash() == now.Hash() {
				return
			}
		case <-timeout:
			w.Fatalf("%s: no change with what is there is seen", why)
		}
	}
}

// unchanged gives a false alarm the time to show.
func (w watched) unchanged(why string) {
	w.Helper()
	time.Sleep(50 * time.Millisecond) // several looks
	select {
	case <-w.w.Changes():
		w.Fatalf("%s: a change is seen", why)
	default:
	}
}

func TestWatch(t *testing.T) {
	for name, o := range map[string]WatchOptions{"events": byEvents, "poll": byPoll} {
		t.Run(name, func(t *testing.T) {
			w := watchCopy(t, t.TempDir(), o)
			w.unchanged("nothing happened")
			const text = "_meta: {type: tenants, config_version: 2}\n"
			w.write("tenants.yml", text+"# a comment\n")
			w.changed("a file was written")
			w.write("tenants.yml", text+"# a comment\n")
			w.unchanged("the same bytes were written")
			w.write("notes.txt", "not a file of the folder")
			w.unchanged("a file that does not count was written")
			if err := os.Rename(filepath.Join(w.dir, "audit.yml"), filepath.Join(w.dir, "audit.old")); err != nil {
				t.Fatal(err)
			}
			w.changed("a file was removed")
			if err := os.WriteFile(filepath.Join(w.dir, "tenants.yml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			w.changed("a file was written in place")
			tomorrow := time.Now().Add(24 * time.Hour)
			if err := os.Chtimes(filepath.Join(w.dir, "tenants.yml"), tomorrow, tomorrow); err != nil {
				t.Fatal(err)
			}
			w.unchanged("a file got a time that is still to come")
			w.write("tenants.yml", text+"# another comment\n")
			w.changed("a file of the past took its place")
		})
	}
}

// TestWatchKnown holds that nothing is missed between loading and watching.
func TestWatchKnown(t *testing.T) {
	dir := filepath.Join("testdata", "security")
	w := Watch(dir, "another hash", byEvents)
	defer w.Close()
	watched{T: t, dir: dir, w: w}.changed("the folder was another one from the start")
}

// TestWatchLast: who takes a change late gets what the folder holds now.
func TestWatchLast(t *testing.T) {
	w := Watcher[Change]{changes: make(chan Change, 1)}
	for _, dir := range []string{"first", "last"} {
		w.tell(Change{Folder: Folder{Dir: dir}})
	}
	if c := <-w.Changes(); c.Folder.Dir != "last" || len(w.Changes()) > 0 {
		t.Errorf("got %q, and %d more; want the last change alone", c.Folder.Dir, len(w.Changes()))
	}
}

// TestWatchLoaded: what the owner has read by itself is no change, one from before it is
// taken back, and what the folder holds instead is one.
func TestWatchLoaded(t *testing.T) {
	w := watchCopy(t, t.TempDir(), byEvents)
	read := func() Change {
		t.Helper()
		folder, err := ReadFolder(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		return Change{Folder: folder}
	}
	const text = "_meta: {type: tenants, config_version: 2}\n"
	w.write("tenants.yml", text+"# one\n")
	one := read()
	for len(w.w.Changes()) == 0 {
		time.Sleep(time.Millisecond)
	}
	w.write("tenants.yml", text+"# two\n")
	w.w.Loaded(read())
	w.unchanged("the owner has read what is there, and a change from before is gone")
	w.w.Loaded(one)
	w.changed("the owner has read what is there no more")
	_, err := ReadFolder(filepath.Join(w.dir, "none"))
	w.w.Loaded(Change{Err: err})
	w.changed("the owner has found no folder, and there is one")
}

func TestWatchCloses(t *testing.T) {
	w := Watch(t.TempDir(), "", byEvents)
	w.Close()
	w.Close() // twice is harmless
}
