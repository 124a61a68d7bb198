// Package clients runs real clients of OpenSearch and Elasticsearch, unchanged, on a
// bare node and through guard: each sees through guard what it sees on the node, and a
// user who may see a part of an index sees what a node with that part alone shows.
//
// Each client has a program below testdata that plays a scenario and tells what the
// client saw. Clients are installed into the cache of the test bed by the package
// tools of their languages, pinned by lock files.
package clients
