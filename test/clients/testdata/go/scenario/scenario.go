// Package scenario is what the programs for the Go clients share: the calls that are
// made, in which order, and what is printed of them.
package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"sync"
)

// What the program is told.
var (
	URL      = os.Getenv("CLIENT_URL")
	User     = os.Getenv("CLIENT_USER")
	Password = os.Getenv("CLIENT_PASSWORD")
	Index    = os.Getenv("CLIENT_INDEX")
	read     = os.Getenv("CLIENT_MODE") == "read"
)

// The bodies of the calls.
const (
	Mapping = `{"mappings":{"properties":{"n":{"type":"integer"},"tag":{"type":"keyword"},"text":{"type":"text"}}}}`
	Search  = `{"query":{"bool":{"must":[{"match":{"text":"common"}}],"filter":[{"range":{"n":{"lt":100}}}]}},` +
		`"aggs":{"tags":{"terms":{"field":"tag"},"aggs":{"most":{"max":{"field":"n"}}}}},"sort":[{"n":"desc"}],"size":3,"track_total_hits":true}`
	Tagged = `{"query":{"term":{"tag":"t1"}}}`
	IDs    = `{"ids":["9","1","none","4"]}`

	Alias   = "clients-alias"
	Nowhere = "clients-none" // an index that is missing
)

// Lines is the body of a multi-search.
func Lines() string {
	return "{}\n" + Search + "\n" + `{"index":"` + Index + `"}` + "\n" + `{"query":{"term":{"tag":"t1"}},"sort":["n"],"size":2}` + "\n" +
		`{"index":"` + Nowhere + `"}` + "\n{}\n"
}

// Unalias is the body of the call that removes the alias.
var Unalias = `{"actions":[{"remove":{"index":"` + Index + `","alias":"` + Alias + `"}}]}`

// Documents is how many documents the bulk helper writes.
const Documents = 500

// Document returns the id and the body of a document.
func Document(i int) (string, string) {
	return fmt.Sprint(i), fmt.Sprintf(`{"n":%d,"tag":"t%d","text":"common word%d"}`, i, i%3, i)
}

// Page returns the body of a search for the documents behind the one with that sort value.
func Page(after json.RawMessage) string {
	if after == nil {
		return `{"sort":[{"n":"asc"}],"size":90}`
	}
	return `{"sort":[{"n":"asc"}],"size":90,"search_after":` + string(after) + `}`
}

// Absent is the id of a document that is not there, or may not be seen.
func Absent() string {
	if read {
		return "1"
	}
	return "none"
}

// A Call makes requests and returns what the client saw of the answers.
type Call func() (any, error)

// Calls are the groups of the scenario; a client leaves out what it lacks.
type Calls struct {
	Info, Ping, CreateIndex, Index, Create, Update, ReadBack, Conflict, Delete, Bulk, BulkGzip, BulkConflict Call
	Get, Mget, Missing, Search, Msearch, Count, Scan, SearchAfter, FieldCaps, Mapping, Gzip                  Call
	Aliases, Sniff, DeleteIndex, Forbidden                                                                   Call
}

// Run makes the calls and prints a line for each.
func Run(module string, c Calls) {
	say(map[string]any{"version": version(module)})
	if !read {
		group("info", c.Info)
		group("ping", c.Ping)
		group("create index", c.CreateIndex)
		group("index", c.Index)
		group("create", c.Create)
		group("update", c.Update)
		group("read back", c.ReadBack)
		group("conflict", c.Conflict)
		group("delete", c.Delete)
		group("bulk", c.Bulk)
		group("bulk gzip", c.BulkGzip)
		group("bulk conflict", c.BulkConflict)
	}
	group("get", c.Get)
	group("mget", c.Mget)
	group("missing", c.Missing)
	group("search", c.Search)
	group("msearch", c.Msearch)
	group("count", c.Count)
	group("scan", c.Scan)
	group("search_after", c.SearchAfter)
	group("field_caps", c.FieldCaps)
	group("mapping", c.Mapping)
	group("gzip", c.Gzip)
	if read {
		group("forbidden", c.Forbidden)
		return
	}
	group("aliases", c.Aliases)
	group("sniff", c.Sniff)
	group("delete index", c.DeleteIndex)
}

func group(name string, call Call) {
	if call == nil {
		return
	}
	saw, err := call()
	if err != nil {
		saw = fmt.Sprintf("%T: %v", err, err)
	}
	say(map[string]any{"group": name, "ok": err == nil, "saw": saw})
}

func say(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", text)
}

// version returns that of the module in this program.
func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version[1:]
			}
		}
	}
	return "unknown"
}

// Fails returns the type of err, which has to be of that status. The client tells the
// status of its errors by statusOf.
func Fails(status int, err error, statusOf func(error) int) (any, error) {
	if err == nil {
		return nil, errors.New("it worked, but should not")
	}
	if statusOf(err) != status {
		return nil, err
	}
	return []any{fmt.Sprintf("%T", err), status}, nil
}

// All returns what each call saw, or the first error.
func All(calls ...Call) (any, error) {
	var saw []any
	for _, call := range calls {
		s, err := call()
		if err != nil {
			return nil, err
		}
		saw = append(saw, s)
	}
	return saw, nil
}

// Hosts is a transport that notes which hosts are asked.
type Hosts struct {
	mu    sync.Mutex // guards asked
	asked []string
}

// RoundTrip implements http.RoundTripper.
func (h *Hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	if !slices.Contains(h.asked, r.URL.Host) {
		h.asked = append(h.asked, r.URL.Host)
	}
	h.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// Asked returns the hosts that were asked since the last call.
func (h *Hosts) Asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.asked
	h.asked = nil
	slices.Sort(asked)
	return asked
}
