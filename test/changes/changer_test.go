package changes

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// changers change the cluster, each its own names, over and over. Each leaves its names as
// it found them.
func (w *world) changers() []func(*rand.Rand) {
	list := []func(*rand.Rand){w.memberBecomesAlias, w.memberIsReused, w.swapIndexAndAlias, w.grantedName, w.birthsAndDeaths, w.moveAlias, w.changeFilter, w.rollAlias, w.closeAndOpen}
	if w.streams {
		list = append(list, w.rollStream)
	}
	return list
}

// memberBecomesAlias has the name of an index that was granted through an alias alone
// lead to what nobody may see.
func (w *world) memberBecomesAlias(rnd *rand.Rand) {
	w.aliases(removeIndex("mem-1"), add("vault-1", "mem-1"))
	w.journal.revoke("aliased", "mem-1")
	w.journal.revoke("writes", "mem-1")
	pause(rnd)
	w.aliases(remove("vault-1", "mem-1"))
	w.journal.grant("writes", "mem-1")
	w.enter("mem-1", "al-1")
	pause(rnd)
}

// memberIsReused deletes such an index and makes another one under its name, which is not
// behind the alias.
func (w *world) memberIsReused(rnd *rand.Rand) {
	w.do("DELETE", "/mem-2", "")
	w.journal.revoke("aliased", "mem-2")
	w.make("mem-2")
	pause(rnd)
	w.do("DELETE", "/mem-2", "")
	w.enter("mem-2", "al-2")
	pause(rnd)
}

// swapIndexAndAlias does the same where all names are granted, but a rule hides what is
// behind the alias.
func (w *world) swapIndexAndAlias(rnd *rand.Rand) {
	w.aliases(removeIndex("swap-1"), add("vault-2", "swap-1"))
	w.journal.revoke("writes", "swap-1")
	pause(rnd)
	w.aliases(remove("vault-2", "swap-1"))
	w.journal.grant("writes", "swap-1")
	w.make("swap-1")
	pause(rnd)
}

// grantedName has a granted name lead to another index, and back.
func (w *world) grantedName(rnd *rand.Rand) {
	w.journal.grant("pub", "sec-1")
	w.aliases(removeIndex("pub-1"), add("sec-1", "pub-1"))
	pause(rnd)
	w.aliases(remove("sec-1", "pub-1"))
	w.journal.revoke("pub", "sec-1")
	w.make("pub-1")
	pause(rnd)
}

// birthsAndDeaths makes indices under names that are granted and under others.
func (w *world) birthsAndDeaths(rnd *rand.Rand) {
	n := w.lives.Add(1)
	names := []string{fmt.Sprintf("pub-n%d", n%3), fmt.Sprintf("vault-n%d", n%3), fmt.Sprintf("sec-n%d", n)}
	for _, name := range names {
		w.make(name)
	}
	pause(rnd)
	w.do("DELETE", "/"+strings.Join(names, ","), "")
}

// moveAlias has an alias lead to another index at once.
func (w *world) moveAlias(rnd *rand.Rand) {
	w.journal.grant("aliased", "sec-2")
	w.aliases(remove("mem-3", "al-3"), add("sec-2", "al-3"))
	w.journal.revoke("aliased", "mem-3")
	pause(rnd)
	w.journal.grant("aliased", "mem-3")
	w.aliases(remove("sec-2", "al-3"), add("mem-3", "al-3"))
	w.journal.revoke("aliased", "sec-2")
	pause(rnd)
}

// changeFilter gives an alias a filter, another one, and takes it.
func (w *world) changeFilter(rnd *rand.Rand) {
	w.aliases(addFiltered("mem-4", "fa-1", "red"))
	pause(rnd)
	w.aliases(addFiltered("mem-4", "fa-1", "blue"))
	pause(rnd)
	w.aliases(remove("mem-4", "fa-1"), add("mem-4", "fa-1"))
	pause(rnd)
}

// rollAlias rolls a write alias over and deletes the index before.
func (w *world) rollAlias(rnd *rand.Rand) {
	n := w.rolled.Add(1)
	old, next := fmt.Sprintf("mem-w-%06d", n), fmt.Sprintf("mem-w-%06d", n+1)
	w.journal.grant("aliased", next)
	w.do("POST", "/al-w/_rollover", `{"settings":{"number_of_shards":1,"number_of_replicas":0},`+fmt.Sprintf(mappings, "")+`}`)
	w.fill("al-w")
	pause(rnd)
	w.do("DELETE", "/"+old, "")
	w.journal.revoke("aliased", old)
	pause(rnd)
}

// rollStream rolls a stream over, deletes it, has the name of its first index lead to what
// nobody may see, and makes it again.
func (w *world) rollStream(rnd *rand.Rand) {
	for range 2 {
		w.do("POST", "/ds-app/_rollover", "")
		w.fill("ds-app")
		pause(rnd)
	}
	w.do("DELETE", "/_data_stream/ds-app", "")
	w.aliases(add("vault-1", ".ds-ds-app-000001"))
	w.journal.revoke("writes", ".ds-ds-app-000001")
	pause(rnd)
	w.aliases(remove("vault-1", ".ds-ds-app-000001"))
	w.journal.grant("writes", ".ds-ds-app-000001")
	w.do("PUT", "/_data_stream/ds-app", "")
	w.fill("ds-app")
	pause(rnd)
}

func (w *world) closeAndOpen(rnd *rand.Rand) {
	w.do("POST", "/pub-2/_close", "")
	pause(rnd)
	w.do("POST", "/pub-2/_open", "")
	pause(rnd)
}
