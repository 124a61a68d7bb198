package proxy

import (
	"github.com/prometheus/client_golang/prometheus"

	"guard/internal/ask"
)

// metrics counts what happens. Labels come from closed sets: never a user, an index or
// a path.
type metrics struct {
	requests *prometheus.CounterVec // route, class
	denials  *prometheus.CounterVec // reason
	wire     *prometheus.CounterVec // kind
	limits   *prometheus.CounterVec // limit
	panics   prometheus.Counter

	unannounced prometheus.Counter
	inFlight    prometheus.Gauge
	seconds     prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer, open, held func() float64) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "guard_requests_total", Help: "Requests answered, by endpoint and class of status.",
		}, []string{"route", "class"}),
		denials: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "guard_denials_total", Help: "Requests that guard refused itself, by reason.",
		}, []string{"reason"}),
		wire: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "guard_upstream_errors_total", Help: "Calls to the cluster that failed on the wire, by kind.",
		}, []string{"kind"}),
		limits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "guard_limit_hits_total", Help: "Requests and connections that met a limit, by the name of its setting.",
		}, []string{"limit"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "guard_panics_total", Help: "Panics in requests, which were answered with 500, and in connections, which ended.",
		}),
		unannounced: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "guard_proxy_protocol_errors_total", Help: "Connections of trusted proxies that were closed because they did not begin with a good header of the PROXY protocol.",
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "guard_requests_in_flight", Help: "Requests being served.",
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "guard_request_seconds", Help: "Time from the head of a request to the end of its answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}),
	}
	conns := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "guard_upstream_connections", Help: "Connections to the cluster, in use or idle.",
	}, open)
	bytes := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "guard_held_bytes", Help: "Bytes of bodies and answers held for requests under way.",
	}, held)
	for _, c := range []prometheus.Collector{m.requests, m.denials, m.wire, m.limits, m.panics, m.unannounced, m.inFlight, m.seconds, conns, bytes} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	for _, l := range ask.Limits() {
		m.limits.WithLabelValues(string(l)) // shown from the start, so that a first one is a rise
	}
	return m, nil
}

// met counts that a limit was met; NoLimit counts as none.
func (m *metrics) met(l ask.Limit) {
	if l != ask.NoLimit {
		m.limits.WithLabelValues(string(l)).Inc()
	}
}

var classes = [...]string{"0xx", "1xx", "2xx", "3xx", "4xx", "5xx"}

func (m *metrics) answered(route string, status int) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, classes[status/100%len(classes)]).Inc()
}

func (m *metrics) denied(reason ask.Reason) {
	if reason == ask.ReasonUnknown {
		reason = "unknown"
	}
	m.denials.WithLabelValues(string(reason)).Inc()
}
