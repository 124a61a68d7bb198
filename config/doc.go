// Package config turns files into validated structs: guard.yml and the security
// folder, whose files are those of the OpenSearch Security plugin. Nothing that
// is not understood passes; all faults are reported at once, each with its file,
// line and path of keys. Texts stay texts here: what compiles patterns, queries
// and privileges from them lives in other packages.
package config
