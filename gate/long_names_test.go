package gate

import (
	"fmt"
	"strings"
	"testing"

	"guard/config"
)

// TestLongNames holds that an error repeats a bounded part of what the client wrote,
// wherever it stands: what is refused item by item is held beside the limits of a
// request.
func TestLongNames(t *testing.T) {
	const most = 16 << 10
	long := strings.Repeat("x", 200_000)
	check := func(where string, body []byte) {
		t.Helper()
		if len(body) > most {
			t.Errorf("%s: an error of %d bytes; want at most %d: %.300s", where, len(body), most, body)
		}
	}
	for _, by := range []config.Evaluation{config.EvaluationLegacy, config.EvaluationV4} {
		s := worldBy(t, by, managerRole, staff())
		for _, name := range []string{long, "a" + long, "_" + long, "-" + long, "<" + long, "<x{now" + long + "}>", "a:" + long, long + "::" + long, long + "*", "#" + long, long + "," + long} {
			for _, r := range [][3]string{
				{"GET", "/" + name + "/_search", ""},
				{"GET", "/" + name + "/_doc/1", ""},
				{"GET", "/" + name + "/_search?allow_no_indices=false", ""},
				{"GET", "/_resolve/index/" + name, ""},
				{"PUT", "/" + name, ""},
				{"PUT", "/logs-a-1/_alias/" + name, ""},
				{"GET", "/hr/_field_caps?fields=a", `{"` + name + `":1}`},
				{"GET", "/_cat/indices?h=" + name, ""},
				{"PUT", "/xnew", `{"aliases":{"` + name + `":{}}}`},
				{"POST", "/_aliases", `{"actions":[{"add":{"index":"` + name + `","alias":"x"}}]}`},
				{"POST", "/_aliases", `{"actions":[{"add":{"index":"logs-a-1","alias":"` + name + `"}}]}`},
				{"POST", "/_mget", `{"docs":[{"_index":"` + name + `","_id":"1"}]}`},
				{"POST", "/_msearch", `{"index":"` + name + "\"}\n{}\n"},
				{"POST", "/_msearch", `{"index":["` + name + `","y"]}` + "\n{}\n"},
			} {
				where := fmt.Sprintf("%s %s %.40s %.60s", by, r[0], r[1], r[2])
				switch out := planFor(t, s, r[0], r[1], r[2]); out.Kind {
				case Reject:
					check(where, ErrorBody(&out.Rejection))
					if out.Rejection.Missing != nil {
						cells, _ := out.Rejection.Missing(20)
						check(where+", for the log", []byte(strings.Join(cells, "")))
					}
				case Local:
					check(where, out.Local.Body)
				}
			}
			lines := linesFor(t, s, "/_bulk").Lines
			if _, err := lines.Action([]byte(`{"index":{"_index":"` + name + `","_id":"1"}}`)); err != nil {
				check(name[:9]+" in a bulk", ErrorBody(asRejection(err)))
				continue
			}
			if sent, err := lines.Item(nil, []byte(`{}`)); err != nil || len(sent) > 0 {
				t.Errorf("%.9s in a bulk: %d bytes are sent, %v; want it refused", name, len(sent), err)
			}
			if local, err := lines.End(); err != nil || local == nil {
				t.Errorf("%.9s in a bulk: %v, %v; want an answer", name, local, err)
			} else {
				check(name[:9]+" in a bulk", local.Body)
			}
		}
	}
}
