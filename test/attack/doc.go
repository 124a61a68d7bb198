// Package attack plays attacks on a whole guard that need more than one request to be
// seen: two requests that may differ only if hidden documents count, many users at the
// same time, and bytes that two readers could cut in two ways.
package attack
