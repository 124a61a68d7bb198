package gate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"guard/endpoint"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// planRestore forwards a restore of indices that the snapshot has, by their names there. What
// a snapshot holds is in no state, so it is asked first. A copy of an index that a rule binds
// would be free of it under another name: whoever is bound on the old or the new name is
// refused, and who renames must be able to read what he renames.
func (pl *plan) planRestore() Outcome {
	asked, err := endpoint.ReadRestore(pl.q.Body)
	if err != nil {
		return rejectError(err)
	}
	if namesPipeline(asked.Settings) {
		return reject(notBuilt("a pipeline in the settings of an index"))
	}
	if len(pl.known.Answers) == 0 {
		return Outcome{Kind: Need, Needs: []Call{{Method: "GET", Target: endpoint.Target(pl.r.Path[:3], nil), OwnAccount: true, Repeatable: true}}}
	}
	answer := &pl.known.Answers[0]
	if answer.Status != 200 {
		return Outcome{Kind: Local, Local: *answer} // there is no such repository, or snapshot
	}
	holding, err := readSnapshot(answer.Body)
	if err != nil {
		return rejectError(err)
	}
	if err := pl.count(max(1, len(asked.Names))*(len(holding.indices)+len(holding.streams)), 0); err != nil {
		return rejectError(err)
	}
	r := &restore{asked: &asked}
	if rej := r.find(holding); rej != nil {
		return reject(rej)
	}
	if rej := r.rename(); rej != nil {
		return reject(rej)
	}
	if out, final := pl.mayRestore(r); final {
		return out
	}
	call, rej := pl.call(pl.m.TargetAsNamed(pl.q.Params))
	if rej != nil {
		return reject(rej)
	}
	setBody(&call, r.body())
	return Outcome{Kind: Forward, Forward: Forwarding{Call: call, ChangesState: always}}
}

// holding is what a snapshot has.
type holding struct{ indices, streams []string }

// readSnapshot reads the cluster's description of one snapshot.
func readSnapshot(body []byte) (holding, error) {
	var h holding
	v, err := esjson.Parse(new(esjson.Tape), body, answerLimits())
	if err != nil {
		return h, fmt.Errorf("cannot read what the snapshot holds: %w", err)
	}
	list, ok := v.Lookup("snapshots")
	if !ok || list.Len() != 1 {
		return h, errors.New("cannot read what the snapshot holds: want one element in [snapshots]")
	}
	for _, s := range list.Elements() {
		indices, ok := s.Lookup("indices")
		if !ok {
			return h, errors.New("cannot read what the snapshot holds: it has no [indices]")
		}
		h.indices = textsIn(indices)
		if streams, ok := s.Lookup("data_streams"); ok {
			h.streams = textsIn(streams)
		}
	}
	return h, nil
}

func textsIn(list esjson.Value) (texts []string) {
	for _, e := range list.Elements() {
		texts = append(texts, e.String())
	}
	return texts
}

// restore is one on its way to the cluster: sources[i] becomes targets[i].
type restore struct {
	asked            *endpoint.Restore
	sources, targets []string
	replacement      string // of a pattern that matches each source as $1, in Java's syntax
}

// find lists the indices of the snapshot that the client means.
func (r *restore) find(h holding) *ask.Rejection {
	exprs := r.asked.Names
	if len(exprs) == 0 || len(exprs) == 1 && exprs[0] == "_all" {
		exprs = []names.Expr{"*"}
	}
	for _, e := range exprs {
		if strings.HasPrefix(string(e), "-") {
			return notBuilt("an exclusion in [indices] of a restore")
		}
		p, ok := e.Pattern()
		found := func(name string) bool { return name == string(e) || e.IsWildcard() && ok && p.Match(name) }
		if i := slices.IndexFunc(h.streams, found); i >= 0 {
			return notBuilt("[" + names.Clip(h.streams[i]) + "] is a data stream: a restore of one")
		}
		some := false
		for _, name := range h.indices {
			if found(name) {
				some = true
				r.sources = append(r.sources, name)
			}
		}
		if !some && !e.IsWildcard() && !r.asked.Lenient {
			return ask.NoSuchIndex(string(e), ask.IndexExpression)
		}
	}
	slices.Sort(r.sources)
	r.sources = slices.Compact(r.sources)
	if len(r.sources) == 0 {
		return badRequest("[%s] means no index of the snapshot", names.Clip(writtenText(exprs)))
	}
	if i := slices.IndexFunc(r.sources, func(name string) bool { return strings.HasPrefix(name, ".ds-") }); i >= 0 {
		return notBuilt("[" + names.Clip(r.sources[i]) + "] belongs to a data stream: a restore of it")
	}
	return nil
}

// maxRename bounds the pattern of a rename and its replacement, in bytes: what a name can have.
const maxRename = 255

// group is a part of a rename that stands for what a bracket matched. Java and this language
// read it alike.
var group = regexp.MustCompile(`\$\d`)

// rename finds the new names. The pattern is read in this language, where Java may see
// something else; what is forwarded says what was found here.
func (r *restore) rename() *ask.Rejection {
	if r.asked.Pattern == "" {
		r.targets = r.sources
		return nil
	}
	if len(r.asked.Pattern) > maxRename || len(r.asked.Replacement) > maxRename {
		return badRequest("[rename_pattern] and [rename_replacement] take %d and %d bytes; want at most %d each", len(r.asked.Pattern), len(r.asked.Replacement), maxRename)
	}
	if i := slices.IndexFunc(r.sources, func(name string) bool { return strings.ContainsAny(name, "\u0085\u2028\u2029") }); i >= 0 {
		return notBuilt("a rename of an index with the end of a line in its name") // Java's '.' stops there
	}
	pattern, err := regexp.Compile(r.asked.Pattern)
	if err != nil {
		return badRequest("cannot use [%s] as [rename_pattern]: %v", names.Clip(r.asked.Pattern), err)
	}
	plain := group.ReplaceAllString(r.asked.Replacement, "")
	if strings.ContainsAny(plain, `$\`) {
		return badRequest("cannot use [%s] as [rename_replacement]; want text with $0 to $9", names.Clip(r.asked.Replacement))
	}
	with := group.ReplaceAllStringFunc(r.asked.Replacement, func(g string) string { return "${" + g[1:] + "}" })
	taken := map[string]string{}
	for _, name := range r.sources {
		target := pattern.ReplaceAllString(name, with)
		if err := names.CheckName(target); err != nil {
			return ask.InvalidIndexName(target, err.Error())
		}
		if other, ok := taken[target]; ok {
			return badRequest("indices [%s] and [%s] are renamed into the same index [%s]", names.Clip(name), names.Clip(other), names.Clip(target))
		}
		taken[target] = name
		r.targets = append(r.targets, target)
	}
	return r.express()
}

// express finds a replacement that makes of each source its target, whatever the cluster reads
// in the client's own: the one new name, or the same text before and behind each old one.
func (r *restore) express() *ask.Rejection {
	quoted := strings.NewReplacer("$", `\$`)
	source, target := r.sources[0], r.targets[0]
	if len(r.sources) == 1 {
		r.replacement = quoted.Replace(target)
		return nil
	}
	before, after, ok := strings.Cut(target, source)
	for i := range r.sources {
		ok = ok && r.targets[i] == before+r.sources[i]+after
	}
	if !ok {
		return notBuilt("a rename of several indices that does not put the same text before or behind each: a restore of them at once")
	}
	r.replacement = quoted.Replace(before) + "$1" + quoted.Replace(after)
	return nil
}

// mayRestore asks for the new names, and for the old ones that are lost. It reports whether
// that settles the request.
func (pl *plan) mayRestore(r *restore) (Outcome, bool) {
	if out, final := pl.mayNames(endpoint.RestoredPart(exprsOf(r.targets))); final {
		return out, true
	}
	var lost []string
	for i, name := range r.sources {
		if name != r.targets[i] {
			lost = append(lost, name)
		}
	}
	if len(lost) > 0 {
		if out, final := pl.mayNames(endpoint.RenamedPart(exprsOf(lost))); final {
			return out, true
		}
	}
	for _, name := range r.sources {
		// A rule can bind by an alias, and nobody knows which the index had.
		if _, there := pl.s.state.Index(name); !there && pl.s.policy.Ruled(pl.who) {
			return reject(restricted("[%s] of [%s] is refused: it is not there now, so nobody can tell whether a rule of yours bound you on it", pl.m.Route.ID, names.Clip(name))), true
		}
	}
	return Outcome{}, false
}

// mayNames refuses a part that is not granted as a whole, or on which a rule binds.
func (pl *plan) mayNames(part ask.Part) (Outcome, bool) {
	j, err := pl.judge(part)
	switch {
	case errors.Is(err, errNeedState):
		return Outcome{Kind: Need, NeedState: true}, true
	case err != nil:
		return rejectError(err), true
	case j.rejection != nil:
		return reject(j.rejection), true
	case j.bound():
		return reject(restricted("[%s] is refused where a document, field or mask rule binds you on the old or the new name", pl.m.Route.ID)), true
	}
	for i := range j.Allowed {
		if t := &j.Allowed[i]; t.Kind == ask.Alias || t.Kind == ask.DataStream {
			return reject(badRequest("[%s] is an alias or a data stream; want the name of an index, or one that nothing has", names.Clip(t.Name))), true
		}
	}
	return Outcome{}, false
}

func exprsOf(list []string) []names.Expr {
	exprs := make([]names.Expr, len(list))
	for i, name := range list {
		exprs[i] = names.Expr(name)
	}
	return exprs
}

// body writes the restore with the names of the snapshot one by one, and a rename that makes
// of each the name that was decided and no other.
func (r *restore) body() []byte {
	var w esjson.Writer
	w.BeginObject()
	writeTexts(&w, "indices", r.sources)
	for _, key := range []string{"ignore_unavailable", "include_global_state", "include_aliases"} {
		w.Key(key)
		w.Raw([]byte("false"))
	}
	writeGiven(&w, "partial", r.asked.Partial)
	writeGiven(&w, "index_settings", r.asked.Settings)
	writeGiven(&w, "ignore_index_settings", r.asked.IgnoredSettings)
	if !slices.Equal(r.sources, r.targets) {
		w.Key("rename_pattern")
		w.Text("^(.+)$")
		w.Key("rename_replacement")
		w.Text(r.replacement)
	}
	w.EndObject()
	return w.Bytes()
}
