package dls

import (
	"fmt"

	"guard/internal/esjson"
	"guard/internal/query"
)

// Alias returns the filter of an alias as it stands beside queries of clients, in canonical
// bytes: a range is written so that no cluster ends a shard by it. It reports whether that
// is what was written.
func Alias(filter []byte) (f Filter, asWritten bool, err error) {
	var tape esjson.Tape
	v, err := esjson.Parse(&tape, filter, esjson.RequestLimits())
	if err != nil {
		return MatchNone, false, fmt.Errorf("cannot parse the filter of an alias: %w", err)
	}
	f, err = written(v, nil)
	if err != nil {
		return MatchNone, false, fmt.Errorf("cannot use the filter of an alias: %w", err)
	}
	return f, string(f) == string(esjson.AppendCanonical(nil, v)), nil
}

// written returns a role's query, or one like it, in canonical bytes.
func written(v esjson.Value, fill query.Fill) (Filter, error) {
	out, err := query.AppendRole(nil, v, fill)
	if err != nil {
		return MatchNone, err
	}
	var tape esjson.Tape
	printed, err := esjson.Parse(&tape, out, esjson.RequestLimits())
	if err != nil {
		return MatchNone, err
	}
	return Filter(esjson.AppendCanonical(nil, printed)), nil
}
