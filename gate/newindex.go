package gate

import (
	"fmt"
	"regexp"
	"strconv"

	"guard/authz"
	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
)

// planNewIndex forwards what makes an index out of another one, or in its place. A copy of
// documents that a rule hides would be free of the rule under another name, and an alias
// whose rules bind may not be moved: whoever is bound on either index is refused.
func (pl *plan) planNewIndex() Outcome {
	if out, final := pl.checkNewAliases(); final {
		return out
	}
	source := pl.whole()
	if source.bound() {
		return reject(restricted("[%s] is refused where a document, field or mask rule binds you on the source", pl.m.Route.ID))
	}
	if rej := pl.checkSource(source); rej != nil {
		return reject(rej)
	}
	path := []string{source.Allowed[0].Name, pl.r.Path[1]}
	if i, named := pl.m.NewIndexPart(); named {
		made := pl.judgedPart(i)
		if len(made.Allowed) != 1 {
			return reject(pl.missing(made, writtenText(made.part.Exprs)))
		}
		if made.bound() {
			return reject(restricted("[%s] is refused where a document, field or mask rule will bind you on the new index", pl.m.Route.ID))
		}
		path = append(path, made.Allowed[0].Name)
	}
	body, rej := pl.newIndexBody()
	if rej != nil {
		return reject(rej)
	}
	return pl.sendChange(pl.r.Method, endpoint.Target(path, pl.q.Params), body)
}

// checkSource refuses to roll over what cannot be, and to resize what is not one index by its
// own name.
func (pl *plan) checkSource(source *judged) *ask.Rejection {
	if pl.m.Route.Body == endpoint.RolloverBody {
		return pl.checkRolledOver(source)
	}
	if len(source.Allowed) != 1 || source.Allowed[0].Kind != ask.Index {
		return ask.NoSuchIndex(writtenText(source.part.Exprs), ask.IndexOrAlias)
	}
	return nil
}

// checkRolledOver refuses to roll over what is not one alias or stream, in the words of the
// cluster, or where it would make up a name that nobody may take.
func (pl *plan) checkRolledOver(source *judged) *ask.Rejection {
	if len(source.Allowed) != 1 || source.Allowed[0].Kind == ask.Missing {
		return badRequest("rollover target [%s] does not exist", writtenText(source.part.Exprs))
	}
	t := &source.Allowed[0]
	if t.Kind == ask.Index {
		return badRequest("rollover target is a [concrete index] but one of [alias,data_stream] was expected")
	}
	if _, named := pl.m.NewIndexPart(); named {
		return nil
	}
	for _, index := range t.Members {
		next, ok := nextGeneration(index)
		if !ok {
			continue // the cluster refuses, unless another one takes writes
		}
		then := withGeneration{cluster{pl.s.state}, next, t}
		if pl.s.policy.Closed(pl.who, then, next, pl.r.Now) {
			return forbiddenAction(pl.who, source.part.Privileges[0].Action, []string{t.Name})
		}
		if pl.s.policy.Restriction(pl.who, then, next, pl.r.Now).ID != ask.Free {
			return restricted("[%s] is refused where a document, field or mask rule will bind you on the new index", pl.m.Route.ID)
		}
	}
	return nil
}

// withGeneration is a cluster once an alias or a stream has its next index.
type withGeneration struct {
	cluster
	index string
	of    *ask.Target
}

var _ authz.Cluster = withGeneration{}

// Aliases returns the aliases of an index.
func (c withGeneration) Aliases(name string) []string {
	if name == c.index && c.of.Kind == ask.Alias {
		return []string{c.of.Name}
	}
	return c.cluster.Aliases(name)
}

// Stream returns the data stream that an index is a generation of, or "".
func (c withGeneration) Stream(index string) string {
	if index == c.index && c.of.Kind == ask.DataStream {
		return c.of.Name
	}
	return c.cluster.Stream(index)
}

var numbered = regexp.MustCompile(`^(.*-)(\d{1,9})$`)

// nextGeneration returns the name that the clusters make up for what follows an index: its
// number and one, in six digits or more (measured). A date in a name that was written as date
// math is another one by then: it does not change which of the policy's patterns mean the
// name, unless they name dates.
func nextGeneration(index string) (string, bool) {
	m := numbered.FindStringSubmatch(index)
	if m == nil {
		return "", false
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("%s%06d", m[1], n+1), true
}

// newIndexBody returns the body, which may not set what a creation may not.
func (pl *plan) newIndexBody() ([]byte, *ask.Rejection) {
	if len(pl.q.Body) == 0 {
		return nil, nil
	}
	v, rej := pl.parse(pl.q.Body)
	if rej != nil {
		return nil, rej
	}
	if rej := pl.checkNewIndex(); rej != nil {
		return nil, rej
	}
	return esjson.AppendValue(nil, v), nil
}
