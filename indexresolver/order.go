package indexresolver

// Order says by which values the shards of an index keep its documents in order. The
// zero value is the order in which they were written.
type Order struct {
	Fields []string // documents stand by the values of these
	Newest bool     // segments stand by the newest value of Time in them
}

// Time is the field that the clusters take for the time of a document.
const Time = "@timestamp"

var timestamp = []byte(`"` + Time + `"`)

// Order returns the order of the concrete index called name. Where it is not sure whether
// segments have one, they have.
func (s *State) Order(name string) Order {
	if s == nil {
		return Order{}
	}
	e, ok := s.entries[name]
	if !ok || e.index == nil {
		return Order{}
	}
	// A sorted index leaves its segments as they come (measured on OpenSearch 2.19 and 3.4).
	return Order{Fields: e.index.Sort, Newest: len(e.index.Sort) == 0 && e.timed && s.Engine.ordersSegments()}
}

// ordersSegments reports whether the cluster opens the segments of an index with the field
// Time by its values, the newest first: all but Elasticsearch 7.10 (measured there, and on
// OpenSearch 2.19 and 3.4).
func (e Engine) ordersSegments() bool {
	return e.Distribution != Elasticsearch || e.Major != 7 || e.Minor > 10
}
