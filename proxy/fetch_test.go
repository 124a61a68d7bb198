package proxy

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"guard/gate"
)

// TestStreamAsksAnother: an answer that its reader can't use is left for that of another
// node, and reading begins anew; an error of all nodes is that of the last.
func TestStreamAsksAnother(t *testing.T) {
	odd, good := newFake(t), newFake(t)
	g := startGuard(t, &fakeGate{intake: gate.IntakeStream, cluster: fakeCluster}, faultConfig(odd.url(), good.url()))
	tr := g.srv.cluster.(*Transport)
	tr.Meet(t.Context())
	odd.takes(eachRequest(plainAnswer(200, `{"cluster_uuid":"`+fakeCluster+`","half":[1,2`)))
	for range 10 {
		begun, whole := 0, 0
		err := tr.Stream(t.Context(), "GET", "/y", func(status int, body io.Reader) error {
			begun++
			var into map[string]any
			if err := json.NewDecoder(body).Decode(&into); err != nil || status != 200 {
				return errors.Join(errors.New("half an answer"), err)
			}
			whole++
			return nil
		})
		if err != nil || whole != 1 || begun > 2 {
			t.Errorf("%d of %d answers were used, %v; want one, after one that is cut at most", whole, begun, err)
		}
	}
	mine := errors.New("of no use")
	if err := tr.Stream(t.Context(), "GET", "/y", func(int, io.Reader) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("%v; want the error of the reader", err)
	}
}
