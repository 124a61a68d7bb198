package names

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestRegexMeansJava holds the answers of java.util.regex (JDK 17,
// Matcher.matches) for each pattern over all of the names.
func TestRegexMeansJava(t *testing.T) {
	names := []string{"", "a", "b", "ab", "abc", "ABC", "t1", "index_a1", "c1", "logs-2026", "logs-secret", "z", "y", "a.b", "a.bc", "axbc", "x1", "12-12", "12-13", "bc", "ccc", "aab", "xyz", ".ds-ds_a1-000001", "xx", "xxxx", "abba", "é", "A", "aB", "a-z", "a b", "١٢", "-a", "a^", "a\n", "_x.y-z"}
	f := func(pattern string, want ...string) {
		t.Helper()
		p := MustParsePattern("/" + pattern + "/")
		got := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !p.Match(n) })
		if diff := cmp.Diff(want, slices.Clip(got), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("/%s/ differs from Java (-java +guard):\n%s", pattern, diff)
		}
	}
	f(`a.*`, "a", "ab", "abc", "a.b", "a.bc", "axbc", "aab", "abba", "aB", "a-z", "a b", "a^")
	f(`^(?!t.*).*`, "", "a", "b", "ab", "abc", "ABC", "index_a1", "c1", "logs-2026", "logs-secret", "z", "y", "a.b", "a.bc", "axbc", "x1", "12-12", "12-13", "bc", "ccc", "aab", "xyz", ".ds-ds_a1-000001", "xx", "xxxx", "abba", "é", "A", "aB", "a-z", "a b", "١٢", "-a", "a^", "_x.y-z")
	f(`[a-c]+\d`, "c1")
	f(`a|b.*`, "a", "b", "bc")
	f(`(?i)abc`, "abc", "ABC")
	f(`\w+-\d{4}`, "logs-2026")
	f(`logs-(?!secret).*`, "logs-2026")
	f(`(?<=x)y|z`, "z")
	f(`a$`, "a")
	f(`^a`, "a")
	f(`\Qa.b\E.*`, "a.b", "a.bc")
	f(`[\p{Lower}\d]+`, "a", "b", "ab", "abc", "t1", "c1", "z", "y", "axbc", "x1", "bc", "ccc", "aab", "xyz", "xx", "xxxx", "abba")
	f(`\P{Digit}+`, "a", "b", "ab", "abc", "ABC", "logs-secret", "z", "y", "a.b", "a.bc", "axbc", "bc", "ccc", "aab", "xyz", "xx", "xxxx", "abba", "é", "A", "aB", "a-z", "a b", "١٢", "-a", "a^", "a\n", "_x.y-z")
	f(`(?<y>\d{2})-\k<y>`, "12-12")
	f(`a?b*c+`, "abc", "bc", "ccc")
	f(`(?>a+)b`, "ab", "aab")
	f(`[^a-c]*`, "", "ABC", "t1", "logs-2026", "z", "y", "x1", "12-12", "12-13", "xyz", "xx", "xxxx", "é", "A", "١٢", "_x.y-z")
	f(`\.ds-.*-\d+`, ".ds-ds_a1-000001")
	f(`a\b.*`, "a", "a.b", "a.bc", "a-z", "a b", "a^")
	f(`x{2,3}`, "xx")
	f(`(a)(b)\2\1`, "abba")
	f(`\p{L}+`, "a", "b", "ab", "abc", "ABC", "z", "y", "axbc", "bc", "ccc", "aab", "xyz", "xx", "xxxx", "abba", "é", "A", "aB")
	f(`\s*`, "")
	f(`(?s).*`, "", "a", "b", "ab", "abc", "ABC", "t1", "index_a1", "c1", "logs-2026", "logs-secret", "z", "y", "a.b", "a.bc", "axbc", "x1", "12-12", "12-13", "bc", "ccc", "aab", "xyz", ".ds-ds_a1-000001", "xx", "xxxx", "abba", "é", "A", "aB", "a-z", "a b", "١٢", "-a", "a^", "a\n", "_x.y-z")
	f(`(?i:A)b`, "ab")
	f(`[a\-z]+`, "a", "z", "a-z", "-a")
	f(`[\w.-]+`, "a", "b", "ab", "abc", "ABC", "t1", "index_a1", "c1", "logs-2026", "logs-secret", "z", "y", "a.b", "a.bc", "axbc", "x1", "12-12", "12-13", "bc", "ccc", "aab", "xyz", ".ds-ds_a1-000001", "xx", "xxxx", "abba", "A", "aB", "a-z", "-a", "_x.y-z")
	f(`\x41`, "A")
	f(`\u0061`, "a")
	f(`\t`)
	f(`\S+`, "a", "b", "ab", "abc", "ABC", "t1", "index_a1", "c1", "logs-2026", "logs-secret", "z", "y", "a.b", "a.bc", "axbc", "x1", "12-12", "12-13", "bc", "ccc", "aab", "xyz", ".ds-ds_a1-000001", "xx", "xxxx", "abba", "é", "A", "aB", "a-z", "١٢", "-a", "a^", "_x.y-z")
	f(`a\z`, "a")
	f(`a\Z`, "a")
	f(`\Aa`, "a")
	f(`[-a]+`, "a", "-a")
	f(`[a^]+`, "a", "a^")
}
