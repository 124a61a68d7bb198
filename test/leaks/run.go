package leaks

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
)

// A Target is what is attacked: guard, or the node itself for the controls.
type Target struct {
	Host   string
	Policy *Policy // nil: nobody has to tell who he is
	World  *World

	account string // who sends the attacker's requests in his place; empty: nobody
}

// Admin is the account that may do all.
const Admin = adminName

// As returns the same target, attacked by one account in place of all attackers.
func (t Target) As(account string) Target {
	t.account = account
	return t
}

// Outcome is how a case ended.
type Outcome struct {
	Verdict Verdict
	Why     string  // the condition, or what went wrong
	Answer  *Answer // to the request
}

// Run plays the case. The world has to be prepared.
func (t Target) Run(c *Case) (Outcome, error) {
	r := run{Target: t, c: c, captured: map[string]string{}}
	for _, step := range c.Pre {
		a, err := r.step(step)
		if err != nil {
			return Outcome{Verdict: Unexpected, Why: "before: " + err.Error()}, nil //nolint:nilerr // no answer is an outcome
		}
		r.capture(step, a)
	}
	a, err := r.send(t.Host, r.auth(attacker{c.Role, c.User}), &c.Request)
	if err != nil {
		return Outcome{Verdict: Unexpected, Why: err.Error()}, nil //nolint:nilerr // no answer is an outcome
	}
	var after []*Answer
	for _, step := range c.Verify {
		b, err := r.step(step)
		if err != nil {
			return Outcome{Verdict: Unexpected, Why: "after: " + err.Error(), Answer: a}, nil //nolint:nilerr // no answer is an outcome
		}
		after = append(after, b)
	}
	verdict, why, err := c.Judge(a, after, r.replace)
	return Outcome{Verdict: verdict, Why: why, Answer: a}, err
}

// CatchUp returns when guard knows the cluster as it is now: a name that it does not
// know has it read the state anew.
func (t Target) CatchUp() error {
	probe := Request{Method: "GET", Path: fmt.Sprintf("/%s%d/_search", probed, t.World.Loads)}
	a, err := Send(t.Host, basic(proberName, password), &probe)
	if err != nil {
		return err
	}
	if a.Status != http.StatusNotFound {
		return fmt.Errorf("cannot have guard look at the cluster: status %d: %s", a.Status, a.Body)
	}
	return nil
}

// run is a case that is being played.
type run struct {
	Target
	c        *Case
	captured map[string]string
}

// auth returns the credentials of the attacker; the node asks for none.
func (r *run) auth(a attacker) string {
	if r.Policy == nil {
		return ""
	}
	if r.account != "" {
		return basic(r.account, password)
	}
	return basic(r.Policy.names[who(a.Role, a.User)], password)
}

func (r *run) step(s Step) (*Answer, error) {
	switch s.As {
	case "backend":
		return r.send(r.World.host(), "", &s.Request)
	case "victim":
		return r.send(r.Host, r.auth(attacker{Role: s.Role}), &s.Request)
	}
	return r.send(r.Host, r.auth(attacker{r.c.Role, r.c.User}), &s.Request)
}

func (r *run) send(host, auth string, request *Request) (*Answer, error) {
	places := strings.NewReplacer("{HOST}", host, "{BACKEND}", r.World.host(), "{TRANSPORT}", r.World.node.Transport, "{AUTH}", auth)
	switch {
	case request.Auth == "none":
		auth = ""
	case request.Auth == "bad" && r.Policy != nil:
		auth = basic(adminName, "wrong "+password)
	}
	return Send(host, auth, request.replaced(func(s string) string { return places.Replace(r.replace(s)) }))
}

// capture keeps values for later. What is absent stays as it is written, and the
// case then shows that the step did not work.
func (r *run) capture(s Step, a *Answer) {
	for name, from := range s.Capture {
		if from == "status" {
			r.captured[name] = strconv.Itoa(a.Status)
			continue
		}
		switch value := at(a.JSON(), from).(type) {
		case string:
			r.captured[name] = value
		case json.Number:
			r.captured[name] = value.String()
		}
	}
}

// replace puts in what was captured. Other ${…} belong to nobody and stay.
func (r *run) replace(text string) string {
	for name, value := range r.captured {
		text = strings.ReplaceAll(text, "${"+name+"}", value)
	}
	return text
}

// replaced returns the request with f applied to all of its texts.
func (r *Request) replaced(f func(string) string) *Request {
	other := *r
	other.Path, other.Raw = f(r.Path), f(r.Raw)
	if len(r.Body) > 0 {
		other.Body = json.RawMessage(f(string(r.Body)))
	}
	other.Headers = maps.Clone(r.Headers)
	for name, value := range r.Headers {
		other.Headers[name] = f(value)
	}
	return &other
}

// String shows the request for a report.
func (r *Request) String() string {
	if r.Raw != "" {
		return fmt.Sprintf("raw %.300q", r.Raw)
	}
	body, err := r.Bytes()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %s %v %.600s", r.Method, r.Path, r.Headers, body)
}
