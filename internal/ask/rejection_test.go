package ask

import "testing"

// TestRejection: the zero value refuses, and no refusal is a success.
func TestRejection(t *testing.T) {
	f := func(r Rejection, code int, name string) {
		t.Helper()
		if r.Status.Code() != code || r.Type.Name() != name {
			t.Errorf("status %d, type %q: got %d %q; want %d %q", int(r.Status), string(r.Type), r.Status.Code(), r.Type.Name(), code, name)
		}
	}
	f(Rejection{}, 403, "security_exception")
	f(Rejection{Status: -1}, 403, "security_exception")
	f(Rejection{Status: 200}, 403, "security_exception")
	f(Rejection{Status: 399}, 403, "security_exception")
	f(Rejection{Status: 400}, 400, "security_exception")
	f(Rejection{Status: 599}, 599, "security_exception")
	f(Rejection{Status: 600}, 403, "security_exception")
	f(Rejection{Status: 404, Type: "index_not_found_exception"}, 404, "index_not_found_exception")
}
