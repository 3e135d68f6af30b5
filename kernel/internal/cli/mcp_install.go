package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/assistant"
	"github.com/agentco/agent/kernel/internal/engine"
	"github.com/agentco/agent/kernel/internal/schema"
)

// mcpInstallFlags are those of agent mcp install.
type mcpInstallFlags struct {
	client, scope, name string
	approve             []string
	patience            time.Duration
	write, force        bool
}

func (a *app) mcpInstallCommand() *cobra.Command {
	var f mcpInstallFlags
	cmd := &cobra.Command{
		Use:   "install --client NAME",
		Short: "Tell a coding assistant of the server",
		Long: `Print what the configuration of a coding assistant has to hold, so that it starts agent mcp for this project. With
--write it is put into the assistant's file, and everything else in there stays as it is, comments too.

--scope project is the file in the project's folder, --scope user that of yours, which counts in every project; each
client has a default. The entry holds the paths of this machine: keep it out of what others check out.`,
		Example: `  agent mcp install --client claude
  agent mcp install --client claude --write --approve 'filesystem.read_*'
  agent mcp install --client codex --write --name my-project --profile reviewer`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error { return a.mcpInstall(f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.client, "client", "", "the `assistant`: "+strings.Join(clientNames(), ", "))
	flags.StringVar(&f.scope, "scope", "", "for `whom`: project or user")
	flags.StringVar(&f.name, "name", "agent", "what the assistant calls the server")
	flags.StringArrayVar(&f.approve, "approve", nil, "have the server approve operations that match `PATTERN` without asking, as agent mcp does; may be repeated")
	flags.DurationVar(&f.patience, "ask-timeout", defaultPatience, "have the server deny a call when nobody has answered for this long")
	flags.BoolVar(&f.write, "write", false, "put it into the assistant's file")
	flags.BoolVar(&f.force, "force", false, "with --write: replace another server of that name")
	_ = cmd.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(clientNames(), noFiles))
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions([]cobra.Completion{"project", "user"}, noFiles))
	return cmd
}

func clientNames() []string {
	var names []string
	for _, c := range assistant.Clients() {
		names = append(names, c.Name)
	}
	return names
}

// installation is an entry, and where it goes.
type installation struct {
	client *assistant.Client
	scope  assistant.Scope
	entry  assistant.Entry
	file   string
	short  string // the file, for people
}

func (a *app) mcpInstall(f mcpInstallFlags) error {
	i, err := a.installation(f)
	if err != nil {
		return err
	}
	before, err := assistant.Read(i.file)
	if err != nil {
		return fmt.Errorf("cannot read the configuration of %s: %w", i.client.Title, err)
	}
	after, err := i.client.Edit(before, i.entry, f.force)
	if err != nil {
		err = i.explain(err)
	}
	if !f.write {
		a.tellSnippet(i, before != nil && string(before) == string(after), err)
		return nil
	}
	if err != nil {
		return err
	}
	return a.writeInstallation(i, before, after)
}

// installation makes an entry of the flags, before anything is read or written for it.
func (a *app) installation(f mcpInstallFlags) (*installation, error) {
	client, scope, err := f.target()
	if err != nil {
		return nil, err
	}
	if err := (&mcpFlags{approve: f.approve, patience: f.patience}).check(); err != nil {
		return nil, err
	}
	p, err := a.read()
	if err != nil {
		return nil, err
	}
	if err := a.checkApproved(p, f.approve); err != nil {
		return nil, err
	}
	i := &installation{client: client, scope: scope, entry: assistant.Entry{Name: f.name, Args: a.mcpArguments(p, f)}}
	if i.entry.Command, err = ownPath(); err != nil {
		return nil, err
	}
	if err := i.entry.Check(); err != nil {
		return nil, usagef("cannot configure %s: %w", client.Title, err)
	}
	if p.home == "" && scope == assistant.User {
		return nil, errors.New("cannot tell where your folder is: set HOME")
	}
	i.file = client.File(assistant.Places{Project: p.Root, Home: p.home, System: runtime.GOOS, Getenv: os.Getenv}, scope)
	if i.short = p.short(i.file); scope == assistant.Project {
		i.short = shown(p.cwd, i.file)
	}
	return i, nil
}

// checkApproved refuses a pattern that matches nothing: clients hide what the server would say of it. Where it cannot be
// told what there is, nothing is refused.
func (a *app) checkApproved(p *project, patterns []string) error {
	if len(patterns) == 0 {
		return nil
	}
	e, err := a.openEngine(a.ctx, p, true)
	if e != nil {
		defer e.Close()
		defer e.Kill() // nothing is called
	}
	if err != nil {
		return nil
	}
	for _, pattern := range patterns {
		if slices.ContainsFunc(e.Operations(), func(op engine.Operation) bool { return matches(pattern, op) }) {
			continue
		}
		var providers []string
		for _, pr := range p.Providers {
			providers = append(providers, pr.Name)
		}
		provider, _, _ := strings.Cut(pattern, ".")
		return usagef("--approve %s matches no operation there is%s; agent tools lists them", pattern, schema.Hint(provider, providers))
	}
	return nil
}

// target is whose configuration it is.
func (f *mcpInstallFlags) target() (*assistant.Client, assistant.Scope, error) {
	names := clientNames()
	if f.client == "" {
		return nil, "", usagef("say for which assistant: --client %s", strings.Join(names, "|"))
	}
	client := assistant.Find(f.client)
	if client == nil {
		return nil, "", usagef("--client %s: there is no such assistant%s: known are %s. For another one, configure the command agent with the arguments -C, the project's folder, mcp",
			f.client, schema.Hint(f.client, names), strings.Join(names, ", "))
	}
	scope := assistant.Scope(f.scope)
	switch {
	case f.scope == "":
		scope = client.Scopes[0]
	case scope != assistant.Project && scope != assistant.User:
		return nil, "", usagef("--scope %s: write project or user", f.scope)
	case !client.Has(scope):
		return nil, "", usagef("--scope %s: %s has none; leave it out", f.scope, client.Title)
	}
	return client, scope, nil
}

// mcpArguments are those that serve the project as it is served here.
func (a *app) mcpArguments(p *project, f mcpInstallFlags) []string {
	args := []string{"-C", p.Root, "mcp"}
	if a.flags.profile != "" {
		args = append(args, "--profile", a.flags.profile)
	}
	if a.flags.logLevel != "" {
		args = append(args, "--log-level", a.flags.logLevel)
	}
	for _, pattern := range f.approve {
		args = append(args, "--approve", pattern)
	}
	if f.patience != defaultPatience {
		args = append(args, "--ask-timeout", f.patience.String())
	}
	return args
}

// ownPath is how this program can be started from anywhere: by the name on PATH if that is the same one, which outlives
// an upgrade, else by its own.
func ownPath() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot tell where agent itself is: %w", err)
	}
	if named, err := exec.LookPath("agent"); err == nil {
		if named, err = filepath.Abs(named); err == nil && sameFile(own, named) {
			return named, nil
		}
	}
	return own, nil
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// explain says what to do about a file that was not edited.
func (i *installation) explain(err error) error {
	var taken *assistant.OtherError
	if errors.As(err, &taken) {
		return usagef("%s is left as it is: %w. Give --force to replace that one, or another name with --name", i.short, err)
	}
	return fmt.Errorf("%s is left as it is: %w\nMend it, or put this into it by hand:\n%s", i.short, err, i.client.Snippet(i.entry))
}
