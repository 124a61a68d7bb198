// Package twins holds one law up to real nodes: two clusters that show a user the same
// documents and fields give that user the same answers, whatever they hide from him.
//
// The tables in testdata cross clauses, aggregations, sorts and other calls with the types of
// fields. A usual run asks a choice of them on two engines; -seed 2 chooses others, -whole
// asks of all fields in all scenarios on three, and -only and -show tell about single ones.
// GUARD_TWINS_ENGINES names the engines. testdata/answered-*.tsv counts what is answered, and
// -update writes it anew.
package twins
