package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"guard/config"
)

// version is set when a release is built.
var version = "dev"

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "guard",
		Short: "Document- and field-level security in front of OpenSearch and Elasticsearch",
		Long: `guard stands in front of an OpenSearch or Elasticsearch cluster. It authenticates each
request, decides by roles.yml which indices, documents and fields it may reach, rewrites
it so that nothing else can be reached, and filters the answer. Clients only change
their URL.

The policy is a folder in the format of the OpenSearch Security plugin: config.yml,
roles.yml, roles_mapping.yml, internal_users.yml, action_groups.yml and tenants.yml.

guard can only protect a cluster that nobody reaches without it: bind the nodes to
loopback, or give the cluster a credential that only guard has.`,
		Example: `  # serve on 9200 in front of a cluster on 9201
  guard serve --listen 127.0.0.1:9200 --internal 127.0.0.1:9290 \
      --upstream http://127.0.0.1:9201 --security ./security

  # the same from a file, after checking it
  guard check --config guard.yml && guard serve --config guard.yml

  # why does this user get this answer?
  guard explain --config guard.yml --user anna GET /customers/_search

  # does the policy what it should? without a cluster, in CI
  guard state save --config guard.yml state.json
  guard test --security ./security --state state.json tests/*.yml

  # a hash for internal_users.yml; the password is read from the terminal
  guard hash`,
		Version:       version + revision(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q; guard --help lists the commands", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; %s --help lists the flags", err, cmd.CommandPath())
	})
	root.SetVersionTemplate("guard {{.Version}}\n") // as the command version prints it
	root.AddCommand(serveCommand(), checkCommand(), explainCommand(), testCommand(), stateCommand(), hashCommand(), versionCommand())
	return root
}

// noArguments refuses what is no flag. It does not say what it was: to hash, it may be a
// password.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes flags alone, and got %s; %s --help lists them", cmd.CommandPath(), count(len(args), "other argument"), cmd.CommandPath())
	}
	return nil
}

// wantArguments refuses fewer arguments than least, or more than most, and says what is wanted.
func wantArguments(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s wants %s; %s --help shows examples", cmd.CommandPath(), want, cmd.CommandPath())
		}
		return nil
	}
}

// settings are the flags that serve, check and others share.
type settings struct {
	file      string
	overrides config.Overrides
}

func (s *settings) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&s.file, "config", "c", "", "configuration file, such as guard.yml (none without this flag)")
	f.StringVar(&s.overrides.Listen, "listen", "", "address for clients: host:port or unix:/path (127.0.0.1:9200)")
	f.StringVar(&s.overrides.Internal, "internal", "", "address for probes and metrics (127.0.0.1:9290)")
	f.StringSliceVar(&s.overrides.Upstream, "upstream", nil, "URL of a node, as http://127.0.0.1:9201; several by commas")
	f.StringVar(&s.overrides.Security, "security", "", "folder with roles.yml and its siblings (security)")
	f.StringVar(&s.overrides.LogLevel, "log-level", "", "debug, info, warn or error (info)")
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "guard %s%s\n", version, revision())
			return err
		},
	}
}

// revision names the commit that the binary was built from, if the build knew it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return fmt.Sprintf(" (%.12s, %s)", s.Value, info.GoVersion)
		}
	}
	return " (" + info.GoVersion + ")"
}
