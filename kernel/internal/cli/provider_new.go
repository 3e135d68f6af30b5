package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/scaffold"
)

func (a *app) providerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "provider",
		Short: "Write a provider of your own",
		Long:  `Write a provider of your own. What the providers of a project are and hold is said by agent providers.`,
		Example: `  agent provider new wordcount
  agent provider new --help`,
		Args: noMoreThan(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.providerNewCommand())
	return cmd
}

// newOptions are the flags of `agent provider new`.
type newOptions struct {
	name, dir, source, sdk string
}

func (a *app) providerNewCommand() *cobra.Command {
	var o newOptions
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a new provider in Go that builds, tests itself and keeps the protocol",
		Long: `Write a new provider in Go: a module with a tool that reads, a tool that changes something and shows first
what it would do, tests, a scenario for the conformance command, and what releases it.
It needs Go on PATH, and runs go mod tidy once. Nothing that exists is replaced.

The SDK is the release that belongs to this build of agent. A build that is no release takes it from a checkout of
agent's repository: the one named by --sdk, or one in the working folder or above it.`,
		Example: `  agent provider new wordcount
  agent provider new wordcount --source github.com/me/provider-wordcount --dir ~/src/wordcount
  agent provider new wordcount --sdk ~/src/agent`,
		Args: oneName,
		RunE: func(_ *cobra.Command, args []string) error {
			o.name = args[0]
			return a.providerNew(a.ctx, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.dir, "dir", "", "`folder` to write into (default provider-NAME)")
	flags.StringVar(&o.source, "source", "", "`address` to release it at, which is its Go module too (default github.com/OWNER/provider-NAME)")
	flags.StringVar(&o.sdk, "sdk", "", "build with the SDK of a checkout of agent's repository in this `folder`")
	return cmd
}

func oneName(cmd *cobra.Command, args []string) error {
	if err := noMoreThan(1)(cmd, args); err != nil {
		return err
	}
	return atLeastOne("NAME")(cmd, args)
}

// newJSON is what `agent provider new --json` says.
type newJSON struct {
	Name   string   `json:"name"`
	Dir    string   `json:"dir"`
	Source string   `json:"source"`
	SDK    string   `json:"sdk"`
	Files  []string `json:"files"`
	Next   []string `json:"next_steps"`
}

func (a *app) providerNew(ctx context.Context, o newOptions) error {
	p, err := a.planProvider(o)
	if err != nil {
		return err
	}
	gotool, err := exec.LookPath("go")
	if err != nil {
		return errors.New("cannot write a provider that builds: there is no go on PATH. Install Go 1.26 or newer; nothing has been written")
	}
	dir := o.dir
	if dir == "" {
		dir = "provider-" + o.name
	}
	names, err := p.Write(dir)
	var exists *scaffold.ExistsError
	switch {
	case errors.As(err, &exists):
		return usagef("%w", err)
	case err != nil:
		return fmt.Errorf("cannot write the provider, and nothing of it is left: %w", err)
	}
	names = append(names, "go.sum") // of go mod tidy
	if err := tidy(ctx, gotool, dir, p.SDK); err != nil {
		discard(dir, names)
		return err
	}
	a.tellNew(p, dir, names)
	return nil
}

// discard takes back what a command has written that did not get to its end.
func discard(dir string, names []string) {
	for _, name := range names {
		_ = os.Remove(filepath.Join(dir, name))
	}
	_ = os.Remove(dir) // which fails when something else is in it
}

// planProvider checks everything that was asked for, before anything is written.
func (a *app) planProvider(o newOptions) (scaffold.Provider, error) {
	p := scaffold.Provider{Name: o.name, Source: o.source}
	if err := scaffold.CheckName(o.name); err != nil {
		return p, usagef("%w", err)
	}
	if p.Source == "" {
		p.Source = "github.com/OWNER/provider-" + o.name
	}
	source, err := config.ParseSource(p.Source)
	if err != nil || source.Part != "" {
		return p, usagef("--source %s: write HOST/OWNER/REPO, as in github.com/me/provider-%s", p.Source, o.name)
	}
	p.SDK, err = a.pickSDK(o.sdk)
	return p, err
}

func (a *app) pickSDK(checkout string) (scaffold.SDK, error) {
	if checkout != "" {
		sdk, err := scaffold.FromCheckout(checkout)
		if err != nil {
			return sdk, usagef("--sdk: %w", err)
		}
		return sdk, nil
	}
	if sdk, ok := scaffold.Released(a.version); ok {
		return sdk, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return scaffold.SDK{}, usagef("cannot tell which folder this is, it may have been removed: %w", err)
	}
	sdk, err := scaffold.FindCheckout(cwd)
	if err != nil {
		return sdk, usagef("this build of agent is no release, so no released SDK belongs to it: say where a checkout of agent's repository is with --sdk DIR (%w)", err)
	}
	return sdk, nil
}

// tidy completes go.mod and writes go.sum.
func tidy(ctx context.Context, gotool, dir string, sdk scaffold.SDK) error {
	cmd := exec.CommandContext(ctx, gotool, "mod", "tidy")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		advice := ""
		if sdk.Checkout == "" {
			advice = fmt.Sprintf(". The SDK is release %s; --sdk DIR takes it from a checkout of agent's repository", sdk.Version)
		}
		return fmt.Errorf("cannot write a provider that builds, and nothing of it is left: go mod tidy failed (%w)%s. What go says:\n%s",
			err, advice, strings.TrimSpace(said.String()))
	}
	return nil
}

func (a *app) tellNew(p scaffold.Provider, dir string, names []string) {
	next := []string{"cd " + dir, "make test", "make conformance", "make try"}
	if strings.Contains(dir, " ") {
		next[0] = fmt.Sprintf("cd %q", dir)
	}
	if a.flags.json {
		absolute, err := filepath.Abs(dir)
		if err != nil {
			absolute = dir
		}
		sdk := "v" + p.SDK.Version
		if p.SDK.Checkout != "" {
			sdk = p.SDK.Checkout
		}
		a.writeJSON(map[string]any{"provider": newJSON{Name: p.Name, Dir: absolute, Source: p.Source, SDK: sdk, Files: names, Next: next}})
		return
	}
	a.printf("%s provider %s in %s: %s\n", a.display.OutPainter().Success("wrote"), p.Name, dir, count(len(names), "file", "files"))
	if p.SDK.Checkout != "" {
		a.printf("It is built with the SDK in %s; README.md says what to change before others build it.\n", p.SDK.Checkout)
	}
	if strings.Contains(p.Source, "/OWNER/") {
		a.printf("OWNER in go.mod, main.go and agent.hcl is for you to replace, or give --source.\n")
	}
	a.printf("\nNext:\n  %s\n", strings.Join(next, "\n  "))
}
