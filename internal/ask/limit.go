package ask

// Limit names a bound that a request or connection met: a closed set, used as metric
// label. A limit has the name of its setting, where it has one.
type Limit string

// The limits. What may be held, and how many at a time, is in limits of guard.yml; how
// long something may take is in timeouts.
const (
	NoLimit Limit = "" // zero value: no bound was met

	LimitHeader             Limit = "max_header" // also the number of header lines
	LimitBody               Limit = "max_body"
	LimitBulkBody           Limit = "max_bulk_body"
	LimitBulkLine           Limit = "max_bulk_line"
	LimitInflateRatio       Limit = "inflate_ratio" // fixed
	LimitDepth              Limit = "max_depth"
	LimitItems              Limit = "max_items" // fixed: the items of a bulk or multi-search, and what they name
	LimitExpressionNames    Limit = "max_expression_names"
	LimitUpstreamURI        Limit = "max_upstream_uri"
	LimitUpstreamHeader     Limit = "max_upstream_header"
	LimitConcurrent         Limit = "max_concurrent"
	LimitUserConcurrent     Limit = "max_user_concurrent"
	LimitInFlight           Limit = "max_in_flight"
	LimitUserInFlight       Limit = "max_user_in_flight"
	LimitFilteredAnswer     Limit = "max_filtered_answer"
	LimitConnections        Limit = "max_connections"
	LimitAddressConnections Limit = "max_address_connections"
	LimitFailedLogins       Limit = "failed_logins" // failed_logins_per_minute
	LimitHashQueue          Limit = "hash_queue"
	LimitUserConnections    Limit = "max_user_connections" // of upstream, as the next two
	LimitQueue              Limit = "max_queue"
	LimitQueueTimeout       Limit = "queue_timeout"

	LimitMinRate    Limit = "min_rate" // beyond the stall of timeouts
	LimitReadHeader Limit = "read_header"
	LimitRead       Limit = "read"
	LimitWrite      Limit = "write"
	LimitIdle       Limit = "idle"
	LimitConnect    Limit = "connect"
	LimitUpstream   Limit = "upstream"
	LimitDrain      Limit = "drain"
)

// Limits returns all limits.
func Limits() []Limit {
	return []Limit{
		LimitHeader, LimitBody, LimitBulkBody, LimitBulkLine, LimitInflateRatio, LimitDepth, LimitItems, LimitExpressionNames,
		LimitUpstreamURI, LimitUpstreamHeader, LimitConcurrent, LimitUserConcurrent, LimitInFlight, LimitUserInFlight, LimitFilteredAnswer,
		LimitConnections, LimitAddressConnections, LimitHashQueue, LimitFailedLogins,
		LimitUserConnections, LimitQueue, LimitQueueTimeout, LimitMinRate, LimitReadHeader, LimitRead, LimitWrite, LimitIdle, LimitConnect, LimitUpstream, LimitDrain,
	}
}
