package leaks

import (
	"net/http"
	"strings"
	"testing"
)

func TestCondition(t *testing.T) {
	f := func(text string, a Answer, want bool) {
		t.Helper()
		holds, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := holds(&a); got != want {
			t.Errorf("%s of %d %s is %v; want %v", text, a.Status, a.Body, got, want)
		}
	}
	body := func(text string) Answer { return Answer{Status: 200, Body: []byte(text)} }

	f("SECRET", body(`{"a":"a SECRET"}`), true)
	f("SECRET", body(`{"a":"a secret"}`), false) // case matters
	f("$ 5", body(`costs $ 5`), true)            // no path

	f("$.hits.total.value==2", body(`{"hits":{"total":{"value":2}}}`), true)
	f("$.hits.total.value==2", body(`{"hits":{"total":{"value":2.0}}}`), true)
	f("$.hits.total.value>=3", body(`{"hits":{"total":{"value":2}}}`), false)
	f("$.hits.total.value!=3", body(`{"hits":{"total":2}}`), false) // absent
	f("$.a>1", body(`{"a":"2"}`), false)                            // another type
	f("$.a<2", body(`{"a":1}`), true)
	f("$.a<=1", body(`{"a":1}`), true)
	f(`$.a=="1"`, body(`{"a":"1"}`), true)
	f(`$.a==1`, body(`{"a":"1"}`), false)
	f("$._id==a2", body(`{"_id":"a2"}`), true)
	f("$.ok==true", body(`{"ok":true}`), true)
	f("$.ok!=true", body(`{"ok":false}`), true)
	f("$.a[1].b[0][1]==7", body(`{"a":[0,{"b":[[6,7]]}]}`), true)
	f("$.a[2]==7", body(`{"a":[7]}`), false)
	f("$.a.b==7", body(`{"a":[7]}`), false)
	f("$.a==1", body(`{"a":1} x`), false) // no JSON
	f("$.a==1", body(`{"a":null}`), false)

	f("$.a.b exists", body(`{"a":{"b":0}}`), true)
	f("$.a.b exists", body(`{"a":{"b":null}}`), false)
	f("$..b exists", body(`[{"a":[{"b":null}]}]`), true)
	f("$..b exists", body(`[{"a":["b"]}]`), false)

	f("status==0", Answer{}, true)
	f("status!=200", body(""), false)
	f(`body~^HTTP/1\.1 [12]`, body("HTTP/1.1 101 Switching"), true)
	f("header:x-more~^a", Answer{Header: http.Header{"X-More": {"b", "a1"}}}, true)
	f("header:x-more~^a", Answer{}, false)
	f("REFUSED", Answer{Status: 403}, true)
	f("REFUSED", Answer{Status: 500}, false)
}

func TestConditionFaults(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want %q in it", text, err, want)
		}
	}
	f("", "empty")
	f("body~(", "missing closing")
	f("header:A~(", "missing closing")
	f("$.a", "want a path with a comparison")
	f("$.a ~ 3", "want a path with a comparison")
}

func TestJudge(t *testing.T) {
	f := func(c Case, a Answer, want Verdict, why string) {
		t.Helper()
		got, told, err := c.Judge(&a, []*Answer{{Status: 200, Body: []byte("after")}}[:len(c.Verify)], func(s string) string {
			return strings.ReplaceAll(s, "${st}", "404")
		})
		if err != nil {
			t.Fatal(err)
		}
		if got != want || told != why {
			t.Errorf("%s (%s); want %s (%s)", got, told, want, why)
		}
	}
	either := Case{LeakIf: []string{"SECRET", "status!=${st}"}, OKIf: []string{"REFUSED", "status==0"}}
	f(either, Answer{Status: 404, Body: []byte("SECRET")}, Leak, "SECRET") // refusals leak too
	f(either, Answer{Status: 403}, Leak, "status!=${st}")
	f(either, Answer{Status: 404}, Refused, "REFUSED")

	answered := Case{LeakIf: []string{"SECRET"}, OKIf: []string{"$.n==0", "status==0", "status==200"}}
	f(answered, Answer{Status: 200, Body: []byte(`{"n":0}`)}, Answered, "$.n==0")
	f(answered, Answer{}, Refused, "status==0")
	f(answered, Answer{Status: 500}, Unexpected, "status 500")

	useful := Case{LeakIf: []string{"SECRET"}, Must: []string{"status==200", "$.n==1"}, OKIf: []string{"status==200"}}
	f(useful, Answer{Status: 200, Body: []byte(`{"n":1}`)}, Useful, "")
	f(useful, Answer{Status: 200, Body: []byte(`{"n":2}`)}, Broken, "$.n==1")
	f(useful, Answer{Status: 200, Body: []byte(`{"n":1,"s":"SECRET"}`)}, Leak, "SECRET")

	later := Case{Verify: []Step{{LeakIf: []string{"after"}}}, OKIf: []string{"REFUSED"}}
	f(later, Answer{Status: 403}, Leak, "after")
}

func TestLacks(t *testing.T) {
	c := Capabilities{Engine: "opensearch", Major: 2, Minor: 19, names: []string{"any", "lang-painless", "reindex"}}
	f := func(want string, needs ...string) {
		t.Helper()
		if got := c.Lacks(needs); got != want {
			t.Errorf("%v lacks %q; want %q", needs, got, want)
		}
	}
	f("", "any")
	f("", "painless", "reindex")
	f("sql-plugin", "any", "sql-plugin", "xpack")
	f("", "opensearch>=2.4")
	f("", "opensearch>=2.19")
	f("opensearch>=3.0", "opensearch>=3.0")
	f("", "opensearch<3")
	f("elasticsearch<8", "elasticsearch<8")
	f("", "elasticsearch>=7.13|opensearch>=2")
	f("elasticsearch>=7.13|opensearch>=3", "elasticsearch>=7.13|opensearch>=3")
}

func TestExpected(t *testing.T) {
	text := expectedHead + "A-01a\tREFUSED\nA-01b\tUNEXPECTED\tbecause\n"
	all, err := ParseExpected(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := FormatExpected(all); got != text {
		t.Errorf("read and written again:\n%s\nwant\n%s", got, text)
	}
	f := func(text, want string) {
		t.Helper()
		if _, err := ParseExpected(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; want %q in it", text, err, want)
		}
	}
	f("A-01a", "want a case, a verdict")
	f("A\tREFUSED\tx\ty", "want a case, a verdict")
	f("A\tFINE", `no verdict "FINE"`)

	for v := range ranks {
		if !Leak.Worse(v) && v != Leak {
			t.Errorf("%s is as bad as a leak", v)
		}
	}
	if !Refused.Worse(Answered) || Answered.Worse(Useful) {
		t.Errorf("the order of verdicts is wrong")
	}
}
