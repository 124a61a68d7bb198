package gate

import "testing"

func TestHideSkipped(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if got := string(hideSkipped([]byte(body))); got != want {
			t.Errorf("hideSkipped(%s) = %s; want %s", body, got, want)
		}
	}
	f(`{"took":1,"_shards":{"total":5,"successful":5,"skipped":3,"failed":0},"hits":{}}`, `{"took":1,"_shards":{"total":5,"successful":5,"skipped":0,"failed":0},"hits":{}}`)
	f(`{"_shards":{"skipped" : 123}}`, `{"_shards":{"skipped" : 0}}`)
	f("{\"_shards\":{\"skipped\" : 12\n}}", "{\"_shards\":{\"skipped\" : 0\n}}")
	f(`{"_shards":{"total":5,"failed":0},"hits":{"skipped":7}}`, `{"_shards":{"total":5,"failed":0},"hits":{"skipped":7}}`)
	f(`{"hits":{"hits":[{"_source":{"_shards":{"skipped":9}}}]}}`, `{"hits":{"hits":[{"_source":{"_shards":{"skipped":9}}}]}}`)
	f(`{"_shards":{"skipped":0,"failed":3},"hits":{}}`, `{"_shards":{"skipped":0,"failed":3},"hits":{}}`)
	f(`{}`, `{}`)
	f(`{"_shards":`, `{"_shards":`)

	// What is not changed is not copied, and the cluster's answer stays as it is.
	for _, body := range []string{`{"_shards":{"skipped":0}}`, `{"_shards":{"skipped":12}}`} {
		b := []byte(body)
		out := hideSkipped(b)
		if string(b) != body || (&out[0] == &b[0]) != (string(out) == body) {
			t.Errorf("%s became %s in place, or was copied for nothing", body, out)
		}
	}
}
