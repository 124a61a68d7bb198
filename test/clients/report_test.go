package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"guard/test/testbed"
)

const address = "http://127.0.0.1:4711"

// parse reads what a program printed.
func parse(t *testing.T, lines ...string) Report {
	t.Helper()
	r, err := read([]byte(strings.Join(lines, "\n")), address)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDifferences: order of members and the address are no difference; all else is, but for what is not built yet.
func TestDifferences(t *testing.T) {
	f := func(got, want string, differ int) {
		t.Helper()
		g, err := read([]byte(got), "http://127.0.0.1:1234")
		if err != nil {
			t.Fatal(err)
		}
		if d := g.Differences(parse(t, want)); len(d) != differ {
			t.Errorf("%s\n%s\ndiffer in %v; want %d differences", got, want, d, differ)
		}
	}
	f(`{"group":"a","ok":true,"saw":{"x":1,"y":[2]}}`, `{"group":"a","ok":true,"saw":{"y":[2],"x":1}}`, 0)
	f(`{"group":"a","ok":true,"saw":"http://127.0.0.1:1234/"}`, `{"group":"a","ok":true,"saw":"http://127.0.0.1:4711/"}`, 0)
	f(`{"group":"a","ok":true,"saw":"http://127.0.0.1:4711/"}`, `{"group":"a","ok":true,"saw":"http://127.0.0.1:4711/"}`, 1)
	f(`{"group":"a","ok":true,"saw":1}`, `{"group":"a","ok":true,"saw":1.0}`, 1)
	f(`{"group":"a","ok":false,"saw":1}`, `{"group":"a","ok":true,"saw":1}`, 1)
	f(`{"group":"b","ok":true,"saw":1}`, `{"group":"a","ok":true,"saw":1}`, 1)
	f(`{"group":"a","ok":false,"saw":"403: not built yet"}`, `{"group":"a","ok":true,"saw":1}`, 0)
	f(`{"group":"a","ok":true,"saw":"not built yet"}`, `{"group":"a","ok":true,"saw":1}`, 1)
}

// TestReadRefuses: a program that prints something else is broken.
func TestReadRefuses(t *testing.T) {
	for _, line := range []string{"Traceback", `{"group":"a"`, `{"group":1}`} {
		if r, err := read([]byte(line), address); err == nil {
			t.Errorf("%s is read as %+v; want an error", line, r)
		}
	}
}

// TestTable: a row tells what worked, and which error came where not.
func TestTable(t *testing.T) {
	fails := parse(t, `{"version":"9.1.2"}`, `{"group":"a","ok":false,"saw":"Unsupported|Product"}`, `{"group":"b","ok":true}`)
	works := parse(t, `{"version":"9.1.2"}`, `{"group":"a","ok":true}`, `{"group":"b","ok":true}`)
	refused := parse(t, `{"group":"a","ok":false,"saw":"403 not built yet"}`, `{"group":"b","ok":true}`)
	got := Table([]Row{
		{Client: "c", Engine: testbed.OpenSearch, Direct: fails, Guard: fails, Limited: refused, Switched: works},
		{Client: "d", Engine: testbed.ES710, Direct: works, Guard: works, Limited: refused, Filtered: refused, Switched: fails},
	})
	want := tableHead + "| c | 9.1.2 | opensearch | 1/2 | 1/2 | 1/2 | – | 2/2 | a: Unsupported/Product |\n" +
		"| d | 9.1.2 | es710 | 2/2 | 2/2 | 1/2 | 1/2 | 1/2 | with the switch a: Unsupported/Product; not built for limited users: a |\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestCheckSums: the jars that came are those that are listed, byte for byte.
func TestCheckSums(t *testing.T) {
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	f := func(list, want string, files ...string) {
		t.Helper()
		dir, sums := t.TempDir(), filepath.Join(t.TempDir(), "lib.sha256")
		if err := os.WriteFile(sums, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name, text, _ := strings.Cut(file, "=")
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := checkSums(sums, dir)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q with %v: %v; want %q", list, files, err, want)
		}
	}
	f(empty+"  a.jar\n", "", "a.jar=")
	f(empty+"  a.jar\n", "a.jar has SHA-256", "a.jar=x")
	f(empty+"  a.jar\n", `want ""`, "a.jar=", "b.jar=")
	f(empty+"  a.jar\n"+empty+"  b.jar\n", "1 jars are missing", "a.jar=")
}

// TestPinned: each client is pinned by a lock file of its own, and no two share a home.
func TestPinned(t *testing.T) {
	locks := []string{"requirements.txt", "package-lock.json", "go.sum", "lib.sha256", "README"} // README says why there is none
	homes := map[string]bool{}
	for _, c := range Clients() {
		found := slices.ContainsFunc(locks, func(lock string) bool { return exists(filepath.Join("testdata", c.Folder, lock)) })
		if !found || homes[c.Dir()] {
			t.Errorf("%s: pinned: %v, another of that name: %v", c.Dir(), found, homes[c.Dir()])
		}
		homes[c.Dir()] = true
		if _, err := c.sum("testdata"); err != nil {
			t.Error(err)
		}
	}
}
