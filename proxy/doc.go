// Package proxy stands between two sockets: every byte that it accepts from a client
// has one meaning, every byte that it sends to the cluster was meant. It checks frames,
// asks who the caller is, calls the gate and does what the outcome says; it decides
// nothing about rights itself.
//
// It is the only package that knows fasthttp, and fasthttp never sees a byte that a
// client wrote: a connection reads, checks and keeps the head of each request itself and
// hands the library a head of its own making (conn.go). Bodies are framed here in both
// directions (body.go), and the client of the cluster is ours too (wire.go, transport.go):
// the library's parser, its retries and its trailers are out of the way.
package proxy
