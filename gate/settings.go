package gate

import (
	"slices"
	"strings"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// planSettings changes settings of indices, one by one by their own names as [plan.planChange]
// does. The settings are written anew, without the wrapper that a client may put around them.
func (pl *plan) planSettings(j *judged) Outcome {
	settings, rej := pl.newSettings()
	if rej != nil {
		return reject(rej)
	}
	f, rej := pl.changedNames(j)
	if rej != nil {
		return reject(rej)
	}
	return pl.sendChange(pl.r.Method, pl.m.Target(f.names, pl.indexParams(pl.q.Params, f)), esjson.AppendValue(nil, settings))
}

// newSettings returns the settings of the body. The clusters take those at $.settings alone
// if there is such an object, and pass over what stands beside it.
func (pl *plan) newSettings() (esjson.Value, *ask.Rejection) {
	body, rej := pl.parse(pl.q.Body)
	if rej != nil {
		return body, rej
	}
	settings := body
	if !body.Is(esjson.Object) {
		return body, badRequest("cannot use %s as settings; want an object", body.Kind())
	}
	if inner, ok := body.Lookup("settings"); ok && inner.Is(esjson.Object) {
		if body.Len() > 1 {
			return body, badRequest("unknown key beside [settings]; want all settings in it")
		}
		settings = inner
	}
	if name, ok := settingBeside(settings, "", mayChange); ok {
		return body, restricted("setting [%s] is refused: it could change what others read or what a rule means; want settings among %s",
			names.Clip(name), strings.Join(changeable, ", "))
	}
	return settings, nil
}

// changeable are the settings that somebody may change on an index where no rule binds him.
// Rules of others may bind there: none of these changes what a query on a document means,
// how a field is read or written, or by which names an index goes. Pipelines, analysis,
// default fields and what ignores values are left out for that. By their full names without
// "index."; a name that ends in a dot stands for all below it.
var changeable = []string{
	"number_of_replicas", "auto_expand_replicas", "refresh_interval", "hidden", "priority",
	"max_result_window", "max_inner_result_window",
	"blocks.metadata", "blocks.read", "blocks.read_only", "blocks.read_only_allow_delete", "blocks.write",
	"mapping.total_fields.limit", "mapping.depth.limit", "mapping.nested_fields.limit",
	"routing.allocation.", "routing.rebalance.enable", "unassigned.node_left.delayed_timeout",
	"translog.durability", "translog.sync_interval", "translog.flush_threshold_size",
	"merge.", "search.slowlog.", "indexing.slowlog.",
}

// mayChange reports whether a setting is one of changeable. A wildcard in a name, which resets
// what it matches, is in none of them.
func mayChange(setting string) bool {
	return !strings.Contains(setting, "*") && slices.ContainsFunc(changeable, func(s string) bool {
		return setting == s || strings.HasSuffix(s, ".") && strings.HasPrefix(setting, s)
	})
}
