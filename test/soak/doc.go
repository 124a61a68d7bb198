// Package soak runs guard for a while under all that hurts at once: its policy changes
// every second, nodes die and come back, clients cancel, drip and leave, many users read
// and write. A model knows what every answer may be.
package soak
