package attack_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"guard/test/guardproc"
)

// dial opens a plain connection to guard.
func dial(guard *guardproc.Proc) (net.Conn, error) {
	u, err := url.Parse(guard.URL)
	if err != nil {
		return nil, err
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	return c, c.SetDeadline(time.Now().Add(20 * time.Second))
}

// basic returns the header line of a login; nobody's is empty.
func basic(user string) string {
	if user == "" {
		return ""
	}
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)) + "\r\n"
}

// TestPipeline sends requests of many users at once on one connection: each is
// answered as the user that it names, also behind refusals.
func TestPipeline(t *testing.T) {
	_, guard := start(t)
	c, err := dial(guard)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sent := []struct {
		user, path, body string
		status           int
	}{
		{"other", "/logs-a-1/_search", "", 200}, {"other", "/hr/_search", "", 403}, {"rows", "/hr/_search", "", 200}, {"", "/hr/_search", "", 401},
		{"fields", "/hr/_search", `{"query":{"match_all":{}}}`, 200}, {"rows", "/secret/_search", `{"query":{"match_all":{}}}`, 403}, {"nobody", "/hr/_search", "", 401},
		{"both", "/hr/_search", `{"_source":["ssn"]}`, 200}, {"rows", "/nowhere/_search", "{}", 403}, {"included", "/hr/_search", "", 200},
	}
	var all strings.Builder
	for _, s := range sent {
		fmt.Fprintf(&all, "POST %s HTTP/1.1\r\nHost: guard\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.path, basic(s.user), len(s.body), s.body)
	}
	if _, err := c.Write([]byte(all.String())); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewReader(c)
	for i, s := range sent {
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		var body bytes.Buffer
		if _, err := body.ReadFrom(res.Body); err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		if res.StatusCode != s.status {
			t.Errorf("answer %d, %s as %q: status %d; want %d", i, s.path, s.user, res.StatusCode, s.status)
		}
		for _, secret := range secrets(s.user) {
			if bytes.Contains(body.Bytes(), []byte(secret)) {
				t.Errorf("answer %d, %s as %q, holds %q", i, s.path, s.user, secret)
			}
		}
	}
}

// TestCrowd has many users ask at once while the policy and the cluster change under
// them, clients go away in the middle and names are asked for that do not exist.
func TestCrowd(t *testing.T) {
	node, guard := start(t)
	const during = 4 * time.Second
	end := time.Now().Add(during)
	var all sync.WaitGroup
	loop := func(f func(i int)) {
		all.Go(func() {
			for i := 0; time.Now().Before(end); i++ {
				f(i)
			}
		})
	}
	for _, user := range []string{"rows", "fields", "spelled", "both", "rows", "both"} {
		loop(func(int) {
			res, err := guard.As(user, password).Do("GET", "/hr/_search?size=20", "")
			if err != nil || res.Status != 200 {
				t.Errorf("%s: %v, status %d: %.200s", user, err, res.Status, res.Body)
			}
			checkHidden(t, user, "", res)
		})
	}
	loop(func(i int) {
		res, err := guard.As("rows", password).Do("GET", fmt.Sprintf("/nowhere-%d/_search", i), "")
		if err != nil || res.Status != 403 {
			t.Errorf("unknown name: %v, status %d: %.200s", err, res.Status, res.Body)
		}
	})
	loop(func(i int) { // clients that go away, not so many that others find no place
		time.Sleep(2 * time.Millisecond)
		c, err := dial(guard)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /hr/_search HTTP/1.1\r\nHost: guard\r\n%sContent-Type: application/json\r\nContent-Length: 20\r\n\r\n%s", basic("rows"), `{"size":1,"from":  0}`[:i%21])
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	})
	loop(func(i int) {
		name := fmt.Sprintf("/logs-a-new%d", i)
		for _, method := range []string{"PUT", "DELETE"} {
			if _, err := node.Do(method, name, ""); err != nil {
				t.Errorf("%s %s: %v", method, name, err)
			}
		}
	})
	for i := range 3 {
		time.Sleep(during / 4)
		guard.UpdateSecurity(t, policy(t, fmt.Sprintf("more%d", i)))
	}
	all.Wait()
	if n := guard.Metric(t, "guard_panics_total"); n != 0 {
		t.Errorf("%v panics", n)
	}
}
