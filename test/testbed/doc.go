// Package testbed gives tests real clusters: OpenSearch, Elasticsearch and
// OpenSearch with its security plugin, each a process of its own on this machine.
//
// Homes are assembled from pinned, verified Maven artefacts into a cache outside
// the tree. A node belongs to the process that started it and dies with it.
package testbed
