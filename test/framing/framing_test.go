package framing_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"guard/test/framing"
	"guard/test/guardproc"
	"guard/test/testbed"
)

var update = flag.Bool("update", false, "write what was found: the generated part of docs/framing.md, and with -compare the recorded columns")

func TestMain(m *testing.M) { testbed.Main(m) }

// The principals: one who may do everything, and one limited to the index "open". No
// rule on documents or fields binds them, so that each request is one call.
const (
	admin    = "admin"
	clerk    = "clerk"
	password = "secret"
)

func authLine(user string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)) + "\r\n"
}

// Limits of time: such that a test can wait for, and such that what comes byte by byte
// does not meet.
const (
	impatient = "timeouts: {read_header: 1s, read: 1s, write: 5s, idle: 20s, upstream: 10s}\nauth: {cache_ttl: 1h}\n"
	patient   = "timeouts: {read_header: 30s, read: 30s}\nauth: {cache_ttl: 1h}\n"
)

func startGuard(t *testing.T, upstream, config string) *guardproc.Proc {
	t.Helper()
	users, mappings := map[string]any{}, map[string]any{}
	for user, role := range map[string]string{admin: "all_access", clerk: "clerks"} {
		users[user] = map[string]any{"hash": guardproc.Hash(t, password)}
		mappings[role] = map[string]any{"users": []string{user}}
	}
	roles := map[string]any{"clerks": map[string]any{
		"cluster_permissions": []string{"cluster_composite_ops"},
		"index_permissions":   []any{map[string]any{"index_patterns": []string{"open"}, "allowed_actions": []string{"indices_all"}}},
	}}
	return guardproc.Start(t, guardproc.Options{Upstream: "http://" + upstream, Config: config, Security: guardproc.WriteSecurity(t, map[string]string{
		"internal_users.yml": guardproc.Section(t, "internalusers", users),
		"roles_mapping.yml":  guardproc.Section(t, "rolesmapping", mappings),
		"roles.yml":          guardproc.Section(t, "roles", roles),
	})})
}

// stage is a proxy in front of a cluster, and one who plays.
type stage struct {
	cluster *framing.Cluster
	player  framing.Player
}

func startCluster(t *testing.T) *framing.Cluster {
	t.Helper()
	c, err := framing.StartCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// guarded is a stage with guard as the proxy; with a certificate it speaks TLS.
func guarded(t *testing.T, user, config string, cert *certificate) *stage {
	t.Helper()
	c := startCluster(t)
	s := &stage{c, framing.Player{Auth: authLine(user), Deadline: 15 * time.Second}}
	if cert != nil {
		config += fmt.Sprintf("tls: {certificate: %q, key: %q}\n", cert.file, cert.keyFile)
		s.player.TLS = &tls.Config{RootCAs: cert.pool, ServerName: "guard"}
	}
	s.player.Addr = strings.TrimPrefix(startGuard(t, c.Addr(), config).URL, "http://")
	s.await(t)
	return s
}

// await plays a plain request until it passes: guard then knows the cluster, and the
// password.
func (s *stage) await(t *testing.T) {
	t.Helper()
	plain := framing.Shapes(s.player.Auth)[0]
	var p framing.Played
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if p, _ = s.play(t, &plain); p.Open && p.Answers[0].Status == 200 {
			return
		}
	}
	t.Fatalf("a plain request does not pass: %+v", p)
}

func (s *stage) play(t *testing.T, shape *framing.Shape, cut ...int) (framing.Played, framing.Seen) {
	t.Helper()
	p, err := s.player.Play(shape, cut...)
	if err != nil {
		t.Fatal(err)
	}
	return p, s.cluster.Take()
}

// TestShapes plays the table for both principals. Each shape passes as what it means,
// once, or is refused, and nothing of it arrives; what stands behind a refused one is
// never read as a request. What was found is the column of guard in docs/framing.md.
func TestShapes(t *testing.T) {
	var mu sync.Mutex // guards found
	found := map[string]map[string]framing.Verdict{admin: {}, clerk: {}}
	t.Run("play", func(t *testing.T) {
		for user, verdicts := range found {
			t.Run(user, func(t *testing.T) {
				t.Parallel()
				s := guarded(t, user, impatient, nil)
				for _, shape := range framing.Shapes(s.player.Auth) {
					v := s.check(t, &shape, user == clerk)
					mu.Lock()
					verdicts[shape.ID] = v
					mu.Unlock()
					if (v.Kind == framing.Refused || v.Kind == framing.Begun) && !v.Open && !shape.Waits && !shape.HalfClose {
						shape.Raw += framing.Hidden(s.player.Auth)
						s.check(t, &shape, user == clerk)
					}
				}
			})
		}
	})
	if !t.Failed() {
		checkTable(t, found[admin], found[clerk])
	}
}

// TestTable: the rows are many, each has a name of its own, and none asks what guard
// asks on its own account.
func TestTable(t *testing.T) {
	shapes := framing.Shapes(authLine(admin))
	if len(shapes) < 250 {
		t.Errorf("%d shapes; want at least 250", len(shapes))
	}
	ids, names := map[string]bool{}, map[string]bool{}
	for _, s := range shapes {
		if ids[s.ID] || names[s.Name()] || s.Name() == "``" {
			t.Errorf("shape %s: its ID or its name %q is not its own", s.ID, s.Name())
		}
		ids[s.ID], names[s.Name()] = true, true
		if !strings.Contains(s.Raw, s.Odd) {
			t.Errorf("shape %s does not hold %q", s.ID, s.Odd)
		}
		if strings.Contains(s.Raw, "/_cluster/state") || strings.Contains(s.Raw, "/_alias") || strings.HasPrefix(s.Raw, "GET / ") {
			t.Errorf("shape %s asks what guard asks", s.ID)
		}
	}
}

// dripped are the shapes of TestDrip: good ones, and such whose odd piece a reader could
// miss where it comes in two. What a limited principal sends is read another way only
// where it has a body.
var dripped = map[string][]string{
	admin: {"line/plain", "sequence/mixed", "line/bare-lf", "field/fold", "both/cl-te", "chunk/lf", "trailer/identity"},
	clerk: {"length/plain", "coding/plain", "chunk/extension"},
}

// TestDrip sends shapes in two pieces, cut at each byte, and byte by byte: what they are
// does not depend on how they come.
func TestDrip(t *testing.T) {
	for user, ids := range dripped {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, user, patient, nil)
			for _, shape := range framing.Shapes(s.player.Auth) {
				if !slices.Contains(ids, shape.ID) {
					continue
				}
				all := make([]int, 0, len(shape.Raw))
				for at := 1; at < len(shape.Raw); at++ {
					s.check(t, &shape, user == clerk, at)
					all = append(all, at)
				}
				s.check(t, &shape, user == clerk, all...)
			}
		})
	}
}

// TestTLS plays the table over TLS: the frames are the same.
func TestTLS(t *testing.T) {
	cert := newCertificate(t)
	s := guarded(t, clerk, impatient, cert)
	for _, shape := range framing.Shapes(s.player.Auth) {
		if !shape.Waits {
			s.check(t, &shape, true)
		}
	}
}

// check plays a shape and wants the verdict of its row, and the laws.
func (s *stage) check(t *testing.T, shape *framing.Shape, limited bool, cut ...int) framing.Verdict {
	t.Helper()
	p, seen := s.play(t, shape, cut...)
	v := framing.Judge(shape, &p, &seen)
	switch want := shape.Wanted(limited); {
	case shape.Racy && (v.Kind == framing.Closed || v.Kind == framing.Lost): // the client is taken for gone
	case v != want:
		t.Errorf("%s: %v; want %v\nanswers %+v, open %v, hung %v, stray %q\nthe cluster saw %+v", shape.ID, v, want, p.Answers, p.Open, p.Hung, p.Stray, seen)
	}
	if p.Stray != "" {
		t.Errorf("%s: %s", shape.ID, p.Stray)
	}
	for _, a := range p.Answers {
		if err := wellFormed(a, shape); err != nil {
			t.Errorf("%s: %v", shape.ID, err)
		}
	}
	for i := range seen.Requests {
		if err := fair(&seen.Requests[i]); err != nil {
			t.Errorf("%s: %v", shape.ID, err)
		}
	}
	return v
}

// wellFormed wants the cluster's shape of a refusal.
func wellFormed(a framing.Answer, s *framing.Shape) error {
	if a.Status < 400 || a.Status == 401 || strings.HasPrefix(s.Raw, "HEAD ") {
		return nil
	}
	var body struct {
		Error  struct{ Type, Reason string }
		Status int
	}
	if err := json.Unmarshal([]byte(a.Body), &body); err != nil || body.Status != a.Status || body.Error.Reason == "" || !strings.HasPrefix(a.Type, "application/json") {
		return fmt.Errorf("a refusal with the body %q of type %q; want an error with status %d", a.Body, a.Type, a.Status)
	}
	return nil
}

// fair wants nothing of a connection, of identities or of the client's credentials.
func fair(q *framing.Request) error {
	for _, name := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Upgrade", "HTTP2-Settings", "Expect", "Authorization", "Cookie", "X-Proxy-User", "X_Proxy_User",
	} {
		if q.Value(name) != "" {
			return fmt.Errorf("header %q came to the cluster", name)
		}
	}
	if len(q.Dropped) > 0 {
		return fmt.Errorf("chunk extensions or trailers came to the cluster: %q", q.Dropped)
	}
	return nil
}
