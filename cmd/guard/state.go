package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"guard/config"
	"guard/indexresolver"
)

func stateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "state", Short: "Save the state of the cluster for explain and test", Args: noArguments}
	var s settings
	save := &cobra.Command{
		Use: "save [flags] FILE", Short: "Save the names and mappings of the cluster to a file", Args: wantArguments(1, 1, "one FILE to write"),
		Long: `save reads what serve reads of the cluster and writes it to FILE, as JSON: names, mappings,
aliases with their filters, data streams, sort fields and names of analysers. No document
is in it, and no other setting. Only the owner may read the file.`,
		Example: `  guard state save --config guard.yml state.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return saveState(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), s, args[0])
		},
	}
	s.addFlags(save)
	cmd.AddCommand(save)
	return cmd
}

func saveState(ctx context.Context, out, warn io.Writer, s settings, file string) error {
	c, warnings, err := config.Load(s.file, s.overrides)
	printWarnings(warn, warnings)
	if err != nil {
		return err
	}
	state, err := askState(ctx, warn, c)
	if err != nil {
		return err
	}
	if err := writeState(state, file); err != nil {
		return err
	}
	names := 0
	for range state.Targets() {
		names++
	}
	_, err = fmt.Fprintf(out, "guard: %s has %d indices, aliases and data streams\n", file, names)
	return err
}

// writeState writes a file as a whole, or not at all.
func writeState(state *indexresolver.State, file string) (err error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // a device would be replaced
		return fmt.Errorf("cannot save the state to %q: it is no regular file; want the name of one", file)
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // with mode 0600
	if err != nil {
		return fmt.Errorf("cannot save the state: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := state.Save(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("cannot save the state: %w", err)
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return fmt.Errorf("cannot save the state: %w", err)
	}
	return nil
}
