package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"guard/authn"
	"guard/config"
	"guard/indexresolver/source"
)

// reloads picks up a security folder that changes. A bad one changes nothing.
type reloads struct {
	config   *config.Config
	verifier *authn.Verifier
	current  *current
	log      *zap.Logger

	done, failed prometheus.Counter
	last         prometheus.Gauge
}

func newReloads(r prometheus.Registerer, c *config.Config, v *authn.Verifier, cur *current, log *zap.Logger) *reloads {
	re := &reloads{
		config: c, verifier: v, current: cur, log: log,
		done:   prometheus.NewCounter(prometheus.CounterOpts{Name: "guard_config_reloads_total", Help: "Security folders that were put to work after the start."}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "guard_config_reload_errors_total", Help: "Changed security folders that had a fault and changed nothing."}),
		last:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "guard_config_last_success_timestamp_seconds", Help: "When the policy at work was loaded."}),
	}
	r.MustRegister(re.done, re.failed, re.last)
	re.last.Set(float64(time.Now().Unix()))
	return re
}

// run reloads after each change until ctx ends.
func (re *reloads) run(ctx context.Context) {
	w := config.Watch(re.config.Security, re.current.policyHash(), config.WatchOptions{})
	defer w.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.Changes():
			re.reload()
		}
	}
}

// reload builds the new policy aside and swaps it in if it has no fault. The same
// bytes are no change: they come after a fault that was taken back.
func (re *reloads) reload() {
	p, warnings, err := loadPolicy(re.config, re.verifier)
	if err != nil {
		re.failed.Inc()
		re.log.Error("cannot use the changed security folder; the policy at work stays", zap.Error(err))
		return
	}
	if p.hash == re.current.policyHash() {
		re.log.Info("the security folder holds the policy at work again", zap.String("hash", p.hash))
		return
	}
	logWarnings(re.log, warnings)
	re.current.setPolicy(p)
	re.done.Inc()
	re.last.Set(float64(time.Now().Unix()))
	re.log.Info("policy reloaded", zap.String("hash", p.hash))
}

// registerState shows how old the state of the cluster is.
func registerState(r prometheus.Registerer, src *source.Source) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "guard_cluster_state_age_seconds", Help: "Time since the cluster was last known to be in the state that decisions use; -1 before the first.",
	}, func() float64 {
		state := src.State()
		if state.Empty() {
			return -1
		}
		return state.Age(time.Now()).Seconds()
	}))
}
