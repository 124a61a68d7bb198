package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// PolicyTests is a file of policy tests: who sends what, and what becomes of it.
type PolicyTests struct {
	Pos Pos `yaml:"-"`

	State string       `yaml:"state"` // saved state of a cluster; a path that starts at the file's folder
	Tests []PolicyTest `yaml:"tests"`
}

// PolicyTest is one request of one user, and what is wanted of it.
type PolicyTest struct {
	Pos Pos `yaml:"-"`

	Name string         `yaml:"name"` // default: what is sent, and by whom
	As   PolicyTestUser `yaml:"as"`
	Send PolicyTestSend `yaml:"send"`
	Want PolicyTestWant `yaml:"want"`
}

// PolicyTestUser is who sends a request: an account of internal_users.yml if only its name
// is given, or somebody made up.
type PolicyTestUser struct {
	Pos Pos `yaml:"-"`

	User         string            `yaml:"user" short:"true"`
	BackendRoles []string          `yaml:"backend_roles"`
	Attributes   map[string]string `yaml:"attributes"` // "attr.internal.dept": "sales"
	Address      string            `yaml:"address"`    // of the client: "10.1.2.3"
	By           string            `yaml:"by"`         // the account that asks in the user's name
	Admin        bool              `yaml:"admin"`      // the user is an administrator, by a name of policy.admin_dn
}

// PolicyTestSend is a request.
type PolicyTestSend struct {
	Pos Pos `yaml:"-"`

	Request     string `yaml:"request" short:"true"` // "POST /people/_search"; a body may follow, after a blank
	Body        string `yaml:"body"`
	ContentType string `yaml:"content_type"` // default: JSON, or lines of it where the endpoint takes lines
}

// The verdicts that a test may want. VerdictAllowed is each but VerdictRefused, and refuses
// no item either.
const (
	VerdictAllowed   = "allowed"
	VerdictRefused   = "refused"
	VerdictForwarded = "forwarded"
	VerdictAnswered  = "answered"
	VerdictAsks      = "asks"
)

var verdicts = []string{VerdictAllowed, VerdictRefused, VerdictForwarded, VerdictAnswered, VerdictAsks}

// PolicyTestWant is what is wanted of a request. What is left out is not looked at.
type PolicyTestWant struct {
	Pos Pos `yaml:"-"`

	Verdict   string   `yaml:"verdict" short:"true"`
	Status    int      `yaml:"status"`  // of guard's own answer
	Reason    string   `yaml:"reason"`  // "no_privilege"
	Says      string   `yaml:"says"`    // a part of what the client is told
	Missing   []string `yaml:"missing"` // "indices:data/read/search", or "indices:data/read/search on people": all that is missing
	Refused   []int    `yaml:"refused_items"`
	Indices   []string `yaml:"indices"`   // that are reached, all of them
	Documents []string `yaml:"documents"` // the queries that bind them, as JSON: all of them
	Fields    []string `yaml:"fields"`    // the field rules that bind them: all of them
	Masks     []string `yaml:"masks"`
	Request   string   `yaml:"request"` // that the cluster gets: "POST /people/_search"
	Body      string   `yaml:"body"`    // of that, as JSON

	looked map[string]bool
}

// Wants reports whether key was given: an empty list wants nothing to be there.
func (w *PolicyTestWant) Wants(key string) bool { return w.looked[key] }

// LoadPolicyTests reads a file of policy tests. An error of type Faults lists all that is
// wrong with it.
func LoadPolicyTests(path string) (*PolicyTests, error) {
	data, err := os.ReadFile(path) //nolint:gosec // G304: the operator names the file
	if err != nil {
		return nil, faultOf(path, err, "a file of policy tests that guard can read")
	}
	return ParsePolicyTests(path, data)
}

// ParsePolicyTests is LoadPolicyTests for what was read.
func ParsePolicyTests(path string, data []byte) (*PolicyTests, error) {
	var r report
	tests := &PolicyTests{}
	if doc := parseDocument(&r, path, data); doc != nil {
		d := decoder{report: &r}
		d.decode(doc.root, doc.pos, reflect.ValueOf(tests).Elem())
	}
	if len(r.faults) == 0 {
		tests.complete(&r, filepath.Dir(path))
	}
	if err := r.faults.Err(); err != nil {
		return nil, err
	}
	return tests, nil
}

// complete checks what was read and fills in what follows from it.
func (p *PolicyTests) complete(r *report, dir string) {
	if p.State != "" && !filepath.IsAbs(p.State) {
		p.State = filepath.Join(dir, p.State)
	}
	if len(p.Tests) == 0 {
		r.fault(p.Pos.At("tests"), "a list of tests", "no tests")
	}
	for i := range p.Tests {
		p.Tests[i].complete(r)
	}
}

func (t *PolicyTest) complete(r *report) {
	if t.As.User == "" {
		r.fault(t.As.Pos, "the name of a user", "nobody sends the request")
	}
	request, body, _ := strings.Cut(strings.TrimLeft(t.Send.Request, " \n"), "\n") // lines end with their last newline
	if method, rest, ok := strings.Cut(request, " "); ok && body == "" {
		target, inline, _ := strings.Cut(strings.TrimSpace(rest), " ")
		request, body = method+" "+target, strings.TrimSpace(inline)
	}
	t.Send.Request = strings.TrimSpace(request)
	if method, target, _ := strings.Cut(t.Send.Request, " "); method == "" || !strings.HasPrefix(target, "/") {
		r.fault(t.Send.Pos, `a method and a path, such as "GET /people/_search"`, "%q", shorten(t.Send.Request))
	}
	switch {
	case body == "":
	case t.Send.Body != "":
		r.fault(t.Send.Pos.At("body"), "one body: in the request or in body", "two bodies")
	default:
		t.Send.Body = body
	}
	if t.Name == "" {
		t.Name = fmt.Sprintf("%s as %s", t.Send.Request, t.As.User)
	}
	t.Want.complete(r)
}

func (w *PolicyTestWant) complete(r *report) {
	if w.Verdict != "" && !slices.Contains(verdicts, w.Verdict) {
		r.fault(w.Pos.At("verdict"), strings.Join(verdicts, ", "), "verdict %q", shorten(w.Verdict))
	}
	w.looked = make(map[string]bool)
	for key := range w.Pos.keys {
		w.looked[key] = true
	}
	for key, text := range map[string]string{"verdict": w.Verdict, "says": w.Says} {
		if w.Wants(key) && text == "" { // any request would pass
			r.fault(w.Pos.At(key), "what is wanted, or no such key", "nothing is wanted")
		}
	}
	if w.Verdict == "" && len(w.looked) == 0 {
		r.fault(w.Pos, "what becomes of the request: "+strings.Join(verdicts, ", "), "nothing is wanted")
	}
}
