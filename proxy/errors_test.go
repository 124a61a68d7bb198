package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"guard/internal/ask"
)

// TestToRejection holds that every error has an answer, that it says whether something
// may have been executed, and that nothing hidden is in it.
func TestToRejection(t *testing.T) {
	secret := errors.New("node-7.internal:9200 refused")
	f := func(err error, status int, reason ask.Reason, part string) {
		t.Helper()
		for _, err := range []error{err, fmt.Errorf("outer: %w", err)} {
			r := toRejection(err)
			if r.Status.Code() != status || r.Reason != reason || !strings.Contains(r.Public, part) {
				t.Errorf("%v: got %d %s %q; want %d %s %q", err, r.Status, r.Reason, r.Public, status, reason, part)
			}
			if body := string(rejectionAnswer(r).Body); strings.Contains(body, "node-7") {
				t.Errorf("%v: the client sees %s", err, body)
			}
		}
	}
	f(&wireError{faultConnect, secret}, 503, ask.ReasonUpstream, "nothing was sent")
	f(&wireError{faultFull, secret}, 429, ask.ReasonUpstream, "nothing was sent")
	f(&wireError{faultBusy, secret}, 429, ask.ReasonUpstream, "nothing was sent")
	f(&wireError{faultStopped, secret}, 503, ask.ReasonUpstream, "nothing was sent")
	f(errDrainOver, 503, ask.ReasonUpstream, "nothing was sent")
	f(errClientGone, 502, ask.ReasonUpstream, "is unknown")
	f(&wireError{faultCut, secret}, 502, ask.ReasonUpstream, "is unknown")
	f(&wireError{faultStall, secret}, 504, ask.ReasonUpstream, "is unknown")
	f(&wireError{faultGarbage, secret}, 502, ask.ReasonUpstream, "is unknown")
	f(&wireError{faultGone, secret}, 502, ask.ReasonUpstream, "is unknown")
	f(&ask.Rejection{Status: 418, Public: "x", Reason: ask.ReasonConflict, Cause: secret}, 418, ask.ReasonConflict, "x")
	f(errCutBody, 400, ask.ReasonBadRequest, "ended inside the body")
	f(errBadChunk, 400, ask.ReasonBadRequest, "malformed chunk")
	f(errBadFooter, 400, ask.ReasonBadRequest, "trailer")
	f(os.ErrDeadlineExceeded, 408, ask.ReasonBadRequest, "did not come in time")
	f(secret, 500, ask.ReasonInternal, "its log says why")
	f(io.EOF, 500, ask.ReasonInternal, "its log says why")
	f(&panicError{value: secret}, 500, ask.ReasonInternal, "its log says why")

	f(bodyFault(errTooLarge, sizeLimit{ask.LimitBody, 7}), 413, ask.ReasonTooLarge, "larger than 7 bytes")
	f(bodyFault(errBomb, sizeLimit{ask.LimitBody, 7}), 413, ask.ReasonTooLarge, "more than 250 times")
	f(bodyFault(errBadCoding, sizeLimit{ask.LimitBody, 7}), 400, ask.ReasonBadRequest, "not what Content-Encoding says")
	f(bodyFault(errTrailing, sizeLimit{ask.LimitBody, 7}), 400, ask.ReasonBadRequest, "not what Content-Encoding says")
	f(bodyFault(&wireError{faultCut, secret}, sizeLimit{ask.LimitBody, 7}), 502, ask.ReasonUpstream, "is unknown")
	f(answerFault(errBadCoding), 502, ask.ReasonUpstream, "not understood")
	f(answerFault(&wireError{faultStall, secret}), 504, ask.ReasonUpstream, "is unknown")
	f(answerFault(&ask.Rejection{Status: 429}), 429, "", "")
	f(untreatable(secret, true), 502, ask.ReasonUpstream, "so it is withheld")
	f(untreatable(secret, false), 502, ask.ReasonUpstream, "withheld; whether it executed the request is unknown")
	f(untreatable(&ask.Rejection{Status: 403, Public: "no"}, false), 403, "", "no")
	f(lineFault(errors.New("line 3")), 400, ask.ReasonBadRequest, "line 3")
	f(lineFault(&ask.Rejection{Status: 403, Public: "no"}), 403, "", "no")
	if lineFault(nil) != nil || answerFault(nil) != nil {
		t.Error("no error became one")
	}
}

// TestRejectionShape holds that every refusal is JSON in the cluster's shape, whatever
// is in its texts.
func TestRejectionShape(t *testing.T) {
	f := func(r ask.Rejection, status int) {
		t.Helper()
		a := rejectionAnswer(&r)
		type cause struct{ Type, Reason, Index string }
		var body struct {
			Error struct {
				cause
				RootCause []cause `json:"root_cause"`
				Type      string
				Reason    string
				Index     string
			}
			Status int
		}
		if err := json.Unmarshal(a.Body, &body); err != nil {
			t.Fatalf("%s: %v", a.Body, err)
		}
		e := body.Error
		if a.Status != status || body.Status != status || len(e.RootCause) != 1 || e.RootCause[0] != (cause{e.Type, e.Reason, e.Index}) || e.Type == "" || e.Reason == "" {
			t.Errorf("%+v became %d %s", r, a.Status, a.Body)
		}
		if r.Public != "" && e.Reason != strings.ToValidUTF8(r.Text(), "\ufffd") {
			t.Errorf("%q became %q", r.Public, e.Reason)
		}
		if r.Index != nil && e.Index != r.Index.Name || r.Index == nil && e.Index != "" {
			t.Errorf("%q names %q; want %+v", r.Public, e.Index, r.Index)
		}
	}
	f(ask.Rejection{}, 403)
	f(ask.Rejection{Status: 200}, 403) // a refusal is never a success
	f(ask.Rejection{Status: 99}, 403)
	f(ask.Rejection{Status: 1000}, 403)
	f(ask.Rejection{Status: 404, Type: "index_not_found_exception", Index: &ask.MissingName{Name: `a"b`, As: ask.NoResource}, Public: "no such index"}, 404)
	f(ask.Rejection{Status: 400, Public: "quote \" newline \n nul \x00 backslash \\ </script> \u2028"}, 400)
	f(ask.Rejection{Status: 503, Public: strings.Repeat("ä", 10000)}, 503)
}

func TestErrorTexts(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if err.Error() != want {
			t.Errorf("got %q; want %q", err, want)
		}
	}
	f(&wireError{faultCut, errCutAnswer}, "cannot reach the cluster (cut): the connection ended inside the answer")
	f(&panicError{value: 7}, "panic: 7")
	if !errors.Is(&wireError{faultCut, errCutAnswer}, errCutAnswer) {
		t.Error("a fault hides its cause")
	}
	if s := clip(strings.Repeat("a", 100)); s != strings.Repeat("a", 64)+"…" {
		t.Errorf("clipped to %q", s)
	}
	if s := clipLog(strings.Repeat("a", 1000)); len(s) > 510 {
		t.Errorf("clipped to %d bytes", len(s))
	}
}
