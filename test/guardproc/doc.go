// Package guardproc runs the real guard binary as a process for tests: built once,
// on free ports, ready when Start returns, and gone with the test that started it.
package guardproc
