package gate

import (
	"fmt"
	"strings"

	"guard/authz"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// maxNamedTargets bounds the names that a refusal repeats; the rest is counted.
const maxNamedTargets = 5

// reject makes an outcome of r.
func reject(r *ask.Rejection) Outcome { return Outcome{Kind: Reject, Rejection: *r} }

// rejectError makes an outcome of an error: a Rejection inside it is sent as it is,
// anything else is guard's own fault and says nothing.
func rejectError(err error) Outcome {
	return reject(asRejection(err))
}

// forbidden is the refusal for missing privileges. Its text begins as that of the
// OpenSearch Security plugin, which clients and dashboards recognise, and goes on
// with the names that the client wrote itself; never with a name it could not see
// (law 12). It shortens written. What was missing cell by cell is for whoever decided to say.
func forbidden(p *ask.Principal, actions, written []string) *ask.Rejection {
	on := ""
	for i, name := range written {
		written[i] = names.Clip(name)
	}
	if len(written) > 0 {
		on = " on [" + someOf(written) + "]"
	}
	text := "no permissions for [" + strings.Join(actions, ", ") + "] and User [name=" + p.Name +
		", backend_roles=[" + strings.Join(p.BackendRoles, ", ") + "], requestedTenant=null]" + on
	first := ""
	if len(actions) > 0 {
		first = actions[0]
	}
	return &ask.Rejection{
		Status: 403, Type: "security_exception", Public: text,
		Reason: ask.ReasonNoPrivilege, Action: first,
	}
}

// forbiddenAction is forbidden where one action is missing on each of the names.
func forbiddenAction(p *ask.Principal, action string, written []string) *ask.Rejection {
	r := forbidden(p, []string{action}, written)
	r.Missing = func(most int) (cells []string, more int) {
		for _, name := range written[:min(most, len(written))] {
			cells = append(cells, cellText(action, name))
		}
		return cells, len(written) - len(cells)
	}
	return r
}

// cellText is an action with the name that it is missing on; none is the cluster.
func cellText(action, name string) string {
	if name == "" {
		return action
	}
	return action + " on " + names.Clip(name)
}

// missingCells lists what a decision misses, as ask.Rejection has it.
type missingCells struct{ decision authz.Decision }

func (m missingCells) list(most int) (cells []string, more int) {
	missing, more := m.decision.Missing(most)
	for _, c := range missing {
		cells = append(cells, cellText(c.Action, c.Target))
	}
	return cells, more
}

// restricted is the refusal of what a document or field rule does not allow.
func restricted(format string, args ...any) *ask.Rejection {
	return &ask.Rejection{
		Status: 403, Type: "security_exception", Reason: ask.ReasonRestricted,
		Public: fmt.Sprintf(format, args...),
	}
}

// notBuilt is the refusal of what guard knows and does not do yet.
func notBuilt(what string) *ask.Rejection {
	return &ask.Rejection{
		Status: 403, Type: "security_exception", Reason: ask.ReasonNotBuilt,
		Public: what + " is not supported yet for users who do not hold every privilege",
	}
}

// badRequest is the refusal of what the cluster would not understand either.
func badRequest(format string, args ...any) *ask.Rejection {
	return &ask.Rejection{
		Status: 400, Type: "illegal_argument_exception", Reason: ask.ReasonBadRequest,
		Public: fmt.Sprintf(format, args...),
	}
}

// staleState is the refusal while the picture of the cluster is missing or too old.
func staleState(cause error) *ask.Rejection {
	return &ask.Rejection{
		Status: 503, Type: "cluster_block_exception", Reason: ask.ReasonStateStale,
		Public: "the state of the cluster is unknown or too old to decide; try again", Cause: cause,
	}
}

// someOf lists the first names and counts the others.
func someOf(list []string) string {
	if len(list) <= maxNamedTargets {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(list[:maxNamedTargets], ", "), len(list)-maxNamedTargets)
}

// ErrorBody is a refusal as an answer of its own, in the cluster's shape, and as a refused
// search stands among the responses. Only what is public goes into it.
func ErrorBody(r *ask.Rejection) []byte {
	var w esjson.Writer
	w.Reset(make([]byte, 0, 256+2*len(r.Text())))
	w.BeginObject()
	w.Key("error")
	writeError(&w, r, true)
	w.Key("status")
	w.Int(int64(r.Status.Code()))
	w.EndObject()
	return w.Bytes()
}

// writeError writes the error object of a refusal, with root_cause where the place
// has one.
func writeError(w *esjson.Writer, r *ask.Rejection, rootCause bool) {
	w.BeginObject()
	if rootCause {
		w.Key("root_cause")
		w.BeginArray()
		writeError(w, r, false)
		w.EndArray()
	}
	w.Key("type")
	w.Text(r.Type.Name())
	w.Key("reason")
	w.Text(r.Text())
	for _, m := range r.IndexMembers() {
		if len(m.Texts) != 1 {
			writeTexts(w, m.Key, m.Texts)
			continue
		}
		w.Key(m.Key)
		w.Text(m.Texts[0])
	}
	w.EndObject()
}
