package endpoint

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"guard/internal/ask"
	"guard/internal/names"
)

// request makes a request from a method and a target as a client writes it.
func request(t testing.TB, verb, target, body string) *ask.Request {
	t.Helper()
	path, query, _ := strings.Cut(target, "?")
	r := &ask.Request{Method: verb, RawTarget: target, Params: params(t, query)}
	for _, s := range split(path) {
		u, err := url.PathUnescape(s)
		if err != nil {
			t.Fatal(err)
		}
		r.Path = append(r.Path, u)
	}
	if body != "" {
		r.Body = []byte(body)
		r.Header.ContentType = "application/json"
	}
	return r
}

func params(t testing.TB, query string) []ask.Param {
	t.Helper()
	var list []ask.Param
	for _, pair := range strings.Split(query, "&") {
		if pair == "" {
			continue
		}
		name, value, has := strings.Cut(pair, "=")
		n, err := url.QueryUnescape(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := url.QueryUnescape(value)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, ask.Param{Name: n, Value: v, HasValue: has})
	}
	return list
}

func query(t *testing.T, r *ask.Request) (Match, Query, error) {
	t.Helper()
	m, err := testRouter.MatchRequest(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.RawTarget, err)
	}
	q, err := m.Query(r)
	return m, q, err
}

func TestQueryOptions(t *testing.T) {
	f := func(target string, want names.Options) {
		t.Helper()
		_, q, err := query(t, request(t, "GET", target, ""))
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		if diff := cmp.Diff(want, q.Opts); diff != "" {
			t.Fatalf("%s: -want +got\n%s", target, diff)
		}
	}
	open := names.Options{Expand: names.ExpandOpen, AllowNoIndices: true}
	f("/_search", open)
	f("/a/_search?ignore_unavailable=true", names.Options{Expand: names.ExpandOpen, AllowNoIndices: true, IgnoreUnavailable: true})
	f("/a/_search?ignore_unavailable=false&allow_no_indices=false", names.Options{Expand: names.ExpandOpen})
	f("/a/_search?expand_wildcards=none", names.Options{AllowNoIndices: true})
	f("/a/_search?expand_wildcards=open,hidden", names.Options{Expand: names.ExpandOpen | names.ExpandHidden, AllowNoIndices: true})
	f("/a/_search?expand_wildcards=all", names.Options{Expand: names.ExpandAll, AllowNoIndices: true})
	f("/a/_search?expand_wildcards=all,none", names.Options{AllowNoIndices: true}) // read in order
	f("/a/_search?expand_wildcards=none,closed", names.Options{Expand: names.ExpandClosed, AllowNoIndices: true})
	f("/_cat/indices", names.Options{Expand: names.ExpandOpen | names.ExpandClosed, AllowNoIndices: true})
	f("/_cluster/health", names.Options{Expand: names.ExpandAll, AllowNoIndices: true, IgnoreUnavailable: true})
	f("/_alias", names.Options{Expand: names.ExpandAll, AllowNoIndices: true})
	f("/_mapping", open)
	f("/_refresh", open)
	f("/_resolve/index/*", open)
	f("/a/_doc/1", names.Options{})
}

func TestQueryParams(t *testing.T) {
	f := func(verb, target, body string, want ...string) {
		t.Helper()
		_, q, err := query(t, request(t, verb, target, body))
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		var got []string
		for _, p := range q.Params {
			s := p.Name
			if p.HasValue {
				s += "=" + p.Value
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: -want +got\n%s", target, diff)
		}
	}
	f("GET", "/a/_search?size=1&pretty&from=2", "", "size=1", "pretty", "from=2") // order is kept
	f("GET", "/a/_search?q=a%3Ab%20c+d", "", "q=a:b c d")
	f("GET", "/_search?index=a,b&size=1", "", "size=1")               // goes into the path
	f("POST", "/a,b/_msearch?index=a,b", "{}\n{}\n")                  // is there already, as go-elasticsearch has it
	f("POST", "/%3Ca%3E/_bulk?index=%3ca%3E&refresh", "x", "refresh") // compared as decoded
	f("GET", "/a/_search?version&seq_no_primary_term=true&track_scores=false", "", "version", "seq_no_primary_term=true", "track_scores=false")
	f("GET", "/a/_search?_source_includes=x&_source_excludes=y&docvalue_fields=z&stored_fields=s&sort=a:asc&df=d", "",
		"_source_includes=x", "_source_excludes=y", "docvalue_fields=z", "stored_fields=s", "sort=a:asc", "df=d")
	// What the high-level clients and dashboards always send.
	f("POST", "/a/_search?typed_keys=true&max_concurrent_shard_requests=5&ignore_unavailable=false&expand_wildcards=open&allow_no_indices=true&ignore_throttled=true&search_type=query_then_fetch&batched_reduce_size=512&ccs_minimize_roundtrips=true", "{}",
		"typed_keys=true", "max_concurrent_shard_requests=5", "ignore_unavailable=false", "expand_wildcards=open", "allow_no_indices=true",
		"ignore_throttled=true", "search_type=query_then_fetch", "batched_reduce_size=512", "ccs_minimize_roundtrips=true")
	f("PUT", "/a/_doc/1?refresh=wait_for&routing=r&if_seq_no=1&if_primary_term=1&op_type=create&require_alias", "{}",
		"refresh=wait_for", "routing=r", "if_seq_no=1", "if_primary_term=1", "op_type=create", "require_alias")
	f("GET", "/_cat/indices?format=json&h=index&s=index&bytes=b&v&expand_wildcards=all", "",
		"format=json", "h=index", "s=index", "bytes=b", "v", "expand_wildcards=all")
	f("GET", "/_cluster/health?level=indices&wait_for_status=yellow&timeout=1s&local", "",
		"level=indices", "wait_for_status=yellow", "timeout=1s", "local")
	f("GET", "/a/_search?source=%7B%7D&source_content_type=application%2Fjson&size=2", "", "size=2") // becomes the body
}

func TestQueryRefuses(t *testing.T) {
	f := func(verb, target, body string, reason ask.Reason, status int, text string) {
		t.Helper()
		_, _, err := query(t, request(t, verb, target, body))
		r := rejected(t, err)
		if r.Reason != reason || r.Status.Code() != status || r.Public != text {
			t.Fatalf("%s: got %q %d %q; want %q %d %q", target, r.Reason, r.Status, r.Public, reason, status, text)
		}
	}
	unknown := func(verb, target, text string) {
		t.Helper()
		f(verb, target, "", ask.ReasonUnknownParam, 400, text)
	}
	bad := func(verb, target, body, text string) {
		t.Helper()
		f(verb, target, body, ask.ReasonBadRequest, 400, text)
	}
	unknown("GET", "/a/_search?perform_permission_check=true", "request [/a/_search] contains unrecognized parameter: [perform_permission_check]")
	unknown("GET", "/a/_search?=x", "request [/a/_search] contains unrecognized parameter: []")
	unknown("GET", "/a/_search?Size=1", "request [/a/_search] contains unrecognized parameter: [Size]") // case counts
	unknown("GET", "/_alias?name=x", "request [/_alias] contains unrecognized parameter: [name]")
	unknown("GET", "/a/_doc/1?index=b", "request [/a/_doc/1] contains unrecognized parameter: [index]")
	unknown("GET", "/a/_mapping?include_type_name=true", "request [/a/_mapping] contains unrecognized parameter: [include_type_name]")
	unknown("GET", "/_msearch?source=x", "request [/_msearch] contains unrecognized parameter: [source]")
	bad("GET", "/a/_search?size=1&size=2", "", "request [/a/_search] holds parameter [size] twice; want it once")
	bad("GET", "/a/_search?q=x&pretty&q=x", "", "request [/a/_search] holds parameter [q] twice; want it once")
	bad("GET", "/a/_search?version=yes", "", "request [/a/_search] holds parameter [version]: Failed to parse value [yes] as only [true] or [false] are allowed.")
	bad("GET", "/a/_search?typed_keys=1", "", "request [/a/_search] holds parameter [typed_keys]: Failed to parse value [1] as only [true] or [false] are allowed.")
	bad("GET", "/a/_search?ignore_unavailable=", "", "request [/a/_search] holds parameter [ignore_unavailable]: Failed to parse value [] as only [true] or [false] are allowed.")
	bad("GET", "/a/_search?allow_no_indices=true,false", "", "request [/a/_search] holds parameter [allow_no_indices]: Failed to parse value [true,false] as only [true] or [false] are allowed.")
	bad("GET", "/a/_search?expand_wildcards=opened", "", "request [/a/_search] holds parameter [expand_wildcards]: No valid expand wildcard value [opened]")
	bad("GET", "/a/_search?expand_wildcards=", "", "request [/a/_search] holds parameter [expand_wildcards]: No valid expand wildcard value []")
	bad("GET", "/a/_search?index=b", "", "request [/a/_search] names its index twice or not at all in parameter [index]; want it once")
	bad("GET", "/a,b/_search?index=b,a", "", "request [/a,b/_search] names its index twice or not at all in parameter [index]; want it once")
	bad("GET", "/_search?index=", "", "request [/_search] names its index twice or not at all in parameter [index]; want it once")
	bad("PUT", "/a/_doc/1?op_type=CREATE", "{}", "request [/a/_doc/1] holds parameter [op_type]: opType must be 'create' or 'index', found: [CREATE]")
	bad("GET", "/a/_search?source=%7B%7D", "", "request [/a/_search] carries a body in its URL: source and source_content_type parameters are required")
	bad("GET", "/a/_search?source_content_type=application/json", "", "request [/a/_search] carries a body in its URL: source and source_content_type parameters are required")
	bad("GET", "/a/_search?source=&source_content_type=application/json", "", "request [/a/_search] carries a body in its URL: source and source_content_type parameters are required")
	bad("GET", "/a/_search?source=%7B%7D&source_content_type=application/json", "{}", "request [/a/_search] carries two bodies, one of them as [source]; want one")
	bad("GET", "/a/_search?source=a&source_content_type=application/yaml", "", "request [/a/_search] carries a body of type [application/yaml] in its URL; want application/json")
	bad("GET", "/a/_doc/1", "{}", "request [GET /a/_doc/1] does not support having a body")
	bad("DELETE", "/a", "{}", "request [DELETE /a] does not support having a body")
	bad("HEAD", "/", "{}", "request [HEAD /] does not support having a body")
	bad("PUT", "/a/_doc/1", "", "request body is required")
	bad("POST", "/_msearch", "", "request body is required")
	bad("POST", "/_aliases", "", "request body is required")
	bad("GET", "/_mget", "", "request body or source parameter is required")
	f("GET", "/a/_search?scroll=1m", "", ask.ReasonNotBuilt, 403, "parameter [scroll] of [/a/_search] opens a handle: not built yet")
	f("GET", "/_search/scroll", "", ask.ReasonNotBuilt, 403, "endpoint [GET /_search/scroll] is not built yet")
	f("GET", "/_cluster/state/metadata/hr", "", ask.ReasonNotBuilt, 403, "endpoint [GET /_cluster/state/metadata/hr] is not built yet")
}

func TestQueryContentType(t *testing.T) {
	f := func(verb, target, contentType string, ok bool) {
		t.Helper()
		r := request(t, verb, target, "{}")
		r.Header.ContentType = contentType
		_, _, err := query(t, r)
		if ok {
			if err != nil {
				t.Fatalf("%s %q: %v", target, contentType, err)
			}
			return
		}
		rej := rejected(t, err)
		if want := "Content-Type header [" + contentType + "] is not supported"; rej.Status != 406 || rej.Public != want {
			t.Fatalf("%s %q: got %d %q; want 406 %q", target, contentType, rej.Status, rej.Public, want)
		}
	}
	const ok, refused = true, false
	f("POST", "/a/_search", "application/json", ok)
	f("POST", "/a/_search", "Application/JSON; charset=UTF-8", ok)
	f("POST", "/a/_search", "application/vnd.elasticsearch+json;compatible-with=8", ok)
	f("POST", "/a/_search", "application/vnd.opensearch+json", ok)
	f("POST", "/a/_search", "", refused)
	f("POST", "/a/_search", "application/json; charset=utf-16", refused)
	f("POST", "/a/_search", "application/json; boundary=x", refused)
	f("POST", "/a/_search", "application/json, application/yaml", refused)
	f("POST", "/a/_search", "application/yaml", refused)
	f("POST", "/a/_search", "application/cbor", refused)
	f("POST", "/a/_search", "application/smile", refused)
	f("POST", "/a/_search", "text/plain", refused)
	f("POST", "/a/_search", "application/x-www-form-urlencoded", refused)
	f("POST", "/a/_search", "application/x-ndjson", refused) // one document is not lines
	f("PUT", "/a/_doc/1", "application/yaml", refused)
	f("POST", "/_msearch", "application/x-ndjson", ok)
	f("POST", "/_msearch", "application/json", ok)
	f("POST", "/_msearch", "application/yaml", refused)
	f("POST", "/_bulk", "application/vnd.elasticsearch+x-ndjson; compatible-with=8", ok)
	f("POST", "/_bulk", "application/smile", refused)
}

// TestQueryBulkBody: the lines of a bulk are not read, but their type counts.
func TestQueryBulkBody(t *testing.T) {
	r := request(t, "POST", "/_bulk", "")
	_, _, err := query(t, r)
	if rej := rejected(t, err); rej.Status != 406 {
		t.Fatalf("got %d %q; want 406", rej.Status, rej.Public)
	}
	r.Header.ContentType = "application/x-ndjson"
	if _, _, err := query(t, r); err != nil {
		t.Fatal(err)
	}
}

func TestQueryCreates(t *testing.T) {
	f := func(verb, target string, want bool) {
		t.Helper()
		_, q, err := query(t, request(t, verb, target, "{}"))
		if err != nil {
			t.Fatal(err)
		}
		if q.Creates != want {
			t.Fatalf("%s: creates is %v; want %v", target, q.Creates, want)
		}
	}
	f("PUT", "/a/_doc/1", false)
	f("PUT", "/a/_doc/1?op_type=index", false)
	f("PUT", "/a/_doc/1?op_type=create", true)
	f("POST", "/a/_doc", true) // the cluster makes the id
	f("PUT", "/a/_create/1", true)
	f("POST", "/a/_update/1", false)
}

func TestQueryBody(t *testing.T) {
	f := func(target, body, want string) {
		t.Helper()
		_, q, err := query(t, request(t, "GET", target, body))
		if err != nil {
			t.Fatal(err)
		}
		if string(q.Body) != want {
			t.Fatalf("%s: body %q; want %q", target, q.Body, want)
		}
	}
	f("/_search", "", "")
	f("/_search", `{"size":1}`, `{"size":1}`)
	f("/_search?source_content_type=application/json&source=%7B%22size%22%3A1%7D", "", `{"size":1}`)
	f("/_mget?source_content_type=application/json&source=%7B%7D", "", `{}`)
}

func TestKind(t *testing.T) {
	m, err := testRouter.Match("GET", []string{"_search"})
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, want ParamKind) {
		t.Helper()
		if got := m.Kind(name); got != want {
			t.Fatalf("%s is of kind %v; want %v", name, got, want)
		}
	}
	f("q", QueryText)
	f("df", Fields)
	f("sort", Fields)
	f("docvalue_fields", Fields)
	f("search_pipeline", Outside)
	f("suggest_field", Outside)
	f("explain", Outside)
	f("scroll", Handle)
	f("source", BodyText)
	f("index", IndexName)
	f("expand_wildcards", IndexOption)
	f("filter_path", AnswerFilter)
	f("format", AnswerFormat)
	f("typed_keys", AnswerForm)
	f("nonsense", Unknown)
}
