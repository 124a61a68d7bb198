package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"guard/internal/ask"
	"guard/internal/esjson"
	"guard/internal/names"
)

// AliasOp is what one action of an alias request does.
type AliasOp uint8

// The actions on aliases. The zero value is none.
const (
	aliasUnset AliasOp = iota
	AliasAdd
	AliasRemove
	AliasRemoveIndex // deletes the index
)

// AliasAction is one action of POST _aliases.
type AliasAction struct {
	Op      AliasOp
	Indices []names.Expr
	Aliases []names.Expr
	Value   esjson.Value // the whole action, for printing
	Part    int          // the position of the part that asks on Indices
}

// AliasPut is what PUT _alias makes of path and body.
type AliasPut struct {
	Indices []names.Expr
	Alias   names.Expr
}

// CreateIndex is what a body holds that describes an index to make; each may be Invalid.
type CreateIndex struct {
	Settings, Aliases esjson.Value
}

const (
	aliasPrivilege  = "indices:admin/aliases"
	deletePrivilege = "indices:admin/delete"
)

var (
	removesIndex       = asked(index(deletePrivilege))
	aliasesAndDeletion = asked(index(aliasPrivilege), index(deletePrivilege))
)

// parseAliasActions reads the body of POST _aliases.
func parseAliasActions(body esjson.Value) ([]AliasAction, error) {
	const where = "the aliases request"
	var list []AliasAction
	for key, actions := range body.Members() {
		if key != "actions" {
			return nil, unknownKey(where, key)
		}
		if !actions.Is(esjson.Array) {
			return nil, badBody("parsing_exception", "cannot use %s as [actions] of %s; want an array", actions.Kind(), where)
		}
		for i, v := range actions.Elements() {
			a, err := readAliasAction(fmt.Sprintf("action %d of %s", i, where), v)
			if err != nil {
				return nil, err
			}
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return nil, badBody("illegal_argument_exception", "No action specified")
	}
	return list, nil
}

func readAliasAction(where string, v esjson.Value) (AliasAction, error) {
	if !v.Is(esjson.Object) || v.Len() != 1 {
		return AliasAction{}, badBody("parsing_exception", "cannot use %s of %d members as %s; want an object with one of [add, remove, remove_index]", v.Kind(), v.Len(), where)
	}
	a := AliasAction{Value: v}
	var inner esjson.Value
	for key, m := range v.Members() {
		switch key {
		case "add":
			a.Op = AliasAdd
		case "remove":
			a.Op = AliasRemove
		case "remove_index":
			a.Op = AliasRemoveIndex
		default:
			return a, unknownKey(where, key)
		}
		inner = m
	}
	if !inner.Is(esjson.Object) {
		return a, badBody("parsing_exception", "cannot use %s in %s; want an object", inner.Kind(), where)
	}
	for key, m := range inner.Members() {
		if err := a.read(where, key, m); err != nil {
			return a, err
		}
	}
	switch {
	case len(a.Indices) == 0:
		return a, badBody("illegal_argument_exception", "One of [index] or [indices] is required in %s", where)
	case len(a.Aliases) == 0 && a.Op != AliasRemoveIndex:
		return a, badBody("illegal_argument_exception", "One of [alias] or [aliases] is required in %s", where)
	}
	return a, nil
}

func (a *AliasAction) read(where, key string, v esjson.Value) error {
	var err error
	switch key {
	case "index", "indices":
		if len(a.Indices) > 0 {
			return badBody("illegal_argument_exception", "Only one of [index] and [indices] is supported in %s", where)
		}
		if a.Indices, err = oneOrMore(where, key, "indices", v); err == nil {
			err = checkNames(a.Indices)
		}
	case "alias", "aliases":
		if a.Op == AliasRemoveIndex {
			return unknownKey(where, key)
		}
		if len(a.Aliases) > 0 {
			return badBody("illegal_argument_exception", "Only one of [alias] and [aliases] is supported in %s", where)
		}
		if a.Aliases, err = oneOrMore(where, key, "aliases", v); err == nil {
			err = a.checkAliases()
		}
	case "must_exist":
		if a.Op == AliasAdd {
			return unknownKey(where, key)
		}
		err = boolean(where, key, v)
	default:
		if a.Op != AliasAdd {
			return unknownKey(where, key)
		}
		err = checkAliasDetail(where, key, v)
	}
	return err
}

// checkAliases refuses what cannot be the name of an alias: one that is made is taken
// as it is written, those that are removed can be patterns.
func (a *AliasAction) checkAliases() error {
	if a.Op != AliasAdd {
		return checkNames(a.Aliases)
	}
	for _, alias := range a.Aliases {
		if err := checkNewAlias(alias); err != nil {
			return err
		}
	}
	return nil
}

// checkNewAlias refuses what no alias can be called, before anything is resolved: as an
// expression it would mean other names, and what becomes of it would tell of them.
func checkNewAlias(alias names.Expr) error {
	if alias == "" {
		return badBody("illegal_argument_exception", "alias name is required")
	}
	if err := names.CheckAlias(string(alias)); err != nil {
		return badBody("invalid_alias_name_exception", "%s", err)
	}
	return nil
}

// oneOrMore reads a key in its singular, which takes one name, or its plural. The names
// are not checked.
func oneOrMore(where, key, plural string, v esjson.Value) ([]names.Expr, error) {
	if key == plural {
		return textsOf(where, key, v, false)
	}
	s, err := textOf(where, key, v)
	if err != nil {
		return nil, err
	}
	return []names.Expr{names.Expr(s)}, nil
}

// checkAliasDetail checks a member that says how an alias reads its index.
func checkAliasDetail(where, key string, v esjson.Value) error {
	switch key {
	case "filter":
		if !v.Is(esjson.Object) {
			return badBody("parsing_exception", "cannot use %s as [%s] of %s; want an object", v.Kind(), key, where)
		}
		return nil
	case "routing", "index_routing", "search_routing", "indexRouting", "searchRouting", "index-routing", "search-routing":
		return scalar(where, key, v)
	case "is_write_index", "is_hidden":
		return boolean(where, key, v)
	default:
		return unknownKey(where, key)
	}
}

func boolean(where, key string, v esjson.Value) error {
	if v.Is(esjson.Bool) {
		return nil
	}
	return badBody("parsing_exception", "cannot use %s as [%s] of %s; want a boolean", v.Kind(), key, where)
}

// askAliasActions asks the actions one by one. By the older evaluator a removed index
// asks the right to delete all indices that are named.
func (m Match) askAliasActions(q Query, rules Rules) (Asked, error) {
	v, err := parse(q.Body)
	if err != nil {
		return Asked{}, err
	}
	actions, err := parseAliasActions(v)
	if err != nil {
		return Asked{}, err
	}
	asked := Asked{Actions: actions}
	if rules.AliasNames {
		for i, a := range actions {
			actions[i].Part = len(asked.Parts)
			asked.Parts = append(asked.Parts, m.actionParts(a)...)
		}
		return asked, nil
	}
	// Each action resolves its names by itself, as the cluster does: an exclusion in one
	// takes nothing out of another.
	privileges := m.Route.Privileges
	for _, a := range actions {
		if a.Op == AliasRemoveIndex {
			privileges = aliasesAndDeletion
		}
	}
	for i, a := range actions {
		actions[i].Part = i
		p := m.part(a.Indices, m.Route.Opts)
		p.Privileges = privileges
		asked.Parts = append(asked.Parts, p)
	}
	return asked, nil
}

func (m Match) actionParts(a AliasAction) []ask.Part {
	onIndices := m.part(a.Indices, m.Route.Opts)
	if a.Op == AliasRemoveIndex {
		onIndices.Privileges = removesIndex
		return []ask.Part{onIndices}
	}
	aliases := a.Aliases
	if a.Op == AliasRemove {
		aliases = literal(aliases)
	}
	if len(aliases) == 0 {
		return []ask.Part{onIndices}
	}
	return []ask.Part{onIndices, m.aliasPart(aliases)}
}

// aliasPart asks on the names of aliases. They are taken as they are written: an
// alias that is to be made need not exist.
func (m Match) aliasPart(aliases []names.Expr) ask.Part {
	p := m.part(aliases, m.Route.Opts)
	p.Fixed, p.Aliases = true, true
	return p
}

// askAliasPut reads PUT _alias: what the body names counts more than the path, so
// both may stand only if they say the same.
func (m Match) askAliasPut(q Query, exprs []names.Expr, rules Rules) (Asked, error) {
	put := AliasPut{Indices: exprs}
	if name, ok := m.Name(); ok {
		put.Alias = names.Expr(name)
	}
	if len(q.Body) > 0 {
		v, err := parse(q.Body)
		if err != nil {
			return Asked{}, err
		}
		for key, value := range v.Members() {
			if err := put.read(key, value); err != nil {
				return Asked{}, err
			}
		}
	}
	switch {
	case len(put.Indices) == 0:
		return Asked{}, badBody("action_request_validation_exception", "Validation Failed: 1: index is missing;")
	case put.Alias == "":
		return Asked{}, badBody("action_request_validation_exception", "Validation Failed: 1: name is missing;")
	}
	if err := checkNewAlias(put.Alias); err != nil {
		return Asked{}, err
	}
	asked := Asked{Alias: put, Parts: []ask.Part{m.part(put.Indices, m.Route.Opts)}}
	if rules.AliasNames {
		asked.Parts = append(asked.Parts, m.aliasPart([]names.Expr{put.Alias}))
	}
	return asked, nil
}

func (p *AliasPut) read(key string, v esjson.Value) error {
	const where = "the alias request"
	switch key {
	case "index":
		exprs, err := namesOf(where, key, v, true)
		if err != nil {
			return err
		}
		if len(p.Indices) > 0 && !slices.Equal(p.Indices, exprs) {
			return badBody("illegal_argument_exception", "[index] of %s is not what its URL names; want one of them", where)
		}
		p.Indices = exprs
	case "alias":
		text, err := textOf(where, key, v)
		if err != nil {
			return err
		}
		if p.Alias != "" && string(p.Alias) != text {
			return badBody("illegal_argument_exception", "[alias] of %s is not what its URL names; want one of them", where)
		}
		p.Alias = names.Expr(text)
	default:
		return checkAliasDetail(where, key, v)
	}
	return nil
}

// askAliasNamed asks for aliases that the path names, to read or to remove them.
func (m Match) askAliasNamed(q Query, exprs []names.Expr, rules Rules) (Asked, error) {
	asked := Asked{Parts: []ask.Part{m.part(exprs, q.Opts)}}
	text, ok := m.Name()
	if !ok {
		return asked, nil
	}
	aliases, err := splitNames(nil, text)
	if err != nil {
		return Asked{}, err
	}
	if aliases = literal(aliases); rules.AliasNames && len(aliases) > 0 {
		asked.Parts = append(asked.Parts, m.aliasPart(aliases))
	}
	return asked, nil
}

// literal returns the expressions that name one thing. A pattern means aliases of the
// indices that are granted: to look for them asks nothing, since the answer is cut to
// those indices; to remove them asks on each, by whoever knows which there are.
func literal(exprs []names.Expr) []names.Expr {
	return slices.DeleteFunc(slices.Clone(exprs), func(e names.Expr) bool {
		return e == "_all" || e[0] == '-' || strings.Contains(string(e), "*")
	})
}

var makesAliases = asked(index(aliasPrivilege))

// creations say what the bodies are called that describe an index to make, and what else
// than settings and aliases they may hold.
var creations = map[Body]struct {
	where string
	more  []string
}{
	CreateBody:   {"the create index request", []string{"mappings"}},
	RolloverBody: {"the rollover request", []string{"mappings", "conditions"}},
	ResizeBody:   {"the resize request", []string{"max_shard_size"}},
}

// readFor takes the members of the body of a route and returns the aliases in it.
func (c *CreateIndex) readFor(r *Route, body esjson.Value) ([]names.Expr, error) {
	about := creations[r.Body]
	where := about.where
	for key, v := range body.Members() {
		switch {
		case key == "settings":
			c.Settings = v
		case key == "aliases":
			c.Aliases = v
		case !slices.Contains(about.more, key):
			return nil, unknownKey(where, key)
		case key == "max_shard_size":
			if _, err := textOf(where, key, v); err != nil {
				return nil, err
			}
			continue
		}
		if !v.Is(esjson.Object) {
			return nil, badBody("parse_exception", "cannot use %s as [%s] of %s; want an object", v.Kind(), key, where)
		}
		if key == "conditions" {
			if err := checkConditions(where, v); err != nil {
				return nil, err
			}
		}
	}
	var aliases []names.Expr
	for name, details := range c.Aliases.Members() {
		if err := checkNewAlias(names.Expr(name)); err != nil {
			return nil, err
		}
		where := fmt.Sprintf("alias [%s] of %s", names.Clip(name), where)
		if !details.Is(esjson.Object) {
			return nil, badBody("parse_exception", "cannot use %s as %s; want an object", details.Kind(), where)
		}
		for key, v := range details.Members() {
			if err := checkAliasDetail(where, key, v); err != nil {
				return nil, err
			}
		}
		aliases = append(aliases, names.Expr(name))
	}
	return aliases, nil
}
