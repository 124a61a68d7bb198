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

	faulty       bool // what the folder held at the last look can't be used
	done, failed prometheus.Counter
	last, fault  prometheus.Gauge
}

func newReloads(r prometheus.Registerer, c *config.Config, v *authn.Verifier, cur *current, log *zap.Logger) *reloads {
	re := &reloads{
		config: c, verifier: v, current: cur, log: log,
		done:   prometheus.NewCounter(prometheus.CounterOpts{Name: "guard_config_reloads_total", Help: "Security folders that were put to work after the start."}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "guard_config_reload_errors_total", Help: "Changed security folders that had a fault and changed nothing."}),
		last:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "guard_config_last_success_timestamp_seconds", Help: "When the policy at work was loaded."}),
		fault:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "guard_config_faulty", Help: "1 while the security folder can't be used, so that an older policy is at work; else 0."}),
	}
	r.MustRegister(re.done, re.failed, re.last, re.fault)
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
		case c := <-w.Changes():
			re.reload(c)
		}
	}
}

// reload builds the policy that a change brings aside, and swaps it in if it has no
// fault. The same bytes are no change: they come after a fault that was taken back, or
// after a change that was taken back before anybody looked.
func (re *reloads) reload(c config.Change) {
	p, warnings, err := re.build(c)
	wasFaulty := re.faulty
	re.setFaulty(err != nil)
	switch {
	case err != nil:
		re.failed.Inc()
		re.log.Error("cannot use the changed security folder; the policy at work stays", zap.Error(err))
	case p.hash != re.current.policyHash():
		logWarnings(re.log, warnings)
		re.current.setPolicy(p)
		re.verifier.ForgetFailures()
		re.done.Inc()
		re.last.Set(float64(time.Now().Unix()))
		re.log.Info("policy reloaded", zap.String("hash", p.hash))
	case wasFaulty:
		re.log.Info("the security folder holds the policy at work again", zap.String("hash", p.hash))
	}
}

func (re *reloads) build(c config.Change) (*policy, []config.Warning, error) {
	if c.Err != nil {
		return nil, nil, c.Err
	}
	return compilePolicy(c.Folder, re.config, re.verifier)
}

func (re *reloads) setFaulty(faulty bool) {
	re.faulty = faulty
	value := 0.0
	if faulty {
		value = 1
	}
	re.fault.Set(value)
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
