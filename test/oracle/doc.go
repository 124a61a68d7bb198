// Package oracle replays recordings of the OpenSearch Security plugin, and cases that
// were measured one by one on two versions of it: the same
// documents in a real cluster, guard in front of it with the same policy, the same
// requests of the same users. Every answer is the recorded one, or differs in a way
// that testdata/deviations.yml lists with its reason.
package oracle
