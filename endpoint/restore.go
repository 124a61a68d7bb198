package endpoint

import (
	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// Restore is what the body of a restore asks for. What its names mean is for the snapshot
// to say, so nothing is asked of them here.
type Restore struct {
	Names       []names.Expr // as the client wrote them; none means all
	Lenient     bool         // names that the snapshot lacks are passed over
	Pattern     string       // of the rename; empty without one
	Replacement string

	Partial, Settings, IgnoredSettings esjson.Value // each may be Invalid
}

// What is asked of a restored index: of its new name the same as on the security plugin, and
// of an old name that it loses that its documents may be read.
var (
	restoresTo   = asked(index("indices:data/write/index"), index("indices:admin/create"))
	restoresFrom = asked(index("indices:data/read/search"))
)

// RestoredPart asks for the names that a restore makes.
func RestoredPart(targets []names.Expr) ask.Part {
	return ask.Part{Slot: ask.WholeRequest, Privileges: restoresTo, Exprs: targets, Fixed: true}
}

// RenamedPart asks for the names under which a snapshot has what is restored under others.
func RenamedPart(sources []names.Expr) ask.Part {
	return ask.Part{Slot: ask.WholeRequest, Privileges: restoresFrom, Exprs: sources, Fixed: true}
}

const restoreWhere = "the restore request"

// ReadRestore reads the body of a restore. Whatever brings names that nobody can decide on, or
// more than indices, is refused. The error is an *ask.Rejection.
func ReadRestore(body []byte) (Restore, error) {
	var r Restore
	aliases := true // what the clusters do if nothing is said
	if len(body) > 0 {
		v, err := parse(body)
		if err != nil {
			return r, err
		}
		for key, m := range v.Members() {
			if err := r.read(key, m, &aliases); err != nil {
				return r, err
			}
		}
	}
	switch {
	case aliases:
		return r, notBuiltWay("a restore with the aliases of the snapshot", "[include_aliases] false")
	case (r.Pattern == "") != (r.Replacement == ""):
		return r, badBody("illegal_argument_exception", "cannot rename by one of [rename_pattern] and [rename_replacement] of %s; want both or none", restoreWhere)
	}
	return r, nil
}

func (r *Restore) read(key string, v esjson.Value, aliases *bool) (err error) {
	switch key {
	case "indices":
		r.Names, err = namesOf(restoreWhere, key, v, true)
	case "ignore_unavailable":
		r.Lenient, err = truth(restoreWhere, key, v)
	case "include_aliases":
		*aliases, err = truth(restoreWhere, key, v)
	case "include_global_state":
		var global bool
		if global, err = truth(restoreWhere, key, v); err == nil && global {
			err = notBuiltWay("a restore of the cluster's own state", "[include_global_state] false")
		}
	case "partial":
		r.Partial = v
		_, err = truth(restoreWhere, key, v)
	case "rename_pattern":
		r.Pattern, err = textOf(restoreWhere, key, v)
	case "rename_replacement":
		r.Replacement, err = textOf(restoreWhere, key, v)
	case "index_settings":
		r.Settings = v
		if !v.Is(esjson.Object) {
			err = badBody("illegal_argument_exception", "cannot use %s as [%s] of %s; want an object", v.Kind(), key, restoreWhere)
		}
	case "ignore_index_settings":
		r.IgnoredSettings = v
		_, err = textsOf(restoreWhere, key, v, false)
	default:
		err = unknownKey(restoreWhere, key)
	}
	return err
}

func truth(where, key string, v esjson.Value) (bool, error) {
	b, err := v.Bool()
	if err != nil {
		return false, badBody("illegal_argument_exception", "cannot use %s as [%s] of %s; want true or false", v.Kind(), key, where)
	}
	return b, nil
}

// notBuiltWay refuses what is not built, and says what is wanted instead.
func notBuiltWay(what, want string) error {
	return &ask.Rejection{
		Public: what + " is not supported yet for users who do not hold every privilege; want " + want,
		Reason: ask.ReasonNotBuilt,
	}
}
