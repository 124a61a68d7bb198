package gate

import (
	"slices"
	"strings"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/names"
)

// planChange opens, closes or blocks indices. They are written one by one, by their own
// names: what a wildcard or an alias comes to mean until the cluster reads it was not
// decided, and the answer would name it.
func (pl *plan) planChange() Outcome {
	if pl.m.Route.Targets == endpoint.NewIndex {
		return pl.planNewIndex()
	}
	j := pl.whole()
	if pl.ruled() { // what others see of hidden documents would change, by someone who can't see them
		return reject(restricted("an index under a document or field rule may not be opened, closed, blocked or set"))
	}
	if pl.m.Route.Body == endpoint.SettingsBody {
		return pl.planSettings(j)
	}
	if rej := pl.checkBlock(); rej != nil {
		return reject(rej)
	}
	f, rej := pl.changedNames(j)
	if rej != nil {
		return reject(rej)
	}
	return pl.forward(pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)), nil)
}

// changedNames lists the concrete indices that were allowed of j, or what matches nothing.
func (pl *plan) changedNames(j *judged) (forwarded, *ask.Rejection) {
	if len(j.resolved.Remote) > 0 {
		return forwarded{}, badRequest("an index of another cluster cannot be opened, closed, blocked or set: [%s]", names.Clip(writtenText(j.part.Exprs)))
	}
	if pl.m.Route.Opts.IgnoreDataStreams {
		for _, t := range j.Allowed {
			if t.Kind == ask.DataStream { // the cluster has no such name here
				return forwarded{}, ask.NoSuchIndex(t.Name, ask.IndexOrAlias)
			}
		}
	}
	if len(j.Allowed) == 0 {
		return pl.writeNames(j)
	}
	if rej := pl.notFound(j); rej != nil {
		return forwarded{}, rej
	}
	return pl.listNames(j, true), nil
}

// blocks are those that the clusters let somebody put on an index.
var blocks = []string{"metadata", "read", "read_only", "write"}

// checkBlock refuses a block that is not one of blocks, where the request puts one.
func (pl *plan) checkBlock() *ask.Rejection {
	name, ok := pl.m.Name()
	if !ok || slices.Contains(blocks, name) {
		return nil
	}
	return badRequest("No block found with name %s; want one of %s", names.Clip(name), strings.Join(blocks, ", "))
}

// tellsOfChange reports whether a route is made to change names or indices, and not
// documents: then the state is newer as soon as the cluster has answered.
func tellsOfChange(r *endpoint.Route) bool {
	return r.ChangesState && (r.Answer == endpoint.Acknowledged || r.Answer == endpoint.Changed || r.Answer == endpoint.Restored)
}
