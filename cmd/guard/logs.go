package main

import (
	"fmt"
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"guard/config"
)

// newLogger makes the JSON log on out, with a level that can be changed while serving.
// Its sink is closed when nothing is logged any more.
func newLogger(c config.Log, out io.Writer, r prometheus.Registerer) (*zap.Logger, zap.AtomicLevel, *sink, error) {
	level, err := zap.ParseAtomicLevel(string(c.Level))
	if err != nil {
		return nil, level, nil, fmt.Errorf("cannot use log level: %w", err)
	}
	lost := prometheus.NewCounter(prometheus.CounterOpts{Name: "guard_log_errors_total", Help: "Log records that could not be written: a full disk, a pipe that is closed or that nobody reads."})
	r.MustRegister(lost)
	conf := logConfig(level)
	encoder := zapcore.NewJSONEncoder(conf.EncoderConfig)
	to := newSink(out, lost, func(lost int, why error) []byte { return lostRecord(encoder, lost, why) })
	log, err := conf.Build(zap.WrapCore(func(zapcore.Core) zapcore.Core { return zapcore.NewCore(encoder, to, level) }))
	if err != nil {
		to.close()
		return nil, level, nil, fmt.Errorf("cannot make the log: %w", err)
	}
	return log, level, to, nil
}

// lostRecord is the record that says that others were lost.
func lostRecord(encoder zapcore.Encoder, lost int, why error) []byte {
	entry := zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "log records were lost"}
	line, err := encoder.EncodeEntry(entry, []zapcore.Field{zap.Int("records", lost), zap.Error(why)})
	if err != nil {
		return nil // never: there is nothing in it that could not be encoded
	}
	defer line.Free()
	return append([]byte(nil), line.Bytes()...)
}

func logConfig(level zap.AtomicLevel) zap.Config {
	conf := zap.NewProductionConfig()
	conf.Level = level
	conf.Sampling = nil // denials have a limiter of their own; nothing else repeats
	conf.DisableStacktrace = true
	conf.EncoderConfig.TimeKey, conf.EncoderConfig.EncodeTime = "time", encodeTime
	return conf
}

// encodeTime writes RFC 3339 with milliseconds in UTC, so that the logs of machines in
// several zones, and of an hour that comes twice, sort by their text.
func encodeTime(t time.Time, enc zapcore.PrimitiveArrayEncoder) {
	enc.AppendString(t.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}

func logWarnings(log *zap.Logger, warnings []config.Warning) {
	for _, w := range warnings {
		log.Warn("configuration", zap.String("file", w.File), zap.Int("line", w.Line), zap.String("path", w.Path), zap.String("warning", w.Msg), zap.String("want", w.Want))
	}
}
