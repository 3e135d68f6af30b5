package cli

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/plan"
)

// callListHelp says what a list of calls is.
const callListHelp = `FILE is a list of calls, as HCL or as JSON ("-" reads it from stdin):

  call "notes" {
    operation = "filesystem.write_file"
    arguments = { path = "notes.md", content = "…" }
  }
  call "release" {
    operation = "/release"
    arguments = { version = "1.4.0" }
    after     = ["notes"]
    timeout   = "90s"
  }

  [{"name": "notes", "operation": "filesystem.write_file", "arguments": {"path": "notes.md", "content": "…"}}]

Arguments in HCL may use path.root, path.cwd, path.home and the functions of agent.hcl, but not env().

The list is read from top to bottom: a call begins when those above have ended, unless neither can make a
difference to the other. Calls that only read run beside each other, and so do those of one operation whose
provider tells them apart, such as files that are written. What comes after a call that failed, was denied or
ran something that failed is skipped. after = ["NAME"] says instead which calls must come first, after = [] that
none must; with --parallel that holds for every call that says nothing.`

type applyFlags struct {
	yes, parallel bool
	timeout       time.Duration
}

func (f *applyFlags) calls() callFlags { return callFlags{yes: f.yes, timeout: f.timeout} }

func (a *app) applyCommand() *cobra.Command {
	var flags applyFlags
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Run a list of calls as one plan, or a saved plan",
		Long: `Run a list of calls as one plan: what they would do is shown, what has to be approved is asked about together,
and then they run.

` + callListHelp + `

FILE may also be a plan that 'agent plan --out' saved. It is applied as it was shown, without asking again, once. It is
refused when anything is not as it was: a preview, the arguments, a provider, a policy.

What calls print and their results go to stdout, labelled by call; progress and prompts go to stderr. With --json
stdout holds one line per event with the name of its call, one line {"outcome": …} for each call as it ends, and
last {"summary": …}. The exit code is 1 when a call failed or was skipped for one that ran something that failed, else 3
when one was denied.`,
		Example: `  agent apply calls.hcl
  agent apply calls.hcl --yes --json
  agent plan calls.hcl --out plan.json && agent apply plan.json
  echo '[{"operation": "bash.bash", "arguments": {"command": "make"}}]' | agent apply -`,
		Args: func(cmd *cobra.Command, args []string) error {
			return errors.Join(atLeastOne("FILE")(cmd, args), noMoreThan(1)(cmd, args))
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.apply(flags, args[0]) },
	}
	cmd.Flags().BoolVarP(&flags.yes, "yes", "y", false, "approve changes without asking; a policy's deny still stands")
	cmd.Flags().BoolVar(&flags.parallel, "parallel", false, "let calls run beside each other that do not say after which they come")
	cmd.Flags().DurationVar(&flags.timeout, "timeout", 0, "give each call this long that has no timeout of its own, such as 90s")
	return cmd
}

func (a *app) apply(flags applyFlags, name string) error {
	file, err := readCallFile(a.ctx, name)
	if err != nil {
		return err
	}
	if plan.Is(file.src) {
		return a.applySaved(flags, file)
	}
	return a.withCalls(flags, file, func(_ *project, s *engine.Session, list []listedCall) error {
		return a.turn(s, list, nil)
	})
}

// withCalls runs work in a session with the calls of a file, once all of them are right and their providers run.
func (a *app) withCalls(flags applyFlags, file callFile, work func(*project, *engine.Session, []listedCall) error) error {
	p, err := a.read()
	if err != nil {
		return err
	}
	calls, wrong := p.calls(file)
	names, missing := p.providersFor(calls)
	wrong = errors.Join(wrong, missing)
	if wrong != nil && len(names) == 0 && !slices.ContainsFunc(calls, known) {
		return wrong
	}
	a.tellOverrides(p, names...)
	checked := false
	err = a.withSession(p, flags.calls(), names, func(s *engine.Session, failed error) error {
		if failed != nil {
			return failed
		}
		list, err := resolve(s, p.cwd, calls, flags.parallel, flags.timeout)
		checked = true
		if err = errors.Join(wrong, err); err == nil {
			err = a.readyAll(p, s, list)
		}
		if err != nil {
			return err
		}
		return work(p, s, list)
	})
	if wrong != nil && !checked {
		return wrong
	}
	return err
}

// known reports whether what a call names can be looked up.
func known(c config.Call) bool { return c.Operation != "" }

// turn runs the calls as one plan, and keeps a record of it when there is one.
func (a *app) turn(s *engine.Session, list []listedCall, record *plan.Record) error {
	a.prompt.more, a.prompt.names = len(list) > 1, names(list)
	view := a.listViewer(s, list)
	endings := newEndings(len(list), view.ended)
	requests := make([]engine.Request, len(list))
	for i, c := range list {
		requests[i] = c.request
		if record != nil {
			requests[i].Began = func() error { return record.Began(c.name) }
		}
		requests[i].Ended = func(o engine.Outcome) {
			if record != nil {
				a.unrecorded(record.Ended(c.name, string(o.Status)))
			}
			endings.ended(i, o)
		}
	}
	outcomes := s.Turn(a.ctx, requests, view.event)
	if record != nil && a.ctx.Err() == nil {
		a.unrecorded(record.Applied())
	}
	result := &listError{outcomes}
	view.over(result)
	a.silent = true
	if result.exitCode() == exitDone {
		return nil
	}
	return result
}

// names are what the calls are called, by id.
func names(list []listedCall) map[string]string {
	names := map[string]string{}
	for _, c := range list {
		names[c.request.CallID] = c.name
	}
	return names
}

// unrecorded says that the record of a plan lacks something that has happened.
func (a *app) unrecorded(err error) {
	if err != nil {
		a.warn("the record of the plan could not be kept: " + err.Error())
	}
}

// listError is a list of calls of which some did not end well.
type listError struct{ outcomes []engine.Outcome }

func (e *listError) Error() string { return e.text() }

// count is how many calls ended in one of the ways.
func (e *listError) count(ways ...engine.Status) int {
	n := 0
	for _, o := range e.outcomes {
		for _, way := range ways {
			if o.Status == way {
				n++
			}
		}
	}
	return n
}

// text says how the calls ended.
func (e *listError) text() string {
	text := count(len(e.outcomes), "call", "calls")
	separator := ": "
	for _, way := range everyEnd {
		if n := e.count(way.status); n > 0 {
			text += separator + count(n, way.word, way.word)
			separator = ", "
		}
	}
	return text
}

var everyEnd = []struct {
	status engine.Status
	word   string
}{
	{engine.Completed, "done"}, {engine.Failed, "failed"}, {engine.Crashed, "crashed"}, {engine.Denied, "denied"},
	{engine.Cancelled, "cancelled"}, {engine.Skipped, "skipped"},
}

func (e *listError) exitCode() int {
	switch {
	case e.count(engine.Cancelled) > 0:
		return exitCancelled
	case e.count(engine.Failed, engine.Crashed) > 0:
		return exitFailed
	case e.count(engine.Denied) > 0:
		return exitDenied
	case e.count(engine.Skipped) > 0:
		return exitFailed
	default:
		return exitDone
	}
}
