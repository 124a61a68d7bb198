// Package attack plays attacks on a whole guard: what is hidden is asked for in every
// place and spelling, two searches may differ only if hidden documents count, and many
// users ask on one connection and at the same time.
package attack
