package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"guard/explain"
)

// explaining is what guard explain is asked.
type explaining struct {
	settings
	state       string
	format      string
	who         explain.Somebody
	contentType string
}

func explainCommand() *cobra.Command {
	var e explaining
	cmd := &cobra.Command{
		Use:   "explain [flags] METHOD TARGET [BODY]",
		Short: "Say what becomes of a request, and why",
		Long: `explain plans a request as serve would and prints what it found out: who asks and why he
has his roles, what the names mean, which entry of which role grants each action on each
name, which rules bind, and the request as the cluster would get it. Nothing is sent to
the cluster but what it takes to read its state; with --state not even that.

BODY is JSON, or lines of it; @FILE reads it from a file, - from the standard input. What
follows "--" may be a curl line; the password in it is not looked at.`,
		Example: `  guard explain --config guard.yml --user anna GET '/customers/_search?q=name:Ada'
  guard explain --config guard.yml --user anna --format html GET /customers/_search > anna.html
  guard explain --security ./security --state state.json --user x --backend-role sales \
      --attr attr.internal.dept=7 POST /customers/_search '{"query": {"match_all": {}}}'
  guard explain --config guard.yml -- curl -u anna: http://127.0.0.1:9200/customers/_count`,
		Args: wantArguments(1, math.MaxInt, "METHOD TARGET [BODY], or a curl line after --"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return e.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), args)
		},
	}
	e.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&e.state, "state", "", "file of guard state save; without it the cluster is asked")
	f.StringVar(&e.format, "format", "text", "text, json or html")
	f.StringVarP(&e.who.Name, "user", "u", "", "who asks: an account of internal_users.yml, or somebody made up")
	f.StringSliceVar(&e.who.BackendRoles, "backend-role", nil, "backend role of somebody made up; several by commas")
	f.StringToStringVar(&e.who.Attributes, "attr", nil, "of somebody made up, such as attr.internal.dept=7")
	f.StringVar(&e.who.Address, "address", "", "address of the client, for roles that hosts give")
	f.StringVar(&e.who.By, "by", "", "the account that asks in the name of --user")
	f.BoolVar(&e.who.Admin, "admin", false, "--user is an administrator, by a name of policy.admin_dn")
	f.StringVar(&e.contentType, "content-type", "", "of the body; default JSON")
	return cmd
}

func (e *explaining) run(ctx context.Context, out, warn io.Writer, args []string) error {
	write := map[string]func(*explain.Report, io.Writer) error{
		"text": (*explain.Report).WriteText, "html": (*explain.Report).WriteHTML, "json": writeJSON,
	}[e.format]
	if write == nil {
		return fmt.Errorf("--format %q; want text, json or html", e.format)
	}
	q, err := e.question(args)
	if err != nil {
		return err
	}
	o, err := newOffline(ctx, warn, e.settings, e.state)
	if err != nil {
		return err
	}
	in, err := q.who.Sends(o.policy.chain, q.method, q.target, q.contentType, q.body, time.Now())
	if err != nil {
		return err
	}
	report := explain.Ask(o.snapshot, in, o.config.Limits)
	return write(&report, out)
}

func writeJSON(r *explain.Report, w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// question is a request and who sends it.
type question struct {
	who            explain.Somebody
	method, target string
	contentType    string
	body           []byte
}

// question reads the words that follow the flags.
func (e *explaining) question(args []string) (question, error) {
	if args[0] == "curl" {
		q, err := parseCurl(args[1:])
		who := e.who // flags win
		if who.Name == "" {
			who.Name = q.who.Name
		}
		q.who = who
		if e.contentType != "" {
			q.contentType = e.contentType
		}
		return q, err
	}
	if len(args) < 2 || len(args) > 3 {
		return question{}, errors.New("want METHOD TARGET [BODY], such as GET /customers/_search, or a curl line after --")
	}
	q := question{who: e.who, method: args[0], contentType: e.contentType}
	if !strings.HasPrefix(args[1], "/") && !strings.Contains(args[1], "://") { // "people/_search" names a host
		return question{}, errBadTarget
	}
	var err error
	if q.target, _, err = originForm(args[1]); err != nil {
		return question{}, err
	}
	if len(args) == 3 {
		q.body, err = bodyOf(args[2])
	}
	return q, err
}

// errBadTarget does not say the target: it may hold a password.
var errBadTarget = errors.New("cannot read the target; want a path such as /customers/_search, or a URL")

// originForm returns the path and the query of a target that may be a whole URL, and who
// asks by that.
func originForm(target string) (origin, user string, err error) {
	if strings.HasPrefix(target, "/") {
		return target, "", nil
	}
	if !strings.Contains(target, "://") {
		target = "http://" + target // as curl does
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return "", "", errBadTarget
	}
	return u.RequestURI(), u.User.Username(), nil
}

// bodyOf returns a body that is written out, or that of a file.
func bodyOf(text string) ([]byte, error) {
	switch {
	case text == "-" || text == "@-":
		return readAll(os.Stdin)
	case strings.HasPrefix(text, "@"):
		f, err := os.Open(text[1:])
		if err != nil {
			return nil, fmt.Errorf("cannot read the body: %w", err)
		}
		defer f.Close() //nolint:errcheck // it was only read
		return readAll(f)
	default:
		return []byte(text), nil
	}
}

func readAll(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("cannot read the body: %w", err)
	}
	return body, nil
}
