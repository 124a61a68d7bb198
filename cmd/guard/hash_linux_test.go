package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal returns both sides of a terminal of its own: what the user types into and reads
// from, and what the program has.
func terminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = user.Close() })
	n, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return user, program
}

// TestPasswordOfTerminal: a password is asked twice and never shown, and the end of input
// ends the question.
func TestPasswordOfTerminal(t *testing.T) {
	f := func(typed []string, want, wantErr string) {
		t.Helper()
		user, program := terminal(t)
		type read struct {
			password string
			err      error
		}
		done := make(chan read, 1)
		go func() {
			password, err := readPassword(program, program)
			done <- read{password, err}
		}()
		shown := make(chan string, 1)
		go func() {
			var all strings.Builder
			_, _ = io.Copy(&all, user) // ends with the program's side
			shown <- all.String()
		}()
		for _, line := range typed {
			time.Sleep(50 * time.Millisecond) // nobody types before he is asked
			_, _ = io.WriteString(user, line)
		}
		select {
		case got := <-done:
			text := ""
			if got.err != nil {
				text = got.err.Error()
			}
			if got.password != want || text != wantErr {
				t.Errorf("%q: got %q, %q; want %q, %q", typed, got.password, text, want, wantErr)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%q: the question does not end", typed)
		}
		_ = program.Close()
		if text := <-shown; strings.Contains(text, "s3cret") || !strings.Contains(text, "Password: ") {
			t.Errorf("%q: the terminal shows %q", typed, text)
		}
	}
	f([]string{"s3cret\r", "s3cret\r"}, "s3cret", "")
	f([]string{"s3cret\r", "other\r"}, "", "the passwords differ")
	f([]string{"\x04"}, "", "no password was given")
	f([]string{"s3cret\r", "\x04"}, "", "no password was given")
	f([]string{"\x03"}, "", "no password was given")
}
