package main

import (
	"fmt"

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
	conf := zap.NewProductionConfig()
	conf.Level = level
	conf.Sampling = nil // denials have a limiter of their own; nothing else repeats
	conf.DisableStacktrace = true
	conf.EncoderConfig.TimeKey, conf.EncoderConfig.EncodeTime = "time", zapcore.ISO8601TimeEncoder
	log, err := conf.Build()
	if err != nil {
		return nil, level, fmt.Errorf("cannot make the log: %w", err)
	}
	return log, level, nil
}

func logWarnings(log *zap.Logger, warnings []config.Warning) {
	for _, w := range warnings {
		log.Warn("configuration", zap.String("file", w.File), zap.Int("line", w.Line), zap.String("path", w.Path), zap.String("warning", w.Msg), zap.String("want", w.Want))
	}
}
