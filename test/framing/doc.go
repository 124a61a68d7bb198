// Package framing plays requests of odd shapes over raw sockets at a proxy and tells
// what came of each: what the client got, and what a cluster behind the proxy saw. Its
// parser is written from the grammar of RFC 9112 and knows nothing of guard's.
package framing
