// Package queries holds what internal/query and internal/querystring promise of
// searches up to real nodes: a hidden field is, to the letter, a field that the index
// does not have, and a hidden document, in searches and multi-gets, one that is not there.
package queries
