package source

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"guard/indexresolver"
)

// forbid has the cluster refuse its state as a managed service does, but not with status 0.
func forbid(c *cluster, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = func(target string) (int, string, bool) {
		return status, `{"Message":"not allowed"}`, status != 0 && strings.HasPrefix(target, "/_cluster/state")
	}
}

// world gives the fake cluster some of all there is.
func world(c *cluster) {
	c.put("b", "al", "one")
	c.indices["b"].Aliases["al"] = `{"filter":{"term":{"f":1}},"search_routing":"1"}`
	c.put("c", "al")
	c.indices["c"].State = "close"
	c.put(".ds-d-1")
	c.put(".ds-d-2")
	c.indices[".ds-d-1"].Hidden = "true"
	c.streams["d"] = []string{".ds-d-1", ".ds-d-2"}
	c.put("s")
	c.indices["s"].Sort = `{"field":["f","g"]}`
	c.indices["s"].Analysis = `{"analyzer":{"own":{"type":"custom"}}}`
}

func TestListsTellWhatTheStateTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.change(func() { world(c) })
		whole := run(t, c, Config{})
		for _, status := range []int{400, 401, 403, 404, 405, 501} {
			forbid(c, status)
			s := run(t, c, Config{})
			if !s.State().SameNames(whole.State()) || !s.Stats().Lists {
				t.Errorf("status %d: the names are %q, %+v; want %q", status, namesOf(s.State()), s.Stats(), namesOf(whole.State()))
			}
		}
		forbid(c, 503)
		if s := run(t, c, Config{}); !s.State().Empty() || s.Stats().Lists || s.Stats().Errors == 0 {
			t.Errorf("a cluster that can't serve: %q, %+v", namesOf(s.State()), s.Stats())
		}
	})
}

// TestListsAreWatched: a change is found within a period, whatever the order in which the
// lists come, and what has not changed is no new state.
func TestListsAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.change(func() { world(c) })
		forbid(c, 403)
		s := New(c, Config{Poll: time.Second})
		var told []uint64
		s.OnChange(func(state *indexresolver.State) { told = append(told, state.Generation) })
		start(t, s)
		for range 60 {
			time.Sleep(time.Second)
			if age := s.State().Age(time.Now()); age > 1500*time.Millisecond {
				t.Fatalf("the age is %v while the lists are compared each second", age)
			}
		}
		c.change(func() { c.put("new") })
		time.Sleep(1500 * time.Millisecond)
		checkNames(t, s, ".ds-d-1 .ds-d-2 a al b c d new one s")
		c.change(func() { c.indices["new"].Mapping = `{"_doc":{"properties":{"x":{"type":"long"}}}}` })
		state, err := s.Refresh(t.Context())
		if raw, _, _ := state.Mapping("new"); err != nil || !strings.Contains(string(raw), `"x"`) {
			t.Errorf("the mapping is %s, %v; want the new one at once", raw, err)
		}
		if len(told) != 3 || s.Stats() != (Stats{Readings: 3, Lists: true}) {
			t.Errorf("the states %d were told of, %+v; want 3, each read once, and no error", told, s.Stats())
		}
	})
}

// TestStateIsTriedAgain: once the state may be read, it is, and counts again; then the lists
// once more.
func TestStateIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		turns := make(chan string, 10)
		s := New(c, Config{OnLists: func(refused error) { turns <- fmt.Sprint(refused != nil) }})
		f := func(status int, name string, lists bool) {
			t.Helper()
			forbid(c, status)
			c.change(func() { c.put(name) })
			time.Sleep(2 * time.Minute)
			if _, ok := s.State().Lookup(name); !ok || s.Stats().Lists != lists {
				t.Errorf("status %d: the names are %q, %+v", status, namesOf(s.State()), s.Stats())
			}
		}
		forbid(c, 403)
		start(t, s)
		f(403, "x1", true)
		f(0, "x2", false)
		c.change(func() { c.put("y") })
		if state, err := s.Refresh(t.Context()); err != nil || state.Version != c.version {
			t.Errorf("the state has the version %d, %v; want the cluster's own, %d", state.Version, err, c.version)
		}
		f(403, "x3", true)
		f(0, "x4", false)
		for i, want := range []string{"true", "false", "true", "false"} {
			select {
			case got := <-turns:
				if got != want {
					t.Errorf("turn %d was told as %s; want %s", i, got, want)
				}
			case <-time.After(time.Hour): // of the test's own time
				t.Errorf("turn %d was not told; want %s", i, want)
			}
		}
	})
}

// TestListsOfDifferentMoments: lists that do not fit together, or differ each time, are no
// state.
func TestListsOfDifferentMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := func(what, target, answer string, want error) {
			t.Helper()
			c := newCluster(t)
			c.change(func() { world(c) })
			c.answer = func(asked string) (int, string, bool) {
				if strings.HasPrefix(asked, "/_cluster/state") {
					return 403, "", true
				}
				return 200, answer, strings.HasPrefix(asked, target)
			}
			s := run(t, c, Config{})
			if _, err := s.Refresh(t.Context()); !errors.Is(err, want) || !s.State().Empty() {
				t.Errorf("%s: %v, names %q; want %v", what, err, namesOf(s.State()), want)
			}
		}
		f("an index without mapping", "/_mapping", `{"a":{"mappings":{}}}`, errMixed)
		f("an index that is not named", "/_settings", `{"z":{"settings":{}}}`, errMixed)
		f("an alias of none", "/_alias", `{"z":{"aliases":{"al":{}}}}`, errMixed)
		f("aliases that are not told", "/_alias", `{}`, errMixed)
		f("no stream", "/_data_stream", `{"data_streams":[]}`, errMixed)
		f("names of a node that is behind", "/_resolve", `{"indices":[],"data_streams":[]}`, errMixed)
	})
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		forbid(c, 403)
		var n atomic.Int64
		c.before = func(target string) {
			if target == resolveTarget {
				c.change(func() { c.put(fmt.Sprintf("new-%d", n.Add(1))) })
			}
		}
		s := run(t, c, Config{})
		if _, err := s.Refresh(t.Context()); !errors.Is(err, errUnsteady) || !s.State().Empty() {
			t.Errorf("Refresh says %v; want %v", err, errUnsteady)
		}
	})
}
