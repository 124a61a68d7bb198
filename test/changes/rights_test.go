package changes

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// span is a time in which an index was granted: from before the request that gave it
// until after the one that took it. A zero end is still to come.
type span struct{ from, to time.Time }

// journal holds when indices were granted that are not granted for good. Its keys are a
// group of people and the name of an index.
type journal struct {
	mu    sync.Mutex // guards spans
	spans map[string][]span
}

func (j *journal) grant(group, index string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.spans == nil {
		j.spans = map[string][]span{}
	}
	j.spans[group+" "+index] = append(j.spans[group+" "+index], span{from: time.Now()})
}

func (j *journal) revoke(group, index string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.spans[group+" "+index]
	list[len(list)-1].to = time.Now()
}

// late returns how long before start the last grant had ended: zero if one was there at
// any moment between start and end. It reports whether there was any.
func (j *journal) late(group, index string, start, end time.Time) (time.Duration, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := j.spans[group+" "+index]
	for i := len(list) - 1; i >= 0; i-- {
		switch s := list[i]; {
		case s.from.After(end): // came later
		case s.to.IsZero(), s.to.After(start):
			return 0, true
		default:
			return start.Sub(s.to), true
		}
	}
	return 0, false
}

// Every document tells where it was made, in which life of the index and for whom, and
// every pin where it stood: no answer can hold one without saying so. Names of indices
// begin with one of a few words.
var (
	markText = regexp.MustCompile(`(doc|pin):([a-z0-9.-]+):(\d+):([a-z]+):`)
	nameText = regexp.MustCompile(`\b(?:vault|sec|mem|swap|own)-[a-z0-9]+(?:-\d+)*`)
)

// markOf is the mark of a document, or of its pin.
func markOf(what, index string, life int64, tenant string) string {
	return fmt.Sprintf("%s:%s:%d:%s:", what, index, life, tenant)
}

// person is somebody who asks, and what he may see: the oracle of the test, written
// without a look at how guard decides.
type person struct {
	name  string
	group string // of the journal
	// always are beginnings of names that are granted for good.
	always  []string
	tenant  string   // documents of others are hidden from him; empty: of nobody
	noPins  bool     // the field is hidden from him
	mixed   bool     // he has indices with a rule and without
	namesOf []string // beginnings of names that may be told to him, beside what is granted
	places  []string // what he asks about
	single  []string // those among them that mean one index
}

// granted returns how long before start the person's right on the index had ended; an
// error if he had none.
func (p *person) granted(j *journal, index string, start, end time.Time) (time.Duration, error) {
	for _, a := range p.always {
		if strings.HasPrefix(index, a) {
			return 0, nil
		}
	}
	late, ever := j.late(p.group, index, start, end)
	if !ever {
		return 0, fmt.Errorf("%s was never granted", index)
	}
	return late, nil
}

// check says what an answer shows that the person may not see. The error is a leak; the
// duration tells how old the state was by which the answer is right.
func (p *person) check(j *journal, request string, body []byte, start, end time.Time) (late time.Duration, err error) {
	for _, m := range markText.FindAllSubmatch(body, -1) {
		what, index, tenant := string(m[1]), string(m[2]), string(m[4])
		age, err := p.granted(j, index, start, end)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s: %w", m[0], err)
		case p.tenant != "" && tenant != p.tenant:
			return 0, fmt.Errorf("%s: he may see tenant %s alone", m[0], p.tenant)
		case p.noPins && what == "pin":
			return 0, fmt.Errorf("%s: the field is hidden from him", m[0])
		}
		late = max(late, age)
	}
	for _, m := range nameText.FindAll(body, -1) {
		name := string(m)
		if strings.Contains(request, name) || startsWith(name, p.namesOf) {
			continue
		}
		age, err := p.granted(j, name, start, end)
		if err != nil {
			return 0, fmt.Errorf("the name %w", err)
		}
		late = max(late, age)
	}
	return late, nil
}

func startsWith(name string, beginnings []string) bool {
	for _, b := range beginnings {
		if strings.HasPrefix(name, b) {
			return true
		}
	}
	return false
}
