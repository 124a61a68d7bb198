package gate

import (
	"slices"
	"strings"

	"guard/authz"
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// planCreate forwards the creation of an index.
func (pl *plan) planCreate() Outcome {
	j := pl.whole()
	if len(j.Allowed) != 1 {
		return reject(pl.missing(j, writtenText(j.part.Exprs)))
	}
	var body []byte
	if len(pl.q.Body) > 0 {
		v, rej := pl.parse(pl.q.Body)
		if rej == nil {
			rej = pl.checkCreation(v)
		}
		if rej != nil {
			return reject(rej)
		}
		body = esjson.AppendValue(nil, v)
	}
	call, rej := pl.call(pl.m.Target([]string{j.Allowed[0].Name}, pl.q.Params))
	if rej != nil {
		return reject(rej)
	}
	setBody(&call, body)
	return Outcome{Kind: Forward, Forward: Forwarding{Call: call, ChangesState: always}}
}

// checkCreation says why an index may not be made as the body wants it.
func (pl *plan) checkCreation(body esjson.Value) *ask.Rejection {
	if pl.whole().bound() {
		if rej := checkBoundCreation(body); rej != nil {
			return rej
		}
	}
	return pl.checkNewIndex()
}

// checkNewIndex says why no index may be made with the settings and aliases of the request.
func (pl *plan) checkNewIndex() *ask.Rejection {
	if namesPipeline(pl.asked.Index.Settings) {
		return notBuilt("a pipeline in the settings of an index")
	}
	for _, details := range pl.asked.Index.Aliases.Members() {
		if rej := checkAliasFilter(details); rej != nil {
			return rej
		}
	}
	return nil
}

// bound reports whether a rule binds an index of the part, or will bind it once it is made.
func (j *judged) bound() bool {
	return slices.ContainsFunc(j.Groups, func(g authz.Group) bool { return g.Restriction != ask.Free })
}

// boundSettings are those that someone may choose for an index on which a rule will bind
// him: none of them changes what a query on a document means, or which documents, fields
// and values there are. By their full names without "index.".
var boundSettings = []string{
	"number_of_shards", "number_of_replicas", "auto_expand_replicas", "refresh_interval", "hidden", "priority", "codec", "max_result_window",
}

// checkBoundCreation refuses what in the body of a creation could change what a rule
// means that will bind its maker on the index: how the rule's fields are read (mappings,
// analysis, sort), what they hold (copies, pipelines), and which rules there are (aliases,
// whose names other rules cover). What others write there later would come to him.
func checkBoundCreation(body esjson.Value) *ask.Rejection {
	for key, v := range body.Members() {
		switch {
		case key == "settings":
			if name, ok := settingBeside(v, "", isBoundSetting); ok {
				return boundCreation("setting [" + names.Clip(name) + "]")
			}
		case v.Len() > 0:
			return boundCreation("[" + names.Clip(key) + "]")
		}
	}
	return nil
}

func boundCreation(what string) *ask.Rejection {
	return restricted("%s of a new index is refused, since a document or field rule will bind you there and it could change what the rule shows; want settings among %s, or an index made by an administrator",
		what, strings.Join(boundSettings, ", "))
}

func isBoundSetting(name string) bool { return slices.Contains(boundSettings, name) }

// settingBeside returns the first of some settings, nested or with dotted keys, that is not
// allowed: by its full name without "index.". Lists are not.
func settingBeside(settings esjson.Value, path string, allowed func(name string) bool) (name string, found bool) {
	for key, v := range settings.Members() {
		full := path + key
		switch {
		case v.Is(esjson.Object):
			if name, found := settingBeside(v, full+".", allowed); found {
				return name, true
			}
		case v.Is(esjson.Array), !allowed(strings.TrimPrefix(full, "index.")):
			return full, true
		}
	}
	return "", false
}

// namesPipeline reports whether settings name a pipeline, in whatever spelling of
// nested and dotted keys.
func namesPipeline(settings esjson.Value) bool {
	for key, v := range settings.Members() {
		if strings.Contains(key, "pipeline") && v.String() != "_none" || namesPipeline(v) {
			return true
		}
	}
	return false
}
