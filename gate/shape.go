package gate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"guard/fls"
	"guard/internal/ask"
	"guard/internal/esjson"
)

// documentCheck is the second barrier of a call for one document: what the cluster took
// the path for, its answer is passed on only if it is that of the document, or an error.
type documentCheck struct {
	kind  *documentKind
	id    string // empty: the cluster chose it
	index decidedIndex
	cut   bool      // filter_path can have taken out what identifies the document
	then  Treatment // of an answer that passed; nil if it stays
}

// documentKind says what an answer about one document holds.
type documentKind struct {
	outcome string   // the member that says what became of the request
	values  []string // what it can be
	members []string // all members
	public  string   // why another answer is withheld
}

var (
	writtenKind = documentKind{
		outcome: "result", values: []string{`"created"`, `"updated"`, `"deleted"`, `"not_found"`, `"noop"`},
		members: []string{"_index", "_type", "_id", "_version", "result", "forced_refresh", "_shards", "_seq_no", "_primary_term", "get"},
		public:  "the cluster's answer is not that of a write of this document, so it is withheld; whether the document was written is not known",
	}
	readKind = documentKind{
		outcome: "found", values: []string{"true", "false"},
		members: []string{"_index", "_type", "_id", "_version", "_seq_no", "_primary_term", "_routing", "_ignored", "found", "_source", "fields", "ignored_field_values"},
		public:  "the cluster's answer is not that of a read of this document, so it is withheld",
	}
)

// checkWrite returns the check for the write of one document, whose answer is treated
// by then.
func (pl *plan) checkWrite(j *judged, then Treatment) Treatment {
	c := pl.check(&writtenKind, j, pl.q.Params, then)
	c.id, _ = pl.m.ID()
	return c
}

// checkRead is checkWrite for a document that is read by id with params.
func (pl *plan) checkRead(it *docItem, params []ask.Param, then Treatment) Treatment {
	c := pl.check(&readKind, pl.whole(), params, then)
	c.id = it.id
	return c
}

func (pl *plan) check(kind *documentKind, j *judged, params []ask.Param, then Treatment) *documentCheck {
	c := &documentCheck{kind: kind, index: pl.decidedIndex(j), then: then}
	c.cut = slices.ContainsFunc(params, func(p ask.Param) bool { return p.Name == "filter_path" })
	return c
}

// Treat passes on what is an answer about the document.
func (c *documentCheck) Treat(a Answer) (Answer, error) {
	failed, err := c.check(a.Body)
	switch {
	case a.Status >= 400 && err != nil && !isObject(a.Body):
		return cleanError(a) // whoever stands between, its status is all that it says
	case err == nil && failed && a.Status < 400:
		err = fmt.Errorf("it is an error with status %d", a.Status)
	}
	if err != nil {
		return Answer{}, &ask.Rejection{
			Status: 502, Type: "exception", Reason: ask.ReasonUpstream, Public: c.kind.public,
			Cause: fmt.Errorf("cannot use the cluster's answer for document %q: %w", c.id, err),
		}
	}
	if c.then == nil {
		return a, nil
	}
	return c.then.Treat(a)
}

func isObject(body []byte) bool {
	i := esjson.SkipSpace(body, 0)
	return i < len(body) && body[i] == '{'
}

// check looks at the members of an answer and reports whether it is an error.
func (c *documentCheck) check(body []byte) (failed bool, err error) {
	var index, id, outcome, other bool
	scan := esjson.ScanObject(body)
	for scan.Next() {
		ok := true
		switch key := string(scan.Key); key {
		case "error":
			failed = true
		case "status":
		case "_index":
			index, ok = true, c.index.is(scan.Value)
		case "_id":
			id, ok = true, c.id == "" || textIs(scan.Value, c.id)
		case c.kind.outcome:
			outcome, ok = true, slices.Contains(c.kind.values, string(scan.Value))
		default:
			other = other || !slices.Contains(c.kind.members, key)
		}
		if !ok && string(scan.Key) == "_index" {
			return false, fmt.Errorf("it has _index: %s: %w", clipped(scan.Value), fls.ErrOtherIndex)
		}
		if !ok {
			return false, fmt.Errorf("it has %s: %s", scan.Key, clipped(scan.Value))
		}
	}
	identified := index && id && outcome
	switch {
	case scan.Err() != nil:
		return false, scan.Err()
	case failed && (other || index || id || outcome):
		return false, errors.New("it is an error and more")
	case failed, identified, c.cut && !other:
		return failed, nil
	default:
		return false, fmt.Errorf("it lacks _index, _id or %s", c.kind.outcome)
	}
}

// textIs reports whether lexeme is a string that means s.
func textIs(lexeme []byte, s string) bool {
	if bytes.IndexByte(lexeme, '\\') >= 0 {
		return textOf(lexeme) == s
	}
	return len(lexeme) == len(s)+2 && lexeme[0] == '"' && string(lexeme[1:len(lexeme)-1]) == s
}

// textOf returns what lexeme means as a string.
func textOf(lexeme []byte) string {
	if len(lexeme) < 2 || lexeme[0] != '"' {
		return ""
	}
	return string(esjson.AppendUnescaped(nil, lexeme))
}

// maxClipped bounds what a cause repeats of an answer.
const maxClipped = 64

func clipped(b []byte) []byte { return b[:min(len(b), maxClipped)] }

// decidedIndex tells the indices in which a document may be that was asked for by a
// name.
type decidedIndex struct {
	target      ask.Target
	snapshot    *Snapshot
	who         *ask.Principal
	part        ask.Part
	restriction ask.RestrictionID
	now         time.Time
}

func (pl *plan) decidedIndex(j *judged) decidedIndex {
	d := decidedIndex{target: j.Allowed[0], snapshot: pl.s, who: pl.who, part: j.part, now: pl.r.Now}
	if len(j.Groups) == 1 {
		d.restriction = j.Groups[0].Restriction
	}
	return d
}

// is reports whether lexeme is the name of such an index: the one that was named, a
// member of the alias or stream, or one that the principal may use alike, if it was put
// behind the name since, or was chosen by a pipeline of the index.
func (d *decidedIndex) is(lexeme []byte) bool {
	if textIs(lexeme, d.target.Name) || slices.ContainsFunc(d.target.Members, func(m string) bool { return textIs(lexeme, m) }) {
		return true
	}
	name := textOf(lexeme)
	if name == "" || strings.ContainsAny(name, "*?") {
		return false
	}
	if d.target.Kind == ask.DataStream && strings.HasPrefix(name, ".ds-"+d.target.Name+"-") {
		return true
	}
	res := ask.Resolved{Targets: []ask.Target{{Name: name, Kind: ask.Index, Members: []string{name}}}}
	other := d.snapshot.policy.Decide(d.who, cluster{d.snapshot.state}, d.part, res, d.now)
	return other.Complete() && len(other.Groups) == 1 && other.Groups[0].Restriction == d.restriction
}
