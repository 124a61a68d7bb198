package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"guard/authn"
)

func hashCommand() *cobra.Command {
	algorithm := string(authn.Bcrypt)
	cmd := &cobra.Command{
		Use: "hash", Short: "Make a password hash for internal_users.yml", Args: noArguments,
		Long: `hash reads a password, twice and without echo from a terminal or as one line from
standard input, and prints its hash. The password is no argument: those are seen by
other users of the machine.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, err := readPassword(cmd.InOrStdin(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			hash, err := authn.Hash(password, authn.Algorithm(algorithm))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), hash)
			return err
		},
	}
	cmd.Flags().StringVar(&algorithm, "algorithm", algorithm, "one of "+strings.Join(authn.Algorithms(), ", "))
	return cmd
}

func readPassword(in io.Reader, prompt io.Writer) (string, error) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return readLine(in)
	}
	first, err := askPassword(f, prompt, "Password: ")
	if err != nil {
		return "", err
	}
	again, err := askPassword(f, prompt, "Again: ")
	if err != nil {
		return "", err
	}
	if first != again {
		return "", errors.New("the passwords differ")
	}
	return first, nil
}

// readLine reads a password that is piped in: one line, whose end may be missing.
func readLine(in io.Reader) (string, error) {
	lines := bufio.NewReader(in)
	line, err := lines.ReadString('\n')
	if err == nil {
		_, err = lines.ReadByte()
	}
	switch {
	case errors.Is(err, io.EOF):
		return strings.TrimRight(line, "\r\n"), nil
	case err != nil:
		return "", fmt.Errorf("cannot read the password: %w", err)
	default:
		return "", errors.New("cannot read the password: there is more than one line; want one")
	}
}

// askPassword reads a line of a terminal without showing it. Its end (Ctrl-D) and an
// interrupt end the question.
func askPassword(f *os.File, prompt io.Writer, text string) (string, error) {
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return "", fmt.Errorf("cannot read the password: %w", err)
	}
	defer term.Restore(int(f.Fd()), before) //nolint:errcheck // nothing is left to do about it
	asked := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{f, prompt}, "")
	password, err := asked.ReadPassword(text)
	if errors.Is(err, io.EOF) {
		return "", errors.New("no password was given")
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the password: %w", err)
	}
	return password, nil
}
