package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"guard/internal/esjson"
)

// Internal is what the internal listener shows: probes, metrics and the log level, and
// what it does: reload. It is not for clients.
type Internal struct {
	Ready    func() error // why guard can't serve yet, or no longer; nil: it can
	Draining func() bool
	Faulty   func() []FaultyPart // what could not be loaded anew; guard serves by what it had
	Reload   func(context.Context) (Reloaded, error)
	Hosts    []string // names by which it is asked, beside addresses and localhost; see inner
	Metrics  *prometheus.Registry
	Level    zap.AtomicLevel
	Log      *zap.Logger
}

// FaultyPart is a part of the configuration whose files hold a fault since they changed.
type FaultyPart struct {
	Part   string    `json:"-"`
	Faulty bool      `json:"faulty"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
}

// Reloaded is what came of a reload.
type Reloaded struct {
	Generation uint64    `json:"generation"` // of the policy at work: 1 at the start, one more with each that was put to work
	Changed    bool      `json:"changed"`    // this reload put one to work
	Warnings   []Finding `json:"warnings"`
	Faults     []Finding `json:"faults,omitempty"` // each part that has one stays as it was
}

// Finding is one thing to say about a file.
type Finding struct {
	Part    string `json:"part"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Path    string `json:"path,omitempty"` // of keys
	Message string `json:"message"`
	Want    string `json:"want,omitempty"`
}

// Server returns an HTTP server for a listener that Listen has made.
func (in Internal) Server() (*http.Server, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { probe(w, "", nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { probe(w, in.unready(), in.Faulty()) })
	mux.HandleFunc("POST /-/reload", in.reload)
	mux.Handle("GET /metrics", promhttp.HandlerFor(in.Metrics, promhttp.HandlerOpts{}))
	mux.Handle("/log-level", in.Level) // GET shows it, PUT {"level":"debug"} sets it
	screened, err := in.screen(mux)
	if err != nil {
		return nil, err
	}
	return &http.Server{
		Handler: http.MaxBytesHandler(screened, 64<<10), MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute,
	}, nil
}

// unready says why guard should get no requests; empty if it should.
func (in Internal) unready() string {
	err := in.Ready()
	switch {
	case in.Draining():
		return "draining"
	case err != nil:
		return err.Error()
	}
	return ""
}

// reload answers 200 if all that was read is at work, and 400 with what is wrong.
func (in Internal) reload(w http.ResponseWriter, r *http.Request) {
	done, err := in.Reload(r.Context())
	switch {
	case err != nil:
		probe(w, err.Error(), nil)
	case len(done.Faults) > 0:
		writeJSON(w, http.StatusBadRequest, done)
	default:
		writeJSON(w, http.StatusOK, done)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("BUG: cannot write an answer: " + err.Error()) // ends this request alone
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the asker is gone: nobody to tell
}

// probe answers a probe; why is empty if all is well. Parts at fault do not make guard
// unready: it serves by what they were before.
func probe(w http.ResponseWriter, why string, faulty []FaultyPart) {
	w.Header().Set("Content-Type", "application/json")
	b := []byte(`{"status":"ok"`)
	if why != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
		b = esjson.AppendString([]byte(`{"status":"unavailable","reason":`), why)
	}
	for _, p := range faulty {
		detail, err := json.Marshal(p)
		if err != nil {
			panic("BUG: cannot write an answer: " + err.Error()) // ends this request alone
		}
		b = append(esjson.AppendString(append(b, ','), p.Part), ':')
		b = append(b, detail...)
	}
	_, _ = w.Write(append(b, '}')) // the prober is gone: nobody to tell
}
