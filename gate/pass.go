package gate

import (
	"errors"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/names"
)

// planPass forwards what shows nothing of documents or fields.
func (pl *plan) planPass() Outcome {
	if pl.m.Route.Answer == endpoint.Health {
		return pl.planHealth()
	}
	if pl.m.Route.Targets == endpoint.NoTargets {
		return pl.forward(pl.m.TargetAsNamed(pl.q.Params), nil)
	}
	f, rej := pl.forwardNames(pl.whole())
	if rej != nil {
		return reject(rej)
	}
	return pl.forward(pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)), nil)
}

// forward makes the outcome for a call without a body.
func (pl *plan) forward(target string, treat Treatment) Outcome {
	call, rej := pl.call(target)
	if rej != nil {
		return reject(rej)
	}
	out := Outcome{Kind: Forward, Forward: Forwarding{Call: call, Treat: treat}}
	if pl.m.Route.ChangesState {
		out.Forward.ChangesState = always
	}
	return out
}

// always is the ChangesState of a call that is made to change names.
func always() bool { return true }

// seesIndex is what a principal must hold on an index to learn its health: any node
// tells it to everybody who may ask for the health of the cluster.
var seesIndex = []ask.Privilege{{Action: "indices:monitor/stats"}}

// planHealth forwards the health of the cluster, or of indices that the principal may
// monitor. Levels below the cluster list every index, so they are refused.
func (pl *plan) planHealth() Outcome {
	if level, ok := pl.param("level"); ok && level != "cluster" {
		return reject(notBuilt("parameter [level] with a value other than cluster"))
	}
	exprs := pl.whole().part.Exprs
	if len(exprs) == 0 {
		return pl.forward(pl.m.TargetAsNamed(pl.q.Params), nil)
	}
	j, err := pl.judge(ask.Part{Slot: ask.WholeRequest, Privileges: seesIndex, Exprs: exprs, Opts: pl.whole().part.Opts})
	switch {
	case errors.Is(err, errNeedState):
		return Outcome{Kind: Need, NeedState: true}
	case err != nil:
		return rejectError(err)
	case j.rejection != nil:
		return reject(j.rejection)
	}
	list := concrete(&j)
	if len(list) == 0 {
		return reject(pl.missing(&j, writtenText(exprs)))
	}
	return pl.forward(pl.m.Target(list, pl.q.Params), nil)
}

// concrete lists the concrete indices behind what was allowed, and literal names that
// do not exist, for which the cluster has its own answer.
func concrete(j *judged) []string {
	var list []string
	for _, g := range j.Groups {
		list = append(list, g.Indices...)
	}
	return list
}

// concreteForwarded is forwardNames for endpoints that list what they know of each
// index: aliases and streams by their members.
func (pl *plan) concreteForwarded(j *judged) (forwarded, *ask.Rejection) {
	f, rej := pl.forwardNames(j)
	if rej != nil || len(j.Allowed) == 0 || f.covered {
		return f, rej
	}
	f.names = concrete(j)
	if len(f.names) == 0 {
		f.names, f.opts.Expand = nothing, names.ExpandOpen
	}
	return f, nil
}
