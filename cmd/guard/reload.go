package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"guard/authn"
	"guard/config"
	"guard/gate"
	"guard/indexresolver/source"
	"guard/proxy"
)

// reloads puts to work what changes while guard serves: the security folder, by itself
// after a change, and with it all other parts when somebody asks. A part with a fault
// stays as it was. One goroutine does all of it, run.
type reloads struct {
	config   *config.Config
	verifier *authn.Verifier
	current  *current
	log      *zap.Logger
	others   []part

	asked chan chan proxy.Reloaded
	ended chan struct{} // closed by end
	end   func()        // says that nobody is answered any more

	generation uint64                             // of the policy at work
	own        *config.Watcher[config.FileChange] // of guard.yml; nil if there is none

	mu    sync.Mutex        // guards fault
	fault *proxy.FaultyPart // what the folder held at the last look can't be used; nil if it can

	done, failed prometheus.Counter
	last, faulty prometheus.Gauge
}

// part is something beside the policy that can be loaded anew. A reload that fails
// changes nothing, and is logged and counted there.
type part struct {
	name   string
	reload func(context.Context) (changed bool, err error)
}

// Parts that are named in answers and probes, beside those of others.
const (
	policyPart = "policy"    // the security folder
	startPart  = "guard.yml" // what is read at the start alone
)

func newReloads(r prometheus.Registerer, c *config.Config, v *authn.Verifier, cur *current, log *zap.Logger) *reloads {
	re := &reloads{
		config: c, verifier: v, current: cur, log: log,
		asked: make(chan chan proxy.Reloaded), ended: make(chan struct{}), generation: 1,
		done:   prometheus.NewCounter(prometheus.CounterOpts{Name: "guard_config_reloads_total", Help: "Security folders that were put to work after the start."}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{Name: "guard_config_reload_errors_total", Help: "Changed security folders that had a fault and changed nothing."}),
		last:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "guard_config_last_success_timestamp_seconds", Help: "When the policy at work was loaded."}),
		faulty: prometheus.NewGauge(prometheus.GaugeOpts{Name: "guard_config_faulty", Help: "1 while the security folder can't be used, so that an older policy is at work; else 0."}),
	}
	re.end = sync.OnceFunc(func() { close(re.ended) })
	r.MustRegister(re.done, re.failed, re.last, re.faulty)
	re.last.Set(float64(time.Now().Unix()))
	return re
}

// run reloads after each change, and for each who asks, until ctx ends.
func (re *reloads) run(ctx context.Context) {
	w := config.Watch(re.config.Security, re.current.policyHash(), config.WatchOptions{})
	defer w.Close()
	var own <-chan config.FileChange
	if re.config.Hash != "" {
		re.own = config.WatchFile(re.config.Pos.File, re.config.Hash, config.WatchOptions{})
		defer re.own.Close()
		own = re.own.Changes()
	}
	for {
		select {
		case <-ctx.Done():
			re.end()
			return
		case c := <-w.Changes():
			re.policy(c)
		case c := <-own:
			re.ownFile(c)
		case first := <-re.asked:
			re.answer(ctx, first, w)
		}
	}
}

// errEnding is for those who ask too late.
var errEnding = errors.New("guard is stopping")

// Reload loads all parts anew, and returns when that is done. What it loads was there
// after the call.
func (re *reloads) Reload(ctx context.Context) (proxy.Reloaded, error) {
	reply := make(chan proxy.Reloaded, 1)
	select {
	case re.asked <- reply:
	case <-re.ended:
		return proxy.Reloaded{}, errEnding
	case <-ctx.Done():
		return proxy.Reloaded{}, context.Cause(ctx)
	}
	select {
	case done := <-reply:
		return done, nil
	case <-ctx.Done():
		return proxy.Reloaded{}, context.Cause(ctx)
	}
}

// answer reloads once for all who wait by now.
func (re *reloads) answer(ctx context.Context, first chan proxy.Reloaded, w *config.Watcher[config.Change]) {
	waiting := []chan proxy.Reloaded{first}
	for more := true; more; {
		select {
		case next := <-re.asked:
			waiting = append(waiting, next)
		default:
			more = false
		}
	}
	done := re.all(ctx, w)
	for _, reply := range waiting {
		reply <- done
	}
}

// all loads all parts anew. A part whose files can't be read now is at fault, and does not
// keep the others.
func (re *reloads) all(ctx context.Context, w *config.Watcher[config.Change]) proxy.Reloaded {
	now := w.Read(ctx)
	if ctx.Err() != nil {
		return proxy.Reloaded{Generation: re.generation, Faults: findings(policyPart, errEnding)}
	}
	w.Loaded(now)
	wasFaulty := re.Faulty() != nil
	done := re.policy(now)
	changed := done.Changed
	for _, p := range re.others {
		err := survive(func() error {
			other, err := p.reload(ctx)
			changed = changed || other
			return err
		})
		if err != nil {
			done.Faults = append(done.Faults, findings(p.name, err)...)
		}
	}
	done.Warnings = append(done.Warnings, re.restartFor(ctx)...)
	if !changed && !wasFaulty && len(done.Faults) == 0 {
		re.log.Info("nothing to reload has changed", zap.Uint64("generation", re.generation))
	}
	return done
}

// ownFile tells of a change of guard.yml, which is not put to work: its owner may wait for that.
func (re *reloads) ownFile(c config.FileChange) {
	log := re.log.With(zap.String("file", re.config.Pos.File))
	switch {
	case c.Err != nil:
		log.Warn("the configuration file can't be read any more; what it held at the start stays at work", zap.Error(c.Err))
	case config.HashOf(c.Data) != re.config.Hash:
		log.Warn(restartMessage)
	default:
		log.Info("the configuration file holds what is at work again")
	}
}

const restartMessage = "the configuration file has changed; a restart puts that to work, and guard check tells whether it can"

// restartFor says so to who asks for a reload while guard.yml waits for a restart.
func (re *reloads) restartFor(ctx context.Context) []proxy.Finding {
	if re.own == nil {
		return nil
	}
	c := re.own.Read(ctx)
	if c.Err == nil && config.HashOf(c.Data) == re.config.Hash || ctx.Err() != nil {
		return nil
	}
	re.ownFile(c)
	return []proxy.Finding{{Part: startPart, File: re.config.Pos.File, Message: "changed since the start", Want: "a restart, which puts it to work"}}
}

// policy builds the policy that a change brings aside, and swaps it in if it has no
// fault. The same bytes are no change: they come after a fault that was taken back, or
// after a change that was taken back before anybody looked.
func (re *reloads) policy(c config.Change) proxy.Reloaded {
	p, warnings, err := re.build(c)
	wasFaulty := re.note(err)
	done := proxy.Reloaded{Warnings: told(policyPart, warnings)}
	switch {
	case err != nil:
		re.failed.Inc()
		re.log.Error("cannot use the changed security folder; the policy at work stays", zap.Error(err))
		done.Faults = findings(policyPart, err)
	case p.hash != re.current.policyHash():
		logWarnings(re.log, warnings)
		re.current.setPolicy(p)
		re.verifier.ForgetFailures()
		re.generation++
		done.Changed = true
		re.done.Inc()
		re.last.Set(float64(time.Now().Unix()))
		re.log.Info("policy reloaded", zap.String("hash", p.hash), zap.Uint64("generation", re.generation))
	case wasFaulty:
		re.log.Info("the security folder holds the policy at work again", zap.String("hash", p.hash))
	}
	done.Generation = re.generation
	return done
}

func (re *reloads) build(c config.Change) (p *policy, warnings []config.Warning, err error) {
	if c.Err != nil {
		return nil, nil, c.Err
	}
	err = survive(func() error {
		p, warnings, err = compilePolicy(c.Folder, re.config, re.verifier)
		return err
	})
	return p, warnings, err
}

// note remembers whether the folder is at fault, and reports whether it was before.
func (re *reloads) note(err error) (was bool) {
	re.mu.Lock()
	defer re.mu.Unlock()
	was = re.fault != nil
	if err == nil {
		re.fault = nil
		re.faulty.Set(0)
		return was
	}
	since := time.Now().UTC().Truncate(time.Second)
	if was {
		since = re.fault.Since
	}
	re.fault = &proxy.FaultyPart{Part: policyPart, Faulty: true, Since: since, Reason: brief(err)}
	re.faulty.Set(1)
	return was
}

// Faulty returns the policy if it is at fault.
func (re *reloads) Faulty() []proxy.FaultyPart {
	re.mu.Lock()
	defer re.mu.Unlock()
	if re.fault == nil {
		return nil
	}
	return []proxy.FaultyPart{*re.fault}
}

// brief is an error for a probe; the log has all of it.
func brief(err error) string {
	const most = 1000
	text := err.Error()
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// findings lists what is wrong with a part.
func findings(part string, err error) []proxy.Finding {
	var faults config.Faults
	if !errors.As(err, &faults) {
		return []proxy.Finding{{Part: part, Message: brief(err)}}
	}
	return told(part, faults)
}

func told(part string, list []config.Fault) []proxy.Finding {
	out := make([]proxy.Finding, 0, len(list))
	for _, f := range list {
		out = append(out, proxy.Finding{Part: part, File: f.File, Line: f.Line, Path: f.Path, Message: f.Msg, Want: f.Want})
	}
	return out
}

// registerState shows how old the state of the cluster is, and how it is read.
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
	of := func(value func(source.Stats) uint64) func() float64 {
		return func() float64 { return float64(value(src.Stats())) }
	}
	r.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "guard_cluster_state_reads_total", Help: "Readings of the whole state of the cluster, as something had changed.",
		}, of(func(s source.Stats) uint64 { return s.Readings })),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "guard_cluster_state_errors_total", Help: "Questions for the cluster's state that failed: what is known stays and grows older.",
		}, of(func(s source.Stats) uint64 { return s.Errors })),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "guard_cluster_state_older_total", Help: "Answers of nodes that were behind what is known of the cluster, and were left.",
		}, of(func(s source.Stats) uint64 { return s.Older })),
	)
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "guard_cluster_state_lists", Help: "1 while the cluster refuses its state, so that its lists of names, aliases and mappings are compared instead; else 0.",
	}, func() float64 {
		if src.Stats().Lists {
			return 1
		}
		return 0
	}))
}

// registerKept shows what the decisions take that are kept, and how often they serve.
func registerKept(r prometheus.Registerer, cur *current) {
	of := func(value func(gate.Kept) int64) func() float64 {
		return func() float64 {
			if s := cur.snapshot.Load(); s != nil {
				return float64(value(s.Kept()))
			}
			return 0
		}
	}
	r.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "guard_kept_decisions_bytes", Help: "Bytes that kept decisions on wildcards take, about.",
		}, of(func(k gate.Kept) int64 { return k.Bytes })),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "guard_kept_decisions_recalled_total", Help: "Decisions on wildcards that were known already, since the policy is at work.",
		}, of(func(k gate.Kept) int64 { return k.Recalled })),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "guard_kept_decisions_made_total", Help: "Decisions on wildcards that were made and kept, since the policy is at work.",
		}, of(func(k gate.Kept) int64 { return k.Made })),
	)
}
