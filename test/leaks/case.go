package leaks

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// A Catalogue is what the files of cases hold.
type Catalogue struct {
	Indices map[string]Index
	Cases   []*Case
}

// An Index is a fixture.
type Index struct {
	Settings json.RawMessage `json:"settings"`
	Mappings json.RawMessage `json:"mappings"`
	Docs     []Doc           `json:"docs"`
	Generate *struct {
		Count    int             `json:"count"`
		Template json.RawMessage `json:"template"` // ${i} is the number
	} `json:"generate"`
}

// A Doc is a document of a fixture.
type Doc struct {
	ID      string          `json:"_id"`
	Routing string          `json:"_routing,omitempty"`
	Source  json.RawMessage `json:"_source"`
}

// A Case is one attack, or one request that has to be useful.
type Case struct {
	ID        string          `json:"id"`
	Title     string          `json:"title"`
	Channel   string          `json:"channel"`
	Severity  string          `json:"severity"`
	Note      string          `json:"note"`
	Needs     []string        `json:"needs"`
	Setup     Setup           `json:"setup"`
	Role      json.RawMessage `json:"role"`
	User      *User           `json:"user"`
	Pre       []Step          `json:"pre"`
	Request   Request         `json:"request"`
	Verify    []Step          `json:"verify"`
	LeakIf    []string        `json:"leak_if"`
	OKIf      []string        `json:"ok_if"`
	Must      []string        `json:"must"`
	Control   bool            `json:"control"`
	FiresOn   []string        `json:"fires_on"`
	Applies   string          `json:"applies"`
	Plugin    json.RawMessage `json:"plugin"`
	SetupName string          `json:"-"` // equal names, equal state
}

// Setup is the state of the cluster that a case starts from.
type Setup struct {
	Fixtures []string          `json:"fixtures"`
	Aliases  []json.RawMessage `json:"aliases"`
	Indices  map[string]Index  `json:"indices,omitempty"`
	Requests []Request         `json:"backend_requests,omitempty"`
}

// User is the attacker where his name or attributes matter.
type User struct {
	Name         string            `json:"name"`
	Attributes   map[string]string `json:"attributes,omitempty"`
	BackendRoles []string          `json:"backend_roles,omitempty"`
}

// A Step runs before or after the request of a case.
type Step struct {
	As      string            `json:"as"` // self, victim or backend
	Role    json.RawMessage   `json:"role"`
	Request Request           `json:"request"`
	Capture map[string]string `json:"capture"`
	LeakIf  []string          `json:"leak_if"`
}

// A Request is sent byte by byte as it is written.
type Request struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"`
	BodyB64 string            `json:"body_b64,omitempty"`
	BodyGen *BodyGen          `json:"body_gen,omitempty"`
	Raw     string            `json:"raw,omitempty"`  // all of the bytes, for a plain socket
	Auth    string            `json:"auth,omitempty"` // none, bad, or empty for the attacker's
}

// BodyGen is a body that is too long to be written down.
type BodyGen struct {
	Prefix string `json:"prefix"`
	Open   string `json:"open"`
	Count  int    `json:"count"`
	Core   string `json:"core"`
	Close  string `json:"close"`
	Suffix string `json:"suffix"`
}

// Bytes returns the body, nil if there is none.
func (r *Request) Bytes() ([]byte, error) {
	switch {
	case r.BodyB64 != "":
		b, err := base64.StdEncoding.DecodeString(r.BodyB64)
		if err != nil {
			return nil, fmt.Errorf("cannot decode body_b64 of %s %s: %w", r.Method, r.Path, err)
		}
		return b, nil
	case r.BodyGen != nil:
		g := r.BodyGen
		return []byte(g.Prefix + strings.Repeat(g.Open, g.Count) + g.Core + strings.Repeat(g.Close, g.Count) + g.Suffix), nil
	case len(r.Body) == 0 || string(r.Body) == "null":
		return nil, nil
	case r.Body[0] == '"':
		var text string
		if err := json.Unmarshal(r.Body, &text); err != nil {
			return nil, fmt.Errorf("cannot read the body of %s %s: %w", r.Method, r.Path, err)
		}
		return []byte(text), nil
	}
	return r.Body, nil
}

// fixturesID marks the line that holds what the cases of a file share.
const fixturesID = "fixtures"

// Read adds the cases of a file, one JSON object a line.
func (c *Catalogue) Read(name string, file io.Reader) error {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := c.add(line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("cannot read %s: %w", name, err)
	}
	return nil
}

func (c *Catalogue) add(line []byte) error {
	var head struct{ ID string }
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("not a case: %w", err)
	}
	if head.ID == fixturesID {
		var shared struct{ Indices map[string]Index }
		if err := json.Unmarshal(line, &shared); err != nil {
			return fmt.Errorf("cannot read the fixtures: %w", err)
		}
		if c.Indices == nil {
			c.Indices = map[string]Index{}
		}
		maps.Copy(c.Indices, shared.Indices)
		return nil
	}
	one := &Case{}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields() // a slip in a key would be an attack that cannot leak
	if err := d.Decode(one); err != nil {
		return fmt.Errorf("cannot read case %q: %w", head.ID, err)
	}
	if err := c.check(one); err != nil {
		return fmt.Errorf("case %q: %w", head.ID, err)
	}
	c.Cases = append(c.Cases, one)
	return nil
}

// check refuses a case that could not tell anything.
func (c *Catalogue) check(one *Case) error {
	name, err := json.Marshal(one.Setup)
	if err != nil {
		return fmt.Errorf("cannot name the setup: %w", err)
	}
	one.SetupName = string(name)
	if slices.ContainsFunc(c.Cases, func(other *Case) bool { return other.ID == one.ID }) {
		return fmt.Errorf("the id is taken")
	}
	if len(one.LeakIf)+len(one.Must) == 0 && len(one.Verify) == 0 {
		return fmt.Errorf("nothing would be a leak; want leak_if, must or verify")
	}
	for _, fixture := range one.Setup.Fixtures {
		if _, ok := c.Indices[fixture]; !ok {
			return fmt.Errorf("no fixture %q", fixture)
		}
	}
	for _, step := range append(slices.Clone(one.Pre), one.Verify...) {
		if !slices.Contains([]string{"self", "victim", "backend"}, step.As) {
			return fmt.Errorf("a step as %q; want self, victim or backend", step.As)
		}
	}
	for _, list := range [][]string{one.LeakIf, one.OKIf, one.Must} {
		for _, text := range list {
			if _, err := ParseCondition(text); err != nil {
				return err
			}
		}
	}
	return nil
}
