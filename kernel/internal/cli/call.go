package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/gate"
)

// callFlags are those of the commands that run a call.
type callFlags struct {
	args     string
	yes      bool
	markdown bool
	timeout  time.Duration
	// unattended is set when nobody is to be asked, even if there is somebody.
	unattended bool
	// approver answers in the place of a person; nil to ask one.
	approver gate.Approver
}

// check finds what the flags themselves cannot.
func (f *callFlags) check() error {
	if f.timeout < 0 {
		return usagef("--timeout %s: a call cannot take less than no time", f.timeout)
	}
	return nil
}

// person is who can be asked; nil for nobody.
func (f *callFlags) person() *terminal {
	if f.unattended {
		return nil
	}
	return openTerminal()
}

func (f *callFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.args, "args", "", "arguments as a `JSON` object, or @FILE to read them, @- from stdin")
	flags.BoolVarP(&f.yes, "yes", "y", false, "approve changes without asking; a policy's deny still stands")
	flags.BoolVar(&f.markdown, "markdown", false, "write the result as Markdown")
	flags.DurationVar(&f.timeout, "timeout", 0, "give the call this long, such as 90s (default: as configured, else the operation's own, else 2m)")
}

func (a *app) invokeCommand() *cobra.Command {
	var flags callFlags
	cmd := &cobra.Command{
		Use:   "invoke PROVIDER.TOOL [NAME=VALUE …]",
		Short: "Call a tool",
		Long: `Call a tool of a provider.

Arguments are typed by the tool's schema: numbers and booleans as they are, lists by repetition
(paths=a paths=b), objects through --args. 'agent tools PROVIDER.TOOL' lists them.

What the call prints and its result go to stdout, progress and prompts to stderr. With --json stdout
holds one line per event, then one line {"outcome": …}.`,
		Example: `  agent invoke filesystem.read_file path=README.md limit=20
  agent invoke filesystem.edit_file --args @edit.json --yes
  agent invoke bash.bash command='go test ./...' --yes --json`,
		Args:              atLeastOne("PROVIDER.TOOL [NAME=VALUE …]; 'agent tools' lists them"),
		Annotations:       map[string]string{callsAnnotation: ""},
		ValidArgsFunction: a.completeCall(false),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.invoke(flags, args[0], args[1:])
		},
	}
	flags.add(cmd)
	return cmd
}

func (a *app) runCommand() *cobra.Command {
	var flags callFlags
	cmd := &cobra.Command{
		Use:   "run /COMMAND [VALUE | NAME=VALUE …]",
		Short: "Run a slash command",
		Long: `Run a slash command of a provider.

A value without a name goes to the first required argument that has none yet, then to the optional one that
can hold it, if there is only one. Everything else is as in 'agent invoke'.`,
		Example: `  agent run /changelog
  agent run /changelog since=1.2.0
  agent run /release 1.4.0`,
		Args:              atLeastOne("/COMMAND [VALUE | NAME=VALUE …]; 'agent tools' lists them"),
		Annotations:       map[string]string{callsAnnotation: ""},
		ValidArgsFunction: a.completeCall(true),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.run(flags, args[0], args[1:])
		},
	}
	flags.add(cmd)
	return cmd
}

// invoke starts the one provider that is needed, once everything else is right.
func (a *app) invoke(flags callFlags, target string, words []string) error {
	provider, tool, ok := strings.Cut(target, ".")
	if !ok || provider == "" || tool == "" || strings.HasPrefix(target, "/") {
		return a.notATool(target, howTo)
	}
	p, err := a.open(provider)
	if err != nil {
		return err
	}
	if err := p.named(provider); err != nil {
		return err
	}
	return a.withSession(p, flags, []string{provider}, func(s *engine.Session, failed error) error {
		if failed != nil {
			return failed
		}
		op, err := s.Lookup(provider, tool)
		if err != nil {
			return rather(s, target, true, err)
		}
		args, err := parseArguments(a.ctx, op.Input, flags.args, words, false)
		if err != nil {
			return err
		}
		if err := a.readyFor(p, s, op, args); err != nil {
			return err
		}
		return a.call(s, flags, op, args)
	})
}

// run asks all providers: which of them has the command, only they know.
func (a *app) run(flags callFlags, name string, words []string) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	var used []string
	tell := sync.OnceFunc(func() { a.tellOverrides(p, used...) })
	defer tell() // of all when none was found to be used
	return a.withSession(p, flags, nil, func(s *engine.Session, failed error) error {
		op, err := s.LookupCommand(name)
		if err != nil && failed != nil && !slices.ContainsFunc(s.Operations(), engine.Operation.IsCommand) {
			return failed // whether there is such a command, only what did not start could tell
		}
		if err != nil {
			return errors.Join(failed, rather(s, name, false, err))
		}
		used = append(used, op.Provider)
		tell()
		// Another provider's trouble is not this command's.
		for _, f := range flatten(failed) {
			a.warn(f.Error())
		}
		args, err := parseArguments(a.ctx, op.Input, flags.args, words, true)
		if err != nil {
			return err
		}
		if err := a.readyFor(p, s, op, args); err != nil {
			return err
		}
		return a.call(s, flags, op, args)
	})
}

// withSession runs work in a session with the named providers, started or prepared; failed says which of them did not start.
func (a *app) withSession(p *project, flags callFlags, names []string, work func(s *engine.Session, failed error) error) error {
	if err := flags.check(); err != nil {
		return err
	}
	approver := flags.approver
	switch {
	case approver != nil:
	case flags.yes:
		approver = gate.ApproveAll("--yes")
	default:
		if t := flags.person(); t != nil {
			defer t.close()
			a.prompt.display, a.prompt.terminal, a.prompt.kill, a.prompt.project = a.display, t, &a.kill, p.Project
			approver = &a.prompt
		}
	}
	e, err := a.prepare(p, names...)
	if e == nil {
		return err
	}
	defer e.Close()
	if err := p.unmatched(e); err != nil {
		return err // a deny that can never match may be meant for this call
	}
	s, end, problem := a.session(e, p, approver)
	if problem != nil {
		return problem
	}
	failure := work(s, err)
	e.Close() // how the last calls end belongs to the session
	end(failure)
	return failure
}

// call runs one call and shows what comes of it.
func (a *app) call(s *engine.Session, flags callFlags, op engine.Operation, args *structpb.Struct) error {
	v := a.viewer(s.Engine(), op, flags.markdown)
	outcome := s.Invoke(a.ctx, engine.Request{Operation: op, Arguments: args, Timeout: flags.timeout}, v.event)
	a.kill.ended()
	a.noteDenied("", outcome)
	v.outcome(outcome)
	if outcome.Status == engine.Completed {
		return nil
	}
	return &callError{outcome: outcome}
}

// viewer shows a call: to a program as lines of JSON, to a person as it goes.
type viewer interface {
	event(*toolEvent)
	outcome(engine.Outcome)
}

func (a *app) viewer(e *engine.Engine, op engine.Operation, markdown bool) viewer {
	if a.flags.json {
		return jsonView{a}
	}
	return newHumanView(a, e, op, markdown)
}

// jsonView writes one line an event and one for the outcome.
type jsonView struct{ a *app }

func (v jsonView) event(ev *toolEvent) { v.a.writeJSON(eventJSON(ev)) }

func (v jsonView) outcome(o engine.Outcome) { v.a.writeJSON(outcomeLine(o)) }

func category(name string) string {
	return strings.ToLower(strings.TrimPrefix(name, "TOOL_ERROR_CATEGORY_"))
}

func exitText(code int32, signal string) string {
	if signal != "" {
		return fmt.Sprintf("ended by %s", signal)
	}
	return fmt.Sprintf("exit code %d", code)
}
