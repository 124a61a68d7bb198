package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"guard/config"
)

func checkCommand() *cobra.Command {
	var s settings
	var live bool
	cmd := &cobra.Command{
		Use: "check", Short: "Check the configuration, certificates and the security folder", Args: noArguments,
		Long: `check reads what serve would read and reports every fault with file, line, path of keys
and what was wanted. It exits with 1 if there is any fault; warnings do not count.
With --live it also asks the cluster: what stands at each URL, and whether the cluster
answers without guard's account. Flags win over the file of --config.`,
		Example: `  guard check --config guard.yml
  guard check --upstream http://127.0.0.1:9201 --security ./security --live`,
		RunE: func(cmd *cobra.Command, _ []string) error { return check(cmd.Context(), cmd.OutOrStdout(), s, live) },
	}
	s.addFlags(cmd)
	cmd.Flags().BoolVar(&live, "live", false, "also ask the cluster: is it reached, is it open to others")
	return cmd
}

func check(ctx context.Context, out io.Writer, s settings, live bool) error {
	c, warnings, err := config.Load(s.file, s.overrides)
	printWarnings(out, warnings)
	if err != nil {
		return err
	}
	v, err := newVerifier(c)
	if err != nil {
		return err
	}
	_, warnings, err = prepare(c, v)
	printWarnings(out, warnings)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "guard: %s is fine\n", c.Security)
	if !live {
		return nil
	}
	return checkLive(ctx, out, c)
}

func printWarnings(out io.Writer, warnings []config.Warning) {
	for _, w := range warnings {
		fmt.Fprintf(out, "guard: warning: %s\n", w)
	}
}

// checkLive asks the cluster what serve needs of it.
func checkLive(ctx context.Context, out io.Writer, c *config.Config) error {
	state, err := askState(ctx, out, c)
	if err != nil {
		return err
	}
	indices := 0
	for range state.Targets() {
		indices++
	}
	fmt.Fprintf(out, "guard: the cluster is reached: version %s, %d indices, aliases and data streams\n", state.Engine.Version, indices)
	open, err := openCluster(ctx, c)
	if err != nil {
		return err
	}
	if open {
		fmt.Fprintf(out, "guard: warning: %s\n", openWarning)
	}
	return nil
}
