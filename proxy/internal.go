package proxy

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"guard/internal/esjson"
)

// Internal is what the internal listener shows: probes, metrics and the log level. It
// is not for clients.
type Internal struct {
	Ready    func() error // why guard can't serve yet, or no longer; nil: it can
	Draining func() bool
	Metrics  prometheus.Gatherer
	Level    zap.AtomicLevel
}

// Server returns an HTTP server for a listener of its own.
func (in Internal) Server() *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { probe(w, "") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch err := in.Ready(); {
		case in.Draining():
			probe(w, "draining")
		case err != nil:
			probe(w, err.Error())
		default:
			probe(w, "")
		}
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(in.Metrics, promhttp.HandlerOpts{}))
	mux.Handle("/log-level", in.Level) // GET shows it, PUT {"level":"debug"} sets it
	return &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
}

// probe answers a probe; why is empty if all is well.
func probe(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "application/json")
	if why == "" {
		_, _ = w.Write([]byte(`{"status":"ok"}`)) // the prober is gone: nobody to tell
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	b := esjson.AppendString([]byte(`{"status":"unavailable","reason":`), why)
	_, _ = w.Write(append(b, '}'))
}
