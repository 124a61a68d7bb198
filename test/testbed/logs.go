package testbed

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// errPolicy means that the security plugin will never open the node: it says so
// once, in its log, and answers "not initialized" from then on.
var errPolicy = errors.New("the security plugin refuses its configuration")

// policyRefused is the plugin's line for that, in all versions here. It adds "this
// is maybe not an error", but a node that logged it was never seen to open.
const policyRefused = "Cannot apply default config"

// policyFault returns errPolicy with the cause if the node's log tells of one.
func policyFault(log string) error {
	text, err := os.ReadFile(log)
	if err != nil {
		return fmt.Errorf("cannot read the node's log: %w", err)
	}
	_, after, found := bytes.Cut(text, []byte(policyRefused))
	if !found {
		return nil
	}
	return fmt.Errorf("%w: %s", errPolicy, cause(after))
}

// maxCause bounds the quoted part of a stack trace's line.
const maxCause = 500

// cause returns the last "Caused by" of the stack trace that text starts with, or
// the exception itself where there is none.
func cause(text []byte) []byte {
	var found []byte
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("[20")):
			return found // the next record of the log
		case bytes.HasPrefix(line, []byte("Caused by:")), found == nil && bytes.Contains(line, []byte("Exception:")):
			found = line[:min(len(line), maxCause)]
		}
	}
	return found
}

// logDigest returns the errors of a log and its end, without the frames of stack
// traces: where a start fails, one of the two tells why.
func logDigest(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		return []byte(err.Error())
	}
	var faults, rest []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("\tat ")) {
			rest = append(rest, line...)
		}
		if bytes.Contains(line, []byte("[ERROR]")) || bytes.Contains(line, []byte("[FATAL]")) {
			faults = append(faults, line...)
		}
	}
	end := tail(rest, 20)
	if len(faults) == 0 {
		return end
	}
	return fmt.Appendf(nil, "%s\n...\n%s", tail(faults, 10), end)
}

// tail returns the last n lines of text.
func tail(text []byte, n int) []byte {
	text = bytes.TrimRight(text, "\n")
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] != '\n' {
			continue
		}
		if n--; n == 0 {
			return text[i+1:]
		}
	}
	return text
}
