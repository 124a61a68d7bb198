// Package fls decides which fields of an index a user may see, wherever a field can
// be named: in requests, where a hidden field behaves as one that does not exist,
// and in answers, which are filtered a second time on their way back. What carries
// the value of a hidden field under another name is hidden with it.
package fls
