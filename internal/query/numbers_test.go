package query

import (
	"errors"
	"strings"
	"testing"
)

// TestNumbers puts lexemes at places of each kind: those that take it are listed.
func TestNumbers(t *testing.T) {
	walk := func(body string) error {
		_, err := rewrite(Search, body, nil, &Rules{Filter: Free})
		return err
	}
	// The places stand for all of their kind: what their engines read is in the tables.
	places := map[kind][]string{
		whole: {`{"size":#}`, `{"from":#}`, `{"terminate_after":#}`, `{"slice":{"id":#,"max":2}}`,
			`{"query":{"match_phrase":{"dept":{"query":"x","slop":#}}}}`, `{"query":{"intervals":{"dept":{"match":{"query":"x","max_gaps":#}}}}}`,
			`{"query":{"match":{"dept":{"query":"x","max_expansions":#}}}}`, `{"aggs":{"a":{"terms":{"field":"dept","shard_size":#}}}}`,
			`{"highlight":{"number_of_fragments":#}}`, `{"aggs":{"a":{"top_hits":{"size":#}}}}`},
		natural:  {`{"rescore":{"window_size":#}}`},
		long:     {`{"aggs":{"a":{"terms":{"field":"dept","min_doc_count":#}}}}`, `{"aggs":{"a":{"cardinality":{"field":"dept","precision_threshold":#}}}}`},
		decimal:  {`{"min_score":#}`, `{"query":{"match_all":{"boost":#}}}`, `{"query":{"terms":{"dept":["x"],"boost":#}}}`, `{"query":{"dis_max":{"tie_breaker":#}}}`},
		hitCount: {`{"track_total_hits":#}`},
		scalar:   {`{"query":{"term":{"dept":#}}}`, `{"query":{"bool":{"minimum_should_match":#}}}`},
	}
	f := func(lexeme string, kinds ...kind) {
		t.Helper()
		takes := map[kind]bool{}
		for _, k := range kinds {
			takes[k] = true
		}
		for k, bodies := range places {
			for _, body := range bodies {
				err := walk(strings.ReplaceAll(body, "#", lexeme))
				var r *Refusal
				switch {
				case (err == nil) != takes[k]:
					t.Errorf("%s in %s: %v; want taken: %v", lexeme, body, err, takes[k])
				case err != nil && (!errors.As(err, &r) || !r.BadValue):
					t.Errorf("%s in %s: %v is no bad value", lexeme, body, err)
				}
			}
		}
	}
	f("10", whole, natural, long, decimal, hitCount, scalar)
	f(`"10"`, whole, natural, long, decimal, hitCount, scalar)
	f("-1", whole, long, decimal, hitCount, scalar) // the cluster knows which may be negative
	f("-0", whole, natural, long, decimal, hitCount, scalar)
	f("1e3", whole, natural, long, decimal, hitCount, scalar)
	f("10.0", whole, natural, long, decimal, hitCount, scalar)
	f("2147483647", whole, natural, long, decimal, hitCount, scalar)
	f("2147483648", long, decimal, scalar)
	f("-2147483649", long, decimal, scalar)
	f("9223372036854775807", long, decimal, scalar)
	f("9223372036854775808", decimal, scalar)
	f("9007199254740993.0", decimal, scalar)
	f("1e18", decimal, scalar) // no integer that all clusters read alike
	f("1.5", decimal, scalar)
	f("1e-3", decimal, scalar)
	f(`"1.5"`, decimal, scalar)
	f(`"-1.5"`, decimal, scalar)
	f("1e400")
	f("-1e400")
	f("1" + strings.Repeat("0", 400))
	f(`"1e3"`, scalar)
	f(`"1e400"`, scalar)
	f(`"NaN"`, scalar)
	f(`"Infinity"`, scalar)
	f(`"+10"`, scalar)
	f(`" 10"`, scalar)
	f(`"1."`, scalar)
	f(`"1.-5"`, scalar)
	f(`".5"`, scalar)
	f(`"0x10"`, scalar)
	f(`"1_000"`, scalar)
	f(`"10d"`, scalar)
	f(`"١٠"`, scalar)
	f(`""`, scalar)
	f("null", scalar)
	f("true", hitCount, scalar)
	f(`"true"`, hitCount, scalar)
	f(`"yes"`, scalar)
	f(`"99999999999999999999"`, decimal, scalar)
}

// The refusal names the key and what was found there, cut where it is long.
func TestBadValue(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		_, err := rewrite(Search, body, nil, &Rules{})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v; want %s", body, err, want)
		}
	}
	f(`{"size":1e400}`, "[size] at size is refused: found 1e400, want an integer of 32 bits")
	f(`{"size":[1]}`, "[size] at size is refused: found an array, want an integer of 32 bits")
	f(`{"min_score":"`+strings.Repeat("9", 100)+`x"}`, `[min_score] at min_score is refused: found "`+strings.Repeat("9", 79)+"..., want a number")
	f(`{"query":{"terms":{"dept":[1,1e999]}}}`, "[terms] at query.terms.dept[1] is refused: found 1e999, want a number of at most 64 bits")

	// Who meets a rule is told so, and it is no bad value.
	_, err := rewrite(Search, `{"aggs":{"a":{"terms":{"field":"dept","min_doc_count":0}}}}`, nil, &Rules{})
	var r *Refusal
	if !errors.As(err, &r) || r.BadValue {
		t.Errorf("got %v; want a refusal by the rule", err)
	}
}

// A role's number may be a variable, which is filled in later.
func TestRoleNumbers(t *testing.T) {
	if _, err := roleQuery(`{"match_all":{"boost":1e400}}`); err == nil {
		t.Error("a boost out of range was taken")
	}
}
