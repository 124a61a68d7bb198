// Package resolution predicts from a resolution what a cluster answers to a search.
// The tests of the resolver and those against real nodes share it: that the
// prediction is right shows that a resolution loses nothing the answer depends on.
package resolution

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"guard/indexresolver"
	"guard/internal/ask"
	"guard/internal/names"
)

// Search are the options of a search without parameters.
var Search = names.Options{Expand: names.ExpandOpen, AllowNoIndices: true}

// Options reads the URL parameters of a recorded case over the defaults of a search.
func Options(query string) (names.Options, error) {
	o := Search
	for part := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "":
		case "expand_wildcards":
			e, err := names.ParseExpand(strings.FieldsFunc(value, func(r rune) bool { return r == ',' })...)
			if err != nil {
				return names.Options{}, err
			}
			o.Expand = e
		case "ignore_unavailable":
			o.IgnoreUnavailable = value == "true"
		case "allow_no_indices":
			o.AllowNoIndices = value == "true"
		default:
			return names.Options{}, fmt.Errorf("parameter %q is unknown; want one of the index options", key)
		}
	}
	return o, nil
}

// Answer is what a search would do: the status, and the indices that it searches.
type Answer struct {
	Status  int
	Indices string
}

// Predict says from a resolution what the cluster answers to the search itself. It
// holds that a resolution loses nothing of what the cluster's answer depends on.
func Predict(s *indexresolver.State, exprs []names.Expr, o names.Options, now time.Time) Answer {
	r, err := s.Resolve(exprs, o, now)
	var rejection *ask.Rejection
	if errors.As(err, &rejection) {
		return Answer{Status: rejection.Status.Code()}
	}
	missing := len(r.Unknown) > 0
	lost := len(r.NoMatch) > 0
	for _, x := range r.Excluded {
		_, known := s.Lookup(x)
		missing = missing || !known && !names.Expr(x).IsWildcard()
		lost = lost || names.Expr(x).IsWildcard() && !anyMatch(s, x)
	}
	fatal := !o.IgnoreUnavailable
	if o.Expand.Nothing() { // no wildcard is read: one name may be missing, of several none
		missing, lost = missing || lost, false
		if len(exprs) == 1 {
			fatal = !o.AllowNoIndices
		}
	}
	if missing && fatal || lost && !o.AllowNoIndices {
		return Answer{Status: http.StatusNotFound}
	}
	return searched(s, indexresolver.Indices(r), o)
}

func anyMatch(s *indexresolver.State, wildcard string) bool {
	p, ok := names.Expr(wildcard).Pattern()
	for t := range s.Targets() {
		if ok && p.Match(t.Name) {
			return true
		}
	}
	return false
}

// searched applies what a search does to closed indices and to the empty list.
func searched(s *indexresolver.State, indices []string, o names.Options) Answer {
	var open []string
	for _, name := range indices {
		if x, _ := s.Index(name); !x.Closed {
			open = append(open, name)
		} else if !o.IgnoreUnavailable {
			return Answer{Status: http.StatusBadRequest}
		}
	}
	if len(open) == 0 && !o.AllowNoIndices {
		return Answer{Status: http.StatusNotFound}
	}
	slices.Sort(open)
	return Answer{Status: http.StatusOK, Indices: strings.Join(open, ",")}
}
