package endpoint

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"guard/internal/ask"
	"guard/test/written"
)

var update = flag.Bool("update", false, "rewrite docs/endpoints.md from the catalogue")

const docsFile = "../docs/endpoints.md"

// TestDocs holds docs/endpoints.md to the catalogue: go test ./endpoint -update
// writes it.
func TestDocs(t *testing.T) {
	written.File(t, docsFile, document(testRouter.rows), *update)
}

func document(rows []Route) string {
	var b strings.Builder
	b.WriteString(`# Endpoints

This file is written from the catalogue in ` + "`endpoint/`" + ` by ` + "`go test ./endpoint -run TestDocs -update`" + `.

A request that matches no row is refused with 403 that names it, a known path with
another method with 405. A principal with every right on everything, and no rule on
documents or fields, may use any endpoint of the cluster.

## Working now

Actions are asked in the order in which they stand. Those marked *cluster* are asked
once without names, *if missing* only if the index does not exist, *if new field*
only if the document has a field that the mapping lacks, *each* for each item of the
body.

| methods | paths | actions | names | body | answer |
|---|---|---|---|---|---|
`)
	for _, r := range rows {
		if !r.NotBuilt {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", strings.ReplaceAll(r.Methods, ",", " "), code(r.Paths),
				actions(r), targetWords[r.Targets], bodyWords[r.Body], answerWords[r.Answer])
		}
	}
	b.WriteString("\n## URL parameters\n\nEvery endpoint takes " + code(paramNames(common)) + ". A parameter that is not listed is\nrefused by name, and so is one that stands twice.\n\n| endpoint | parameters |\n|---|---|\n")
	for _, r := range rows {
		if !r.NotBuilt {
			fmt.Fprintf(&b, "| %s | %s |\n", r.ID, code(paramNames(r.Params[len(common):])))
		}
	}
	b.WriteString("\nThe parameter `scroll` opens a handle and is not built yet.\n\n## Known, not built yet\n\n| methods | paths |\n|---|---|\n")
	for _, r := range rows {
		if r.NotBuilt {
			fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(r.Methods, ",", " "), code(r.Paths))
		}
	}
	return b.String()
}

func code(list []string) string {
	if len(list) == 0 {
		return "–"
	}
	return "`" + strings.Join(list, "` `") + "`"
}

func paramNames(params []Param) []string {
	var list []string
	for _, p := range params {
		list = append(list, p.Name)
	}
	slices.Sort(list)
	return list
}

func actions(r Route) string {
	var list []string
	one := func(p ask.Privilege, mark string) {
		text := "`" + p.Action + "`"
		if p.Scope == ask.ScopeCluster {
			mark = " *cluster*"
		}
		switch p.When {
		case ask.IndexMissing:
			mark = " *if missing*"
		case ask.NewField:
			mark = " *if new field*"
		}
		list = append(list, text+mark)
	}
	for _, p := range r.Privileges {
		one(p, "")
	}
	for _, p := range r.Items {
		one(p, " *each*")
	}
	if r.Targets == ReindexBody {
		for _, p := range fromSource {
			one(p, " of the source")
		}
		for _, p := range intoDest {
			one(p, " of the destination")
		}
		one(refreshes, " of the destination if `refresh` is set")
	}
	if n := len(r.Privileges); len(r.Refreshing) > n {
		one(r.Refreshing[n], " if `refresh` is set")
	}
	if r.Targets == BulkLines {
		list = append(list, "`indices:data/write/bulk[s]` *each*", "`indices:data/write/index`, `…/update` or `…/delete` *each*",
			"`indices:admin/create` *if missing*", "`indices:admin/mapping/put` *if new field*")
	}
	if r.Targets == AliasActions {
		list = append(list, "`indices:admin/delete` for `remove_index`")
	}
	if r.Targets == NewIndex {
		list = append(list, "the first of them also on a new index that is named, there with `indices:admin/create` by `v4`")
	}
	if r.Body == RestoreBody {
		for _, p := range restoresTo {
			one(p, " on each index that is made")
		}
		for _, p := range restoresFrom {
			one(p, " on each that is renamed")
		}
	}
	if r.Targets == CreateIndexBody || r.Targets == NewIndex {
		list = append(list, "`indices:admin/aliases` if aliases are in the body")
	}
	return strings.Join(list, ", ")
}

var targetWords = map[Targets]string{
	NoTargets:       "none",
	PathIndex:       "`{index}`, else `?index=`, else all",
	PathName:        "`{name}`",
	MsearchHeaders:  "each header line, else the path, else all",
	MgetDocs:        "`_index` of each item, else the path",
	BulkLines:       "`_index` of each action line, else the path",
	AliasActions:    "each action",
	AliasBody:       "the body, else the path",
	AliasNamed:      "`{index}`; aliases `{name}`",
	AliasLookup:     "`{index}`, else all; aliases `{name}`",
	CreateIndexBody: "`{index}`; aliases in the body",
	SnapshotNames:   "`indices` of the snapshot",
	NewIndex:        "`{index}`; the new index `{name}`; aliases in the body",
	ReindexBody:     "`source.index`; `dest.index`",
}

var bodyWords = map[Body]string{
	NoBody: "none", SearchBody: "search (optional)", CountBody: "query (optional)", ByQueryBody: "`query`, `conflicts`, `max_docs`", FieldCapsBody: "`index_filter` (optional)",
	Document: "document", UpdateBody: "update", MgetBody: "`docs` or `ids`", CopyBody: "`source`, `dest`, `conflicts`, `max_docs`", AliasesBody: "`actions`", AliasDetails: "alias (optional)",
	CreateBody: "`settings`, `mappings`, `aliases` (optional)", RolloverBody: "`conditions`, `settings`, `mappings`, `aliases` (optional)",
	RestoreBody:  "`indices`, `include_aliases`, `rename_pattern`, `rename_replacement` … (optional)",
	SettingsBody: "settings",
	ResizeBody:   "`settings`, `aliases`, `max_shard_size` (optional)", NDJSONMsearch: "lines", NDJSONBulk: "lines",
}

var answerWords = map[Answer]string{
	Pass: "as it is", Hits: "search", Count: "count", Doc: "document", Source: "source", Exists: "status", Written: "outcome of one write",
	MgetDocsAnswer: "documents by position", Responses: "searches by position", BulkItems: "items by position", ByQuery: "numbers, and failures",
	MappingByIndex: "mappings by index", IndexByName: "indices by name", AliasByIndex: "aliases by index", FoundName: "status",
	ResolvedNames: "names", CatIndices: "table of indices", FieldCaps: "fields", Health: "health by index", Acknowledged: "acknowledgement", Restored: "names that were restored", Changed: "acknowledgement by index",
}

// TestWordsAreComplete: a new kind gets its words in the documentation.
func TestWordsAreComplete(t *testing.T) {
	for k := NoTargets; k <= NewIndex; k++ {
		if targetWords[k] == "" {
			t.Errorf("targets %d have no words", k)
		}
	}
	for k := NoBody; k <= NDJSONBulk; k++ {
		if bodyWords[k] == "" {
			t.Errorf("body %d has no words", k)
		}
	}
	for k := Pass; k <= Changed; k++ {
		if answerWords[k] == "" {
			t.Errorf("answer %d has no words", k)
		}
	}
}
