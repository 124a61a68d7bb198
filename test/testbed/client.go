package testbed

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A Client sends raw requests to a node, or to whatever stands in front of one.
// The zero User sends no credentials.
type Client struct {
	URL      string // scheme, host and port, no slash at the end
	User     string
	Password string
}

// A Response is a whole answer.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// httpClient does not follow redirects: an answer is shown as it came.
var httpClient = &http.Client{
	Timeout:       time.Minute,
	Transport:     &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// As returns the same client with other credentials; no user means none.
func (c Client) As(user, password string) Client {
	c.User, c.Password = user, password
	return c
}

// Do sends one request and reads the whole answer, whatever its status. The path
// may carry a query and is sent as written. A body is JSON, or NDJSON where the
// last segment of the path says so.
func (c Client) Do(method, path, body string) (Response, error) {
	req, err := http.NewRequest(method, c.URL+path, strings.NewReader(body))
	if err != nil {
		return Response{}, fmt.Errorf("cannot make request %s %q: %w", method, path, err)
	}
	if body != "" {
		req.Header.Set("Content-Type", contentType(path))
	}
	if c.User != "" {
		req.SetBasicAuth(c.User, c.Password)
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return Response{}, fmt.Errorf("cannot send request: %w", err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return Response{}, fmt.Errorf("cannot read the answer to %s %s: %w", method, path, err)
	}
	return Response{Status: res.StatusCode, Header: res.Header, Body: text}, nil
}

// Must is Do for requests that have to succeed: it ends the test unless the status is 2xx.
func (c Client) Must(t testing.TB, method, path, body string) Response {
	t.Helper()
	res, err := c.Do(method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	if res.Status/100 != 2 {
		t.Fatalf("%s %s: status %d: %s", method, path, res.Status, res.Body)
	}
	return res
}

func contentType(path string) string {
	path, _, _ = strings.Cut(path, "?")
	for _, lines := range []string{"/_bulk", "/_msearch", "/_msearch/template"} {
		if strings.HasSuffix(path, lines) {
			return "application/x-ndjson"
		}
	}
	return "application/json"
}
