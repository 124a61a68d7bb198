package gate

import (
	"errors"
	"slices"
	"strings"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/query"
)

// checkParams refuses parameters that no restriction can bind. Those of searches are
// the query tables' to judge.
func (pl *plan) checkParams() error {
	for _, p := range pl.q.Params {
		switch pl.m.Kind(p.Name) {
		case endpoint.Outside:
			off := "false"
			if strings.HasSuffix(p.Name, "pipeline") {
				off = "_none"
			}
			if p.Value != off && !pl.searches() {
				return notBuilt("parameter [" + p.Name + "]")
			}
		case endpoint.AnswerFormat:
			if p.Value != "json" && pl.m.Route.Answer != endpoint.CatIndices {
				return notBuilt("parameter [format] with a value other than json")
			}
		}
	}
	return nil
}

func (pl *plan) searches() bool {
	switch pl.m.Route.Answer {
	case endpoint.Hits, endpoint.Count, endpoint.Responses:
		return true
	default:
		return false
	}
}

// toQuery and fromQuery carry parameters over to the query tables and back: those do
// not know of requests.
func toQuery(params []ask.Param) []query.Param {
	out := make([]query.Param, len(params))
	for i, p := range params {
		out[i] = query.Param(p)
	}
	return out
}

func fromQuery(params []query.Param) []ask.Param {
	out := make([]ask.Param, len(params))
	for i, p := range params {
		out[i] = ask.Param(p)
	}
	return out
}

// refusedQuery turns an error of the walker into what is sent.
func refusedQuery(err error) *ask.Rejection {
	var r *query.Refusal
	switch {
	case !errors.As(err, &r):
		return asRejection(err)
	case r.BadValue:
		return &ask.Rejection{Status: 400, Type: "illegal_argument_exception", Public: r.Error(), Reason: ask.ReasonBadRequest}
	case r.NotBuilt:
		return &ask.Rejection{Status: 403, Type: "security_exception", Public: r.Error(), Reason: ask.ReasonNotBuilt}
	default:
		return &ask.Rejection{Status: 403, Type: "security_exception", Public: r.Error(), Reason: ask.ReasonRestricted}
	}
}

// paramList returns the elements of a comma-separated parameter.
func (pl *plan) paramList(name string) []string {
	text, ok := pl.param(name)
	if !ok || text == "" {
		return nil
	}
	return slices.DeleteFunc(strings.Split(text, ","), func(s string) bool { return s == "" })
}

func (pl *plan) param(name string) (string, bool) {
	for _, p := range pl.q.Params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}
