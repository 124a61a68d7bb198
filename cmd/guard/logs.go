package main

import (
	"fmt"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"guard/config"
)

// newLogger makes the JSON log on standard error, with a level that can be changed
// while serving.
func newLogger(c config.Log) (*zap.Logger, zap.AtomicLevel, error) {
	level, err := zap.ParseAtomicLevel(string(c.Level))
	if err != nil {
		return nil, level, fmt.Errorf("cannot use log level: %w", err)
	}
	log, err := logConfig(level).Build()
	if err != nil {
		return nil, level, fmt.Errorf("cannot make the log: %w", err)
	}
	return log, level, nil
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
