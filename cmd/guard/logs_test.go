package main

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// TestLogTime: a record has one form of time, in UTC, wherever guard runs.
func TestLogTime(t *testing.T) {
	encoder := zapcore.NewJSONEncoder(logConfig(zap.NewAtomicLevel()).EncoderConfig)
	f := func(at time.Time, want string) {
		t.Helper()
		line, err := encoder.EncodeEntry(zapcore.Entry{Time: at, Message: "serving"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := line.String(); !strings.Contains(got, `"time":"`+want+`"`) {
			t.Errorf("got %s; want the time %s", got, want)
		}
	}
	f(time.Date(2026, 3, 1, 12, 0, 0, 120e6, time.FixedZone("", 2*60*60)), "2026-03-01T10:00:00.120Z")
	f(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "2026-03-01T12:00:00.000Z")
	f(time.Date(2025, 12, 31, 23, 30, 0, 999e6, time.FixedZone("", -60*60)), "2026-01-01T00:30:00.999Z")
}
