package changes

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// own has the owner change his names through guard: what he has just done is so for his
// next request, whatever else changes.
func (l *load) own(rnd *rand.Rand) {
	mode := modeNames[rnd.IntN(len(modeNames))]
	n := l.world.lives.Add(1)
	index, alias := fmt.Sprintf("own-%d", n), fmt.Sprintf("own-a%d", n)
	step := func(status int, method, path, body, holds string) bool {
		a, ok := l.send(mode, "owner", method, path, body)
		if ok && (a.status != status || !strings.Contains(string(a.body), holds)) {
			l.t.Errorf("%s as owner: %s %s %s: status %d; want %d with %q: %.400s", mode, method, path, body, a.status, status, holds, a.body)
			return false
		}
		return ok
	}
	mark := markOf("doc", index, n, "red")
	_ = step(200, "PUT", "/"+index, `{"settings":{"number_of_shards":1,"number_of_replicas":0},`+fmt.Sprintf(mappings, "")+`}`, index) &&
		step(200, "GET", "/own-*/_alias", "", index) &&
		step(201, "PUT", "/"+index+"/_doc/1?refresh=true", fmt.Sprintf(`{"mark":%q}`, mark), index) &&
		step(200, "GET", "/own-*/_search?size=100", "", mark) &&
		step(200, "POST", "/_aliases", `{"actions":[`+add(index, alias)+`]}`, "true") &&
		step(200, "GET", "/"+alias+"/_search", "", mark) &&
		step(200, "POST", "/_aliases", `{"actions":[`+remove(index, alias)+`]}`, "true") &&
		step(404, "GET", "/"+alias+"/_search", "", alias) &&
		step(200, "DELETE", "/"+index, "", "true") &&
		step(404, "GET", "/"+index+"/_search", "", index)
	l.mu.Lock()
	l.tally["owner's lives"]++
	l.mu.Unlock()
	pause(rnd)
}
