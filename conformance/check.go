package conformance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agentco/agent/conformance/internal/scenario"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// StartError says that the binary could not be executed at all. A provider that starts and then breaks a rule is none.
type StartError struct{ Err error }

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Check starts the provider and tries every selected rule on it. The error says what kept it from trying: the binary
// cannot be executed (a [StartError]), a file of the options cannot be read, a glob matches no rule, ctx ended. A
// provider that breaks rules is no error. When Check returns, no process that it started is left, unless the report
// says so.
func Check(ctx context.Context, command []string, o Options) (Report, error) {
	began := time.Now()
	entries, err := selected(o.Rules)
	if err != nil {
		return Report{}, err
	}
	planned, err := plan(o)
	if err != nil {
		return Report{}, err
	}
	command, err = resolve(command)
	if err != nil {
		return Report{}, err
	}
	base, err := os.MkdirTemp(shortTemp(), "conf")
	if err != nil {
		return Report{}, fmt.Errorf("make a folder to try the provider in: %w", err)
	}
	defer removeAll(base)
	// The provider works elsewhere, so a relative TMPDIR is not the same folder for it.
	if base, err = filepath.Abs(base); err != nil {
		return Report{}, err
	}
	s := newSubject(ctx, command, o, planned, base)
	defer s.sweep()
	// A scenario that cannot be set up is not the provider's fault.
	if _, err := s.place(); err != nil {
		return Report{}, fmt.Errorf("prepare the scenario: %w", err)
	}
	if err := s.start().err; err != nil && notExecuted(err) {
		return Report{}, &StartError{explained(command[0], errors.Unwrap(err))}
	}
	if err := s.fits(); err != nil {
		return Report{}, err
	}
	report := Report{Command: command, Rows: s.grounded(s.judge(entries)), Provider: s.provider()}
	report.Uncalled = s.uncalled()
	report.Foreign = s.start().foreign() && ctx.Err() == nil
	report.Took = time.Since(began)
	return report, context.Cause(ctx)
}

// fits refuses a scenario that does not speak of this provider. Where what the provider says of itself is broken, its rows
// come first.
func (s *subject) fits() error {
	if s.start().err != nil {
		return nil
	}
	d := s.discovery()
	names, attributes := []string{}, []*configv1.ConfigAttribute{}
	for _, op := range d.operations() {
		names = append(names, op.GetName())
	}
	for _, offered := range d.surfaces {
		attributes = append(attributes, offered.config.GetAttributes()...)
	}
	sound := schemaNames(s).problems == nil && eachAttribute(configTypes)(s).problems == nil && eachAttribute(configObject)(s).problems == nil
	if d.err != nil || !d.whole() || len(d.surfaces) == 0 || !sound {
		return nil
	}
	return errors.Join(s.scenario.Calls(names), s.scenario.Configures(attributes))
}

// Select gives the rules whose ids match one of the globs, every rule when there are no globs, and an error when a glob
// matches none.
func Select(globs []string) ([]Rule, error) {
	entries, err := selected(globs)
	out := make([]Rule, len(entries))
	for i, e := range entries {
		out[i] = e.Rule
	}
	return out, err
}

// selected gives the entries whose ids match one of the globs.
func selected(globs []string) (out []entry, err error) {
	for _, glob := range globs {
		matches := func(e entry) bool {
			ok, _ := path.Match(glob, e.ID)
			return ok
		}
		if _, err := path.Match(glob, ""); err != nil {
			return nil, fmt.Errorf("%q is no glob: %w", glob, err)
		}
		if !slices.ContainsFunc(catalogue, matches) {
			return nil, fmt.Errorf("no rule matches %q; --list names them all", glob)
		}
	}
	for _, e := range catalogue {
		chosen := func(glob string) bool { ok, _ := path.Match(glob, e.ID); return ok }
		if len(globs) == 0 || slices.ContainsFunc(globs, chosen) {
			out = append(out, e)
		}
	}
	return out, nil
}

// resolve finds the binary, since processes start in folders of their own.
func resolve(command []string) ([]string, error) {
	if len(command) == 0 {
		return nil, errors.New("there is no command to start a provider with")
	}
	found, err := exec.LookPath(command[0])
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return nil, &StartError{explained(command[0], errors.Unwrap(err))}
	}
	out := append([]string{found}, command[1:]...)
	// A script that an interpreter is given is named relative to where we are.
	for i, argument := range out[1:] {
		if info, err := os.Stat(argument); err == nil && info.Mode().IsRegular() && !strings.HasPrefix(argument, "-") {
			if out[i+1], err = filepath.Abs(argument); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// explained says what to do about a binary that the system does not start.
func explained(path string, cause error) error {
	advice := "give the path of the provider's binary"
	switch _, here := os.Stat(path); {
	case errors.Is(cause, exec.ErrNotFound) && here == nil:
		advice = "for the file here, write ./" + path
	case errors.Is(cause, fs.ErrPermission):
		advice = "run chmod +x on it, or see whether its file system is mounted noexec"
	case errors.Is(cause, syscall.ENOEXEC):
		advice = "it is built for another machine, or a script without a line such as #!/bin/sh"
	case errors.Is(cause, fs.ErrNotExist) && here == nil:
		advice = "the interpreter that it names is not there"
	}
	return fmt.Errorf("start %s: %w; %s", path, cause, advice)
}

func plan(o Options) (*scenario.Scenario, error) {
	s := scenario.Empty()
	if o.Scenario != "" {
		var err error
		if s, err = scenario.Read(o.Scenario); err != nil {
			return nil, err
		}
	}
	for id := range s.Waivers() {
		if !slices.ContainsFunc(catalogue, func(e entry) bool { return e.ID == id }) {
			return nil, fmt.Errorf("%s waives %q, which is no rule; --list names them all", o.Scenario, id)
		}
	}
	if o.Config != "" {
		return s, s.ReadConfig(o.Config)
	}
	return s, nil
}

// notExecuted reports a start that the system refused.
func notExecuted(err error) bool {
	var at *fs.PathError
	return errors.As(err, &at) && at.Op == "fork/exec"
}

// shortTemp is a folder for temporary files whose path leaves room for a socket's.
func shortTemp() string {
	const long = 40
	if dir := os.TempDir(); len(dir) < long {
		return dir
	}
	if info, err := os.Stat("/tmp"); err == nil && info.IsDir() {
		return "/tmp"
	}
	return ""
}

// judge gives each rule its row, several at a time.
func (s *subject) judge(entries []entry) []Row {
	rows := make([]Row, len(entries))
	// What all others build on comes first; see once.
	if s.start().err == nil {
		s.discovery()
	}
	var all sync.WaitGroup
	var tell sync.Mutex
	for i, e := range entries {
		all.Go(func() {
			rows[i] = s.row(e)
			tell.Lock()
			defer tell.Unlock()
			if s.options.Seen != nil {
				s.options.Seen(rows[i])
			}
		})
	}
	all.Wait()
	return rows
}

func (s *subject) row(e entry) Row {
	found := s.look(e)
	if found.unusable {
		s.unusable.Store(true)
	}
	return s.rowOf(e, found)
}

func (s *subject) rowOf(e entry, found finding) Row {
	row := Row{Rule: e.Rule, Verdict: found.verdict(e.Level), Seen: found.text()}
	reason, waived := s.scenario.Waivers()[e.ID]
	switch {
	case !waived:
	case row.Verdict == Fail || row.Verdict == Warn:
		row.Verdict, row.Seen = Skipped, "waived: "+reason+" ("+row.Seen+")"
	case row.Verdict == Pass:
		row.Verdict, row.Seen = Warn, "it holds now, so its waiver can go: "+row.Seen
	}
	return row
}

// grounded keeps a provider that cannot be used from passing for one that breaks nothing, whatever rules were selected:
// the row that says why is there.
func (s *subject) grounded(rows []Row) []Row {
	fails := func(r Row) bool { return r.Verdict == Fail }
	if !s.unusable.Load() || slices.ContainsFunc(rows, fails) || s.ctx.Err() != nil {
		return rows
	}
	reason := Row{}
	for _, e := range catalogue {
		switch e.ID {
		case "handshake.line", "handshake.version", "handshake.grpc", "configure.accepts":
			reason = s.row(e)
		case "category.served":
			if err := errors.Join(s.start().err, s.discovery().err); err != nil {
				reason = s.rowOf(e, broken("it cannot be asked: %v", err))
			}
		}
		if fails(reason) {
			break
		}
	}
	if !fails(reason) {
		return rows // the scenario waives it
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.ID == reason.ID })
	rows = append(rows, reason)
	place := func(r Row) int { return slices.IndexFunc(catalogue, func(e entry) bool { return e.ID == r.ID }) }
	slices.SortFunc(rows, func(a, b Row) int { return place(a) - place(b) })
	return rows
}

// errForeign stands in the rows of what is no provider.
var errForeign = errors.New("it does not start as a provider")

// look tries a rule. Those about the handshake need no provider that can be used.
func (s *subject) look(e entry) finding {
	switch {
	case s.ctx.Err() != nil:
		return skipped("interrupted")
	case s.start().foreign() && e.ID != "handshake.line":
		f := unusable(errForeign)
		// Whoever waives the handshake wants nothing that builds on it.
		_, waived := s.scenario.Waivers()["handshake.line"]
		f.unusable = !waived || !strings.HasPrefix(e.ID, "handshake.")
		return f
	case strings.HasPrefix(e.ID, "handshake."):
	case s.start().err != nil:
		return unusable(s.start().err)
	case s.discovery().err != nil:
		return unusable(s.discovery().err)
	}
	return e.check(s)
}

func (s *subject) provider() string {
	if s.start().err != nil {
		return ""
	}
	return s.discovery().provider()
}
