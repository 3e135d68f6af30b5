package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/plan"
	"github.com/agentco/agent/kernel/internal/schema"
)

// callFile is a list of calls, or a saved plan, as it was read.
type callFile struct {
	// path is absolute; empty when it came from stdin. shown is how a person would write it.
	path, shown string
	src         []byte
}

// readCallFile reads a file, or stdin when its name is a dash.
func readCallFile(ctx context.Context, name string) (callFile, error) {
	f := callFile{shown: "stdin"}
	if name != "-" {
		path, err := filepath.Abs(name)
		if err != nil {
			return f, usagef("cannot read %s: %w", name, err)
		}
		f.path, f.shown = path, name
	}
	var err error
	if f.src, err = readSource(ctx, cmp.Or(f.path, name)); errors.Is(err, fs.ErrNotExist) {
		return f, usagef("there is no file %s%s: give a list of calls, a saved plan, or - for stdin", name, schema.Hint(filepath.Base(name), namesIn(filepath.Dir(f.path))))
	} else if err != nil {
		return f, usagef("cannot read the calls: %w", err)
	}
	return f, nil
}

// namesIn are those of the files of a folder, as far as it can be read.
func namesIn(folder string) (names []string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// calls reads the list that the file is.
func (p *project) calls(f callFile) ([]config.Call, error) {
	return config.LoadCalls(f.src, f.shown, config.Scope{Root: p.Root, Cwd: p.cwd, Home: p.home})
}

// providersFor are the providers that calls need, nil for all: which of them has a command, only they know. One that is
// not there is a problem of the call, which then names nothing any more.
func (p *project) providersFor(calls []config.Call) ([]string, error) {
	var names []string
	var missing []error
	all := false
	for i, c := range calls {
		if !known(c) {
			continue
		}
		needed := providersOf(c.Operation)
		all = all || needed == nil
		for _, name := range needed {
			if err := p.named(name); err != nil {
				missing = append(missing, noOperation(c, err))
				calls[i].Operation = ""
			} else if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if all {
		names = nil
	}
	return names, errors.Join(missing...)
}

// noOperation is the problem of a call that names what is not there.
func noOperation(c config.Call, err error) error {
	var lookup *engine.LookupError
	if !errors.As(err, &lookup) {
		return err
	}
	summary := fmt.Sprintf("There is no operation %q", c.Operation)
	if lookup.Suggestion != "" {
		summary += fmt.Sprintf(" (did you mean %q?)", lookup.Suggestion)
	}
	return c.OperationErrorf(summary, "%s.", lookup.Text)
}

// listedCall is a call of a list, ready to be made.
type listedCall struct {
	name    string
	request engine.Request
}

// resolve finds what the calls name and checks their arguments, and decides on their order; dir is where they work. Nothing
// runs when one is wrong. What of a call could not be read is left out.
func resolve(s *engine.Session, dir string, calls []config.Call, parallel bool, timeout time.Duration) ([]listedCall, error) {
	var problems []error
	list := make([]listedCall, len(calls))
	steps := make([]plan.Step, len(calls))
	at := map[string]int{}
	for i, c := range calls {
		if !known(c) {
			continue
		}
		op, err := findCalled(s, c.Operation)
		if err != nil {
			problems = append(problems, noOperation(c, err))
			continue
		}
		if c.Arguments == nil {
			continue
		}
		if wrong := schema.Arguments(op.Input, c.Arguments); len(wrong) > 0 {
			problems = append(problems, c.ArgumentErrors(wrong))
		}
		at[c.Name] = i
		list[i] = listedCall{c.Name, engine.Request{Operation: op, Arguments: c.Arguments, Timeout: c.Timeout, CallID: engine.NewCallID(op)}}
		if c.Timeout == 0 {
			list[i].request.Timeout = timeout
		}
		steps[i] = plan.Step{
			Provider: op.Provider, Operation: op.Name, Kind: op.Kind, Concurrency: op.Concurrency, Arguments: c.Arguments,
			Explicit: parallel || c.After != nil,
		}
		for _, name := range c.After {
			steps[i].After = append(steps[i].After, at[name])
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	for i, after := range plan.Order(dir, steps) {
		list[i].request.After = after
	}
	return list, nil
}

// findCalled is find, with what was meant when a word is the other of a tool and a command.
func findCalled(s *engine.Session, target string) (engine.Operation, error) {
	op, err := find(s, target)
	var lookup *engine.LookupError
	if errors.As(err, &lookup) && lookup.Suggestion == "" {
		word := strings.TrimPrefix(target, "/")
		if others := only(s.Operations(), func(op engine.Operation) bool { return called(op, word) }); len(others) == 1 {
			return op, &engine.LookupError{Text: lookup.Text, Suggestion: others[0].String()}
		}
	}
	return op, err
}

// readyAll starts the providers of the calls.
func (a *app) readyAll(p *project, s *engine.Session, list []listedCall) error {
	var errs []error
	var done []string
	for _, c := range list {
		if name := c.request.Operation.Provider; !slices.Contains(done, name) {
			done = append(done, name)
			errs = append(errs, a.ready(p, s, name))
		}
	}
	return errors.Join(errs...)
}
