// Package integration sends one table of requests, under one policy, through guard to
// real nodes of each engine and straight to a node with the security plugin, and
// holds that verdicts, documents and fields are the same but for listed deviations.
package integration
