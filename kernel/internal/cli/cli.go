// Package cli is the face of the kernel on a command line.
//
//	Main ─► cobra ─► one file a command ─► project (config) ─► engine ─► display (paint) or JSON lines
//
// Where things go: what a call prints and its result on stdout; progress, prompts, warnings and errors on
// stderr. With --json stdout holds JSON and nothing else. A command is a function from parsed flags to an
// error; the error alone decides the exit code (see exitCode).
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentco/agent/kernel/internal/schema"
	"github.com/agentco/agent/kernel/internal/secret"
)

// Main runs the command line of the process and returns its exit code. version is that of the build, empty
// when it has none.
func Main(version string) int {
	a := newApp(version)
	a.watchSignals()
	cmd, err := a.root().ExecuteContextC(a.ctx)
	_, a.answersWithOutcome = cmd.Annotations[callsAnnotation]
	return a.finish(cmp.Or(err, a.unhelpful))
}

// app is one run of the program.
type app struct {
	version string
	flags   globalFlags
	display *display
	// ctx ends with the first Ctrl-C, or when nobody reads stdout any more.
	ctx    context.Context
	cancel context.CancelCauseFunc
	kill   killSwitch
	prompt prompt
	// unhelpful is why there was no help to show.
	unhelpful error
	// logLevel is what the log shows; a second Ctrl-C silences it.
	logLevel slog.LevelVar
	// answersWithOutcome is set for the commands that run calls: to a program they always say an outcome.
	answersWithOutcome bool
	// command is the name of the command that runs, such as "invoke" or "session list".
	command string
	// secrets are the values of sensitive attributes, as far as they are known: nothing that is shown holds them.
	secrets *secret.Set
	// silent is set when the error has been shown as part of a command's own output.
	silent bool
}

// callsAnnotation marks the commands that run calls.
const callsAnnotation = "calls"

type globalFlags struct {
	dir      string
	json     bool
	logLevel string
	profile  string
}

func newApp(version string) *app {
	a := &app{version: version, secrets: &secret.Set{}}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	// A closed pipe is an error of write, so that what runs is ended in order. To ignore the signal would be to have
	// every provider, and what it runs, ignore it too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a.display = newDisplay(os.Stdout, os.Stderr, a.cancel)
	a.display.secrets = a.secrets
	return a
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "agent",
		Short: "Run the providers of a project",
		Long: `agent reads agent.hcl, starts the providers it names, and runs their tools and commands.
Calls that change something show what they would do and ask first.

Exit codes: 0 done, 1 failed, 2 wrong usage, arguments or configuration, 3 denied, 130 interrupted.`,
		Example: `  agent tools
  agent invoke filesystem.read_file path=README.md
  agent invoke bash.bash command='go test ./...' --yes
  agent run /changelog`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       a.versionText(),
		Args:          noMoreThan(0),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.command = strings.TrimPrefix(cmd.CommandPath(), "agent ")
			return a.enter()
		},
	}
	root.SetVersionTemplate("agent {{.Version}}\n")
	root.SetOut(a.display.Out())
	root.SetErr(a.display.Err())
	root.SetFlagErrorFunc(a.flagError)
	flags := root.PersistentFlags()
	flags.StringVarP(&a.flags.dir, "chdir", "C", "", "work in this `folder`")
	flags.BoolVar(&a.flags.json, "json", false, "write JSON to stdout")
	flags.StringVar(&a.flags.logLevel, "log-level", "", "`level` of the log on stderr: trace, debug, info, warn or error (default warn)")
	a.addProfileFlag(root)
	root.AddCommand(
		a.newCommand(),
		a.initCommand(),
		a.validateCommand(),
		a.providersCommand(),
		a.toolsCommand(),
		a.invokeCommand(),
		a.runCommand(),
		a.planCommand(),
		a.applyCommand(),
		a.shellCommand(),
		a.mcpCommand(),
		a.policyCommand(),
		a.sessionCommand(),
		a.providerCommand(),
		a.versionCommand(),
	)
	builtIn(root)
	a.helpOf(root)
	return root
}

// enter does what comes before every command.
func (a *app) enter() error {
	keepOwnRights()
	for _, folder := range []string{xdg.ConfigHome, xdg.StateHome, xdg.CacheHome} {
		if !filepath.IsAbs(folder) { // it would be one of whatever folder this is
			return usagef("there is no place for what agent keeps for you: HOME is %q, which is no absolute path; set it to one", os.Getenv("HOME"))
		}
	}
	if a.flags.dir == "" {
		return nil
	}
	if err := os.Chdir(a.flags.dir); err != nil {
		return usagef("cannot work in %s: %w", a.flags.dir, err)
	}
	a.flags.dir = "" // completion enters too
	return nil
}

// finish shows an error and turns it into an exit code.
func (a *app) finish(err error) int {
	if unwritten := a.display.OutError(); unwritten != nil {
		err, a.silent = unwritten, false
	}
	a.report(err)
	a.display.Close()
	return exitCode(err)
}

func (a *app) versionText() string {
	if a.version == "" {
		return "(unreleased)"
	}
	return a.version
}

// flagError adds what was probably meant. Parsing has stopped, so that --json may not have been reached.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	words := os.Args
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	a.flags.json = a.flags.json || slices.Contains(words, "--json")
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	if errors.As(err, &wrong) {
		return usagef("%s: %q is not %s; see %s --help", flagName(wrong.GetFlag()), wrong.GetValue(), taken(wrong.GetFlag()), cmd.CommandPath())
	}
	if !errors.As(err, &unknown) {
		return usagef("%w; see %s --help", err, cmd.CommandPath())
	}
	name := unknown.GetSpecifiedName()
	if owners := ownersOf(cmd, name); len(owners) > 0 {
		return usagef("%w: it belongs behind %s, as in %s … %s", err, strings.Join(owners, " or "), owners[0], dashed(name))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return usagef("%w%s; see %s --help", err, schema.Hint("--"+name, names), cmd.CommandPath())
}

// flagName is a flag as --help has it.
func flagName(f *pflag.Flag) string {
	if f.Shorthand == "" {
		return "--" + f.Name
	}
	return "-" + f.Shorthand + ", --" + f.Name
}

// taken is what a flag takes, for people.
func taken(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "duration":
		return "a duration such as 90s"
	case "bool":
		return "true or false"
	default:
		return "a value for it"
	}
}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// ownersOf are the commands below that have a flag of a name, in its long or short form.
func ownersOf(cmd *cobra.Command, flag string) []string {
	var owners []string
	for _, c := range cmd.Commands() {
		if c.Flags().Lookup(flag) != nil || len(flag) == 1 && c.Flags().ShorthandLookup(flag) != nil {
			owners = append(owners, c.CommandPath())
		}
	}
	return owners
}

// noMoreThan is cobra.MaximumNArgs with an error that says what to do.
func noMoreThan(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		what := "takes no argument"
		if cmd.HasSubCommands() {
			what = "has no command"
		}
		return usagef("%s %s %q%s; see %s --help", cmd.CommandPath(), what, args[n], schema.Hint(args[n], commandNames(cmd)), cmd.CommandPath())
	}
}

func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("say which: %s %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// printf writes what a command says for people.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.display.Out(), format, args...) }
