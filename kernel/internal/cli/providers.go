package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-version"
	"github.com/spf13/cobra"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/engine"
)

func (a *app) providersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "providers",
		Short: "List the providers of the project",
		Long: `List the providers of the project: what is asked for, what runs, and how long each took to start.
A provider that cannot be started is listed with the reason, and the exit code is not 0.`,
		Example: `  agent providers
  agent providers --json`,
		Args: noMoreThan(0),
		RunE: func(*cobra.Command, []string) error { return a.providers() },
	}
	cmd.AddCommand(a.providersLockCommand(), a.providersMirrorCommand(), a.providersPruneCommand(), a.providersOverrideCommand())
	cmd.AddCommand(&cobra.Command{
		Use:   "schema [PROVIDER]",
		Short: "Show what a provider block may hold",
		Long:  `Show the arguments that the provider blocks of agent.hcl may hold: of all providers, or of one.`,
		Example: `  agent providers schema
  agent providers schema filesystem --json`,
		Args:              noMoreThan(1),
		ValidArgsFunction: a.completeNames(false),
		RunE:              func(_ *cobra.Command, args []string) error { return a.providersSchema(args) },
	})
	return cmd
}

// providerJSON is a provider as `agent providers --json` lists it.
type providerJSON struct {
	Name       string `json:"name"`
	Source     string `json:"source"`
	Constraint string `json:"constraint,omitempty"`
	Declared   string `json:"declared"`
	Path       string `json:"path,omitempty"`
	Override   bool   `json:"dev_override"`
	// Locked is the version in the lock file, Version what the provider calls itself.
	Locked  string `json:"locked,omitempty"`
	Version string `json:"version,omitempty"`
	// Satisfies is whether the version is one the constraint allows; absent when it is no version, or nothing is asked for.
	Satisfies *bool             `json:"satisfies_constraint,omitempty"`
	Producers []json.RawMessage `json:"producers,omitempty"`
	Timings   map[string]string `json:"timings,omitempty"`
	Error     *errorJSON        `json:"error,omitempty"`
}

func (a *app) providers() error {
	p, err := a.open()
	if err != nil {
		return err
	}
	e, err := a.start(p)
	if e == nil {
		return err
	}
	defer e.Close()
	a.tellImpostors(p, e)
	list := providerList(p, e.Providers(), err)
	if a.flags.json {
		a.writeJSON(map[string]any{"providers": list})
		a.silent = true
		return err
	}
	rows := make([][]string, len(list))
	for i, pr := range list {
		rows[i] = []string{pr.Name, orDash(pr.Version), pr.askedFor(), categories(e.Providers(), pr.Name), orDash(pr.Timings["total"]), pr.Path}
	}
	a.table([]string{"NAME", "VERSION", "ASKED FOR", "SERVES", "STARTED IN", "PATH"}, rows)
	return err
}

// askedFor is the constraint, and whether what runs keeps to it: an override may be any version.
func (p *providerJSON) askedFor() string {
	if p.Satisfies != nil && !*p.Satisfies {
		return p.Constraint + " (not met)"
	}
	return orDash(p.Constraint)
}

// tellImpostors warns of providers that are others than they are taken for: a wrong line in config.hcl is easily
// written, and tools that do the wrong thing are hard to trace back to it.
func (a *app) tellImpostors(p *project, e *engine.Engine) {
	for _, info := range e.Providers() {
		for _, producer := range info.Producers {
			if producer.GetName() != info.Name {
				a.warn(fmt.Sprintf("provider %q calls itself %q: is %s the right one? (%s)",
					info.Name, producer.GetName(), p.short(info.Path), p.override(info.Name)))
				break
			}
		}
	}
}

func providerList(p *project, infos []engine.Info, err error) []providerJSON {
	list := make([]providerJSON, len(p.Providers))
	for i, pr := range p.Providers {
		out := providerJSON{Name: pr.Name, Source: pr.Source.String(), Constraint: pr.Version.String(), Declared: pr.Position()}
		if out.Path, out.Override = p.global.DevOverrides[pr.Name]; !out.Override {
			out.Path, out.Locked = p.lockedPath(pr)
		}
		if at := slices.IndexFunc(infos, func(i engine.Info) bool { return i.Name == pr.Name }); at >= 0 {
			out.fill(infos[at], pr)
		} else {
			out.Error = startFailure(pr.Name, err)
		}
		list[i] = out
	}
	return list
}

func (p *providerJSON) fill(info engine.Info, pr *config.Provider) {
	for _, producer := range info.Producers {
		p.Version = producer.GetVersion()
		p.Producers = append(p.Producers, protoJSON(producer))
	}
	if v, err := version.NewVersion(p.Version); err == nil && p.Constraint != "" {
		allowed := pr.Version.Allows(v)
		p.Satisfies = &allowed
	}
	t := info.Timings
	p.Timings = map[string]string{}
	for name, d := range map[string]time.Duration{"exec": t.Exec, "handshake": t.Handshake, "schema": t.Schema, "configure": t.Configure, "total": t.Total()} {
		p.Timings[name] = d.Round(100 * time.Microsecond).String()
	}
}

func startFailure(name string, err error) *errorJSON {
	for _, f := range engine.Failures(err) {
		if f.Provider == name {
			d := describe(f)
			return &d
		}
	}
	return &errorJSON{Message: "not started"}
}

func categories(infos []engine.Info, name string) string {
	var all []string
	for _, info := range infos {
		for _, p := range info.Producers {
			if info.Name == name {
				all = append(all, strings.ToLower(strings.TrimPrefix(p.GetCategory().String(), "CATEGORY_")))
			}
		}
	}
	return orDash(strings.Join(all, ", "))
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
