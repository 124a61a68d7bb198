package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// disk is a folder in which policies, links and folders are put and exchanged.
type disk struct {
	*testing.T
	root string
}

func (d disk) path(name string) string { return filepath.Join(d.root, name) }

func (d disk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// policy makes a folder with the sample, which the mark tells from others.
func (d disk) policy(dir, mark string) {
	d.Helper()
	d.must(os.CopyFS(d.path(dir), os.DirFS(filepath.Join("testdata", "security"))))
	d.file(filepath.Join(dir, "tenants.yml"), "_meta: {type: tenants, config_version: 2}\n# "+mark+"\n")
}

// file puts a file there as a whole.
func (d disk) file(name, text string) {
	d.Helper()
	half := d.path(".half")
	d.must(os.WriteFile(half, []byte(text), 0o600))
	d.must(os.Rename(half, d.path(name)))
}

func (d disk) move(from, to string) { d.Helper(); d.must(os.Rename(d.path(from), d.path(to))) }
func (d disk) remove(name string)   { d.Helper(); d.must(os.RemoveAll(d.path(name))) }

// link puts a link there, in the place of another one if there is one.
func (d disk) link(target, name string) {
	d.Helper()
	d.must(os.Symlink(target, d.path(".link")))
	d.must(os.Rename(d.path(".link"), d.path(name)))
}

// configMap makes a folder whose files are links through one, as Kubernetes does.
func (d disk) configMap(dir, generation string) {
	d.Helper()
	d.link(generation, filepath.Join(dir, dataLink))
	for _, f := range securityFiles {
		d.link(filepath.Join(dataLink, f.name), filepath.Join(dir, f.name))
	}
}

// TestWatchShapes: whatever is exchanged on the way to the files is heard of, and what
// stands there then is listened to as what stood there before.
func TestWatchShapes(t *testing.T) {
	f := func(name, dir string, build func(disk), steps ...func(disk)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			d := disk{t, t.TempDir()}
			build(d)
			known, _ := ReadFolder(d.path(dir)) // none there is something too
			w := watched{T: t, dir: d.path(dir), w: Watch(d.path(dir), known.Hash(), byEvents)}
			defer w.w.Close()
			w.settle()
			for i, step := range steps {
				step(d)
				w.changed(name + ": step " + string(rune('1'+i)))
			}
		})
	}
	const another = "_meta: {type: tenants, config_version: 2}\n# another\n"
	change := func(name string) func(disk) { return func(d disk) { d.Helper(); d.file(name, another) } }

	f("a file", "s",
		func(d disk) { d.policy("s", "1") },
		change("s/tenants.yml"),
		func(d disk) { d.remove("s/tenants.yml") },
		change("s/tenants.yml"))
	f("the folder is replaced", "s",
		func(d disk) { d.policy("s", "1"); d.policy("next", "2") },
		func(d disk) { d.move("s", "old"); d.move("next", "s") },
		change("s/tenants.yml"))
	f("the folder is removed and put back", "s",
		func(d disk) { d.policy("s", "1") },
		func(d disk) { d.remove("s") },
		func(d disk) { d.policy("s", "2") },
		change("s/tenants.yml"))
	f("the parent is replaced", "a/b/s",
		func(d disk) { d.policy("a/b/s", "1"); d.policy("next/b/s", "2") },
		func(d disk) { d.move("a", "old"); d.move("next", "a") },
		change("a/b/s/tenants.yml"))
	f("the parents are removed and made again", "a/b/s",
		func(d disk) { d.policy("a/b/s", "1") },
		func(d disk) { d.remove("a") },
		func(d disk) { d.policy("a/b/s", "2") },
		change("a/b/s/tenants.yml"))
	f("the folder is a link", "s",
		func(d disk) { d.policy("one", "1"); d.policy("two", "2"); d.link("one", "s") },
		func(d disk) { d.link("two", "s") },
		change("two/tenants.yml"),
		func(d disk) { d.link(d.path("one"), "s") },
		change("one/tenants.yml"))
	f("the folder is a link to a link", "s",
		func(d disk) { d.policy("one", "1"); d.policy("two", "2"); d.link("one", "hop"); d.link("hop", "s") },
		func(d disk) { d.link("two", "hop") },
		change("two/tenants.yml"))
	f("a parent is a link", "a/s",
		func(d disk) { d.policy("one/s", "1"); d.policy("two/s", "2"); d.link("one", "a") },
		func(d disk) { d.link("two", "a") },
		change("two/s/tenants.yml"))
	f("a ConfigMap", "s",
		func(d disk) { d.policy("s/..1", "1"); d.policy("s/..2", "2"); d.configMap("s", "..1") },
		func(d disk) { d.link("..2", "s/..data"); d.remove("s/..1") },
		func(d disk) { d.policy("s/..3", "3"); d.link("..3", "s/..data") },
		func(d disk) { d.remove("s/..data") },
		func(d disk) { d.link("..3", "s/..data") })
	f("a file is a link", "s",
		func(d disk) {
			d.policy("s", "1")
			d.must(os.Mkdir(d.path("far"), 0o700))
			d.file("far/t.yml", another)
			d.link("../far/t.yml", "s/tenants.yml")
		},
		func(d disk) { d.file("far/t.yml", another+"# more\n") },
		func(d disk) { d.must(os.WriteFile(d.path("far/t.yml"), []byte(another), 0o600)) })
	f("the folder comes later", "a/s",
		func(disk) {},
		func(d disk) { d.policy("a/s", "1") },
		change("a/s/tenants.yml"))
}

// settle waits for the first look, after which the watcher listens.
func (w watched) settle() {
	w.Helper()
	w.w.Read(w.Context())
	select {
	case <-w.w.Changes(): // that there is nothing
	case <-time.After(50 * time.Millisecond):
	}
}

// TestWay: a way goes as the system goes it.
func TestWay(t *testing.T) {
	d := disk{t, t.TempDir()}
	root, err := filepath.EvalSymlinks(d.root)
	d.must(err)
	d.root = root
	d.must(os.MkdirAll(d.path("far/in"), 0o700))
	d.file("far/x", "")
	d.link("far/in", "hop")
	d.link("../far/./x", "far/y")
	d.link("round", "round")
	t.Chdir(d.path("hop"))
	f := func(path string, want ...string) {
		t.Helper()
		got := way(path)
		for len(got) > 0 && len(got[0]) <= len(root) {
			got = got[1:] // on the way to the test's own folder
		}
		for i := range want {
			want[i] = d.path(want[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("the way to %q passes %q; want %q", path, got, want)
		}
	}
	f(d.path("far/x"), "far", "far/x")
	f(d.path("far/none/y"), "far", "far/none")
	f(d.path("far/x/y"), "far", "far/x", "far/x/y")
	f(d.path("far/y"), "far", "far/y", "far", "far/x")
	f("../x", "hop", "far", "far/in", "far/x") // not of the folder above the link
	f(d.path("far")+"//.///x", "far", "far/x")
	if got := way(d.path("round")); len(got) > 2*maxLinks+20 {
		t.Errorf("a circle is followed for %d steps", len(got))
	}
}

// TestWatchFile: a file alone is followed as a folder is.
func TestWatchFile(t *testing.T) {
	d := disk{t, t.TempDir()}
	d.must(os.MkdirAll(d.path("one"), 0o700))
	d.must(os.MkdirAll(d.path("two"), 0o700))
	d.file("one/guard.yml", "a: 1\n")
	d.file("two/guard.yml", "a: 2\n")
	d.link("one", "etc")
	w := WatchFile(d.path("etc/guard.yml"), HashOf([]byte("a: 1\n")), byEvents)
	defer w.Close()
	w.Read(t.Context())
	f := func(why, want string) {
		t.Helper()
		late := time.After(10 * time.Second)
		for {
			select {
			case c := <-w.Changes():
				if string(c.Data) == want && (c.Err != nil) == (want == "") {
					return
				}
			case <-late:
				t.Fatalf("%s: no change to %q is seen", why, want)
			}
		}
	}
	d.file("one/guard.yml", "a: 3\n")
	f("another file took its place", "a: 3\n")
	d.must(os.WriteFile(d.path("one/guard.yml"), []byte("a: 4\n"), 0o600))
	f("it was written in place", "a: 4\n")
	d.link("two", "etc")
	f("the link to its folder was swapped", "a: 2\n")
	d.remove("two/guard.yml")
	f("it was removed", "")
	d.move("one/guard.yml", "two/guard.yml")
	f("it is back", "a: 4\n")
}

// TestLookIsNotPutOffForEver: who goes on writing delays a look and does not prevent it.
func TestLookIsNotPutOffForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := lookout{Timer: time.NewTimer(time.Hour), quiet: time.Second}
		for round := range 3 {
			began := time.Now()
			for looked := false; !looked; {
				next.putOff()
				select {
				case <-next.C:
					looked = true
				case <-time.After(next.quiet / 2):
				}
			}
			if waited := time.Since(began); waited < next.quiet || waited > maxPutOff*next.quiet {
				t.Errorf("round %d: the look came after %v; want %d times %v at most", round, waited, maxPutOff, next.quiet)
			}
			next.begin()
		}
	})
}

// TestWatchWithoutEvents: a system that stops telling leaves the looks, and no loop.
func TestWatchWithoutEvents(t *testing.T) {
	d := disk{t, t.TempDir()}
	d.policy("s", "1")
	known, err := ReadFolder(d.path("s"))
	d.must(err)
	w := watched{T: t, dir: d.path("s"), w: Watch(d.path("s"), known.Hash(), WatchOptions{Quiet: 5 * time.Millisecond, Poll: 20 * time.Millisecond})}
	defer w.w.Close()
	w.settle()
	d.must(w.w.notify.Close())
	d.file("s/tenants.yml", "_meta: {type: tenants, config_version: 2}\n# another\n")
	w.changed("events have ended")
}

// TestSight: what counts is what stays, and what does not stay for too long is told once.
func TestSight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sight{known: "a", before: "a"}
		f := func(hash string, want seeing) {
			t.Helper()
			if got := s.of(hash, time.Minute); got != want {
				t.Errorf("%q means %d; want %d", hash, got, want)
			}
		}
		f("a", same)
		f("b", unsettled)
		f("b", changed)
		f("c", unsettled)
		f("b", same)
		f("c", unsettled)
		time.Sleep(2 * time.Minute)
		f("d", uneasy)
		f("e", unsettled) // told once
		time.Sleep(2 * time.Minute)
		f("b", unsettled)
		f("b", changed) // that it has settled
		f("c", unsettled)
		f("c", changed)
	})
}
