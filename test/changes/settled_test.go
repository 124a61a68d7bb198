package changes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// settled are places at which people see what the node shows there, but for what is
// hidden from them by a rule.
var settled = map[string]string{"wide": "/swap-*", "pub": "/pub-*", "aliased": "/al-*", "streamed": "/ds-*", "rows": "/pub-*", "fields": "/pub-*"}

// checkSettled: once nothing changes, everybody sees all that is his, soon.
func (l *load) checkSettled() {
	for i := range people {
		p := &people[i]
		if p.name == "streamed" && !l.world.streams {
			continue
		}
		question := settled[p.name] + "/_search?size=1000"
		res := l.world.node.Must(l.t, "GET", question, "")
		want := p.sees(res.Body)
		if len(want) == 0 {
			l.t.Errorf("there is nothing at %s that %s could see", question, p.name)
		}
		for _, mode := range modeNames {
			l.await(mode, p, question, want)
		}
	}
}

// sees returns the marks in an answer that are not hidden from the person, sorted.
func (p *person) sees(body []byte) (marks []string) {
	for _, m := range markText.FindAllSubmatch(body, -1) {
		hidden := p.tenant != "" && string(m[4]) != p.tenant || p.noPins && string(m[1]) == "pin"
		if !hidden {
			marks = append(marks, string(m[0]))
		}
	}
	slices.Sort(marks)
	return marks
}

func (l *load) await(mode string, p *person, question string, want []string) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		a, ok := l.send(mode, p.name, "GET", question, "")
		if ok && a.status == http.StatusOK && slices.Equal(p.sees(a.body), want) {
			return
		}
		if !ok || time.Now().After(deadline) {
			l.t.Errorf("%s as %s: %s: status %d: %.300s\nwant %q", mode, p.name, question, a.status, a.body, want)
			return
		}
	}
}

// checkWritten: nobody has written into what was not granted to him by a state that was
// young enough when he asked. A write can be bound by nothing but its name.
func (w *world) checkWritten() {
	w.node.Must(w.t, "POST", "/vault-*/_refresh", "")
	res := w.node.Must(w.t, "POST", "/vault-*/_search", `{"size":1000,"query":{"exists":{"field":"by"}}}`)
	var got struct {
		Hits struct {
			Hits []struct {
				Index  string              `json:"_index"`
				ID     string              `json:"_id"`
				Source struct{ By string } `json:"_source"`
			}
		}
	}
	if err := json.Unmarshal(res.Body, &got); err != nil {
		w.t.Fatal(err)
	}
	for _, h := range got.Hits.Hits {
		by := strings.Split(h.Source.By, "@")
		if len(by) != 3 {
			w.t.Fatalf("written by %q", h.Source.By)
		}
		if by[0] == "wide" && len(h.ID) != len("v1") {
			continue // under a rule new documents may be written, whose ids are longer
		}
		var nanos int64
		if _, err := fmt.Sscan(by[1], &nanos); err != nil {
			w.t.Fatalf("written by %q: %v", h.Source.By, err)
		}
		at := time.Unix(0, nanos)
		if late, ever := w.journal.late("writes", by[2], at, at.Add(time.Minute)); !ever || late > staleness {
			w.t.Errorf("LEAK: %s wrote into %s through %s, %v after he could", by[0], h.Index, by[2], late)
		} else {
			w.t.Logf("%s wrote into %s through %s, by a state that was %v old", by[0], h.Index, by[2], late)
		}
	}
}
