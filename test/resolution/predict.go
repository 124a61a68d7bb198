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

// Options reads the URL parameters of a case over the defaults of a search.
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
	if len(r.Faults) > 0 {
		return Answer{Status: http.StatusNotFound}
	}
	return searched(s, indexresolver.Indices(r), o)
}

// Fault is the error that the cluster answers a search with by the same resolution; nil if
// there is none, or one about a closed index.
func Fault(s *indexresolver.State, exprs []names.Expr, o names.Options, now time.Time) *ask.Rejection {
	r, err := s.Resolve(exprs, o, now)
	var rejection *ask.Rejection
	switch {
	case errors.As(err, &rejection):
		return rejection
	case len(r.Faults) > 0:
		return r.Faults[0].Rejection()
	case searched(s, indexresolver.Indices(r), o).Status != http.StatusNotFound:
		return nil
	}
	list := make([]string, len(exprs))
	for i, e := range exprs {
		list[i] = string(e)
	}
	return ask.NothingLeft(list, ask.IndexExpression)
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
