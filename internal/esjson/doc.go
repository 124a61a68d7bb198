// Package esjson reads and writes JSON so that nobody can read a text in two
// ways: what this package accepts has one meaning for every parser behind us,
// and what it prints means what was read.
//
// The ways in, from exact to fast:
//
//   - Parse checks a whole text (RFC 8259, and each key of an object once) and
//     records its tokens on a Tape that is reused. A Value points into the tape.
//   - Skip finds the end of a value at memory speed and builds nothing. It accepts
//     the same grammar as Parse, but does not compare keys.
//   - NextLine cuts newline-delimited bodies.
//   - Stream walks a text that is too large to be held, as it comes.
//
// Clusters write halves of surrogate pairs where a value is no text. Skip takes them in
// values, and so does Parse where its limits say so, both never in keys. They mean
// nothing, equal nothing that a client can send, and are printed as they were written.
//
// And the ways out: AppendValue prints a Value token by token, AppendCanonical
// prints it in the one form that equal values share, Writer builds a new text.
// Number lexemes are never changed: 1.0 stays 1.0 and 1e400 stays 1e400.
//
// Memory: a Tape, its Values and every string and slice got from them share the
// memory of the text that was parsed. They hold until the text or the tape is
// used again; clone what must live longer (a key of a memo table above all).
package esjson
