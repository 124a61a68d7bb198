// Package queries holds what internal/query and internal/querystring promise of
// searches up to real nodes: a hidden field is, to the letter, a field that the index
// does not have.
package queries
