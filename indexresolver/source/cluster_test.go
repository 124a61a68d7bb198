package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// cluster plays the part of a node: its answers have the form that was recorded of
// real ones, and its long poll wakes and times out as theirs.
type cluster struct {
	t testing.TB

	mu       sync.Mutex
	uuid     string
	term     uint64
	version  uint64 // of the state
	metadata uint64 // what is waited for
	indices  map[string]*fakeIndex
	streams  map[string][]string
	changed  chan struct{} // closed by the next change
	asked    map[string]int

	fail   error                                                   // of every answer
	answer func(target string) (status int, body string, own bool) // before all else
	before func(target string)                                     // called before each answer, without the lock
	delay  time.Duration                                           // of each answer
}

type fakeIndex struct {
	State, Hidden, Mapping string
	Sort                   string            // JSON of index.sort, if there is any
	Analysis               string            // JSON of index.analysis
	Aliases                map[string]string // name → JSON
	aliasesVersion         uint64
}

func newCluster(t testing.TB) *cluster {
	c := &cluster{
		t: t, uuid: "cluster-1", term: 1, version: 10, metadata: 37, indices: map[string]*fakeIndex{},
		streams: map[string][]string{}, changed: make(chan struct{}), asked: map[string]int{},
	}
	c.change(func() { c.put("a") })
	return c
}

// change alters the metadata as one step.
func (c *cluster) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	c.version++
	c.metadata++
	close(c.changed)
	c.changed = make(chan struct{})
}

// move changes the state without its metadata, as a moving shard does.
func (c *cluster) move() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
}

func (c *cluster) put(name string, aliases ...string) {
	x := &fakeIndex{State: "open", Mapping: `{"_doc":{"properties":{}}}`, Aliases: map[string]string{}, aliasesVersion: c.version + 1}
	for _, a := range aliases {
		x.Aliases[a] = "{}"
	}
	c.indices[name] = x
}

func (c *cluster) count(prefix string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for target, k := range c.asked {
		if strings.HasPrefix(target, prefix) {
			n += k
		}
	}
	return n
}

// Stream hands over an answer in pieces, as a socket does.
func (c *cluster) Stream(ctx context.Context, method, target string, read func(int, io.Reader) error) error {
	status, body, err := c.serve(ctx, method, target)
	if err != nil {
		return err
	}
	return read(status, iotest.HalfReader(bytes.NewReader(body)))
}

func (c *cluster) serve(ctx context.Context, method, target string) (int, []byte, error) {
	if method != "GET" {
		c.t.Errorf("method %s; the state is only read", method)
	}
	if c.delay > 0 {
		time.Sleep(c.delay)
	}
	c.mu.Lock()
	c.asked[target]++
	fail, answer, before := c.fail, c.answer, c.before
	c.mu.Unlock()
	if before != nil {
		before(target)
	}
	if fail != nil {
		return 0, nil, fail
	}
	if answer != nil {
		if status, body, own := answer(target); own {
			return status, []byte(body), nil
		}
	}
	path, query, _ := strings.Cut(target, "?")
	params, err := url.ParseQuery(query)
	if err != nil {
		c.t.Errorf("target %q: %v", target, err)
	}
	if params.Has("wait_for_metadata_version") {
		return c.wait(ctx, params)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch path {
	case "/":
		return 200, fmt.Appendf(nil, `{"cluster_uuid":%q,"version":{"distribution":"opensearch","number":"2.19.4"}}`, c.uuid), nil
	case "/_cluster/state/version":
		return 200, []byte("{" + c.stamp() + "}"), nil
	case "/_resolve/index/*", "/_mapping", "/_settings/index.uuid,index.hidden,index.sort.field*,index.analysis.analyzer.*", "/_data_stream":
		return 200, []byte(c.list(path)), nil
	case "/_alias":
		return 200, []byte(c.aliases()), nil
	case "/_cluster/state/version,metadata":
		return 200, []byte(c.state()), nil
	}
	c.t.Errorf("unknown target %q", target)
	return 404, nil, nil
}

const nullPointer = `{"error":{"root_cause":[{"type":"null_pointer_exception","reason":"…"}],"type":"null_pointer_exception","reason":"…"},"status":500}`

func (c *cluster) wait(ctx context.Context, params url.Values) (int, []byte, error) {
	wanted, err1 := strconv.ParseUint(params.Get("wait_for_metadata_version"), 10, 64)
	timeout, err2 := time.ParseDuration(params.Get("wait_for_timeout"))
	if err1 != nil || err2 != nil {
		c.t.Errorf("parameters %v", params)
	}
	over := time.After(timeout)
	for {
		c.mu.Lock()
		reached, changed, stamp := c.metadata >= wanted, c.changed, c.stamp()
		c.mu.Unlock()
		if reached {
			return 200, []byte("{" + stamp + "}"), nil
		}
		select {
		case <-changed:
		case <-over:
			return 500, []byte(nullPointer), nil
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

func (c *cluster) stamp() string {
	return fmt.Sprintf(`"cluster_name":"x","cluster_uuid":%q,"version":%d,"state_uuid":"s%d-%d"`, c.uuid, c.version, c.term, c.version)
}

func (c *cluster) aliases() string {
	var parts []string
	for name, x := range c.indices {
		var list []string
		for alias, details := range x.Aliases {
			list = append(list, fmt.Sprintf("%q:%s", alias, details))
		}
		parts = append(parts, fmt.Sprintf(`%q:{"aliases":{%s}}`, name, strings.Join(list, ",")))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// list returns one of the lists that tell what the state tells, in any order.
func (c *cluster) list(path string) string {
	var parts, streams, full []string
	for name, x := range c.indices {
		aliases, err := json.Marshal(append([]string{}, slices.Collect(maps.Keys(x.Aliases))...))
		if err != nil {
			c.t.Error(err)
		}
		switch path {
		case "/_resolve/index/*":
			parts = append(parts, fmt.Sprintf(`{"name":%q,"aliases":%s,"attributes":[%q]}`, name, aliases, strings.Replace(x.State, "close", "closed", 1)))
		case "/_mapping":
			_, mapping, _ := strings.Cut(x.Mapping, ":")
			if mapping = strings.TrimSuffix(mapping, "}"); mapping == "" {
				mapping = "{}"
			}
			parts = append(parts, fmt.Sprintf(`%q:{"mappings":%s}`, name, mapping))
		default:
			sort := ""
			if x.Sort != "" {
				sort = `,"sort":` + x.Sort
			}
			if x.Analysis != "" {
				sort += `,"analysis":` + x.Analysis
			}
			parts = append(parts, fmt.Sprintf(`%q:{"settings":{"index":{"hidden":%q,"uuid":"u-%s"%s}}}`, name, x.Hidden, name, sort))
		}
	}
	for name, list := range c.streams {
		members, err := json.Marshal(list)
		if err != nil {
			c.t.Error(err)
		}
		streams = append(streams, fmt.Sprintf(`{"name":%q,"backing_indices":%s}`, name, members))
		full = append(full, fmt.Sprintf(`{"name":%q,"indices":[{"index_name":"%s"}]}`, name, strings.Join(list, `"},{"index_name":"`)))
	}
	switch path {
	case "/_resolve/index/*":
		return fmt.Sprintf(`{"indices":[%s],"aliases":[],"data_streams":[%s]}`, strings.Join(parts, ","), strings.Join(streams, ","))
	case "/_data_stream":
		return strings.ReplaceAll(fmt.Sprintf(`{"data_streams":[%s]}`, strings.Join(full, ",")), `\"`, `"`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (c *cluster) state() string {
	var indices, streams []string
	for name, x := range c.indices {
		aliases, err := json.Marshal(append([]string{}, slices.Collect(maps.Keys(x.Aliases))...))
		if err != nil {
			c.t.Error(err)
		}
		sort := ""
		if x.Sort != "" {
			sort = `,"sort":` + x.Sort
		}
		if x.Analysis != "" {
			sort += `,"analysis":` + x.Analysis
		}
		indices = append(indices, fmt.Sprintf(
			`%q:{"version":3,"aliases_version":%d,"state":%q,"settings":{"index":{"hidden":%q,"number_of_shards":"1","uuid":"u-%s"%s}},"mappings":%s,"aliases":%s}`,
			name, x.aliasesVersion, x.State, x.Hidden, name, sort, x.Mapping, aliases))
	}
	for name, list := range c.streams {
		var members []string
		for _, x := range list {
			members = append(members, fmt.Sprintf(`{"index_name":%q,"index_uuid":"u"}`, x))
		}
		streams = append(streams, fmt.Sprintf(`%q:{"name":%q,"timestamp_field":{"name":"@timestamp"},"indices":[%s],"generation":1}`, name, name, strings.Join(members, ",")))
	}
	return fmt.Sprintf(`{%s,"metadata":{"cluster_uuid":%q,"cluster_coordination":{"term":%d},"templates":{},"indices":{%s},"data_stream":{"data_stream":{%s}}}}`,
		c.stamp(), c.uuid, c.term, strings.Join(indices, ","), strings.Join(streams, ","))
}
