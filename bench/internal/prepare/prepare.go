// Package prepare brings together what a run needs, in a folder outside the repository: our binaries, the peers from npm at
// their pinned versions, a project, and the inputs.
package prepare

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/agentco/agent/bench/internal/inputs"
	"github.com/agentco/agent/bench/internal/subject"
)

// Place is the folder of runs.
type Place struct {
	Root string // of everything that is made
	Repo string // of this repository
	Say  func(string)
}

// Bin is where the binaries are.
func (p *Place) Bin() string { return filepath.Join(p.Root, "bin") }

// Inputs is where the inputs are, and the project.
func (p *Place) Inputs() string { return filepath.Join(p.Root, "fx") }

// Vars are what the table of peers may use.
func (p *Place) Vars() subject.Vars {
	return subject.Vars{
		"fx": p.Inputs(), "bin": p.Bin(), "home": filepath.Join(p.Root, "home"), "answers": filepath.Join(p.Root, "answers"),
		"npm": filepath.Join(p.Root, "npm", "node_modules"), "rel": filepath.Join(p.Root, "npm", "node_modules"),
		// Without shims of version managers, which make peers that look for tools slower than they are.
		"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	}
}

// binary is a program that is built, in the folder of its module or of the workspace.
type binary struct{ name, dir, pkg string }

var ours = []binary{
	{"agent", ".", "./kernel/cmd/agent"},
	{"enginebench", ".", "./kernel/internal/enginebench"},
	{"repobench", "providers/release-tools", "./internal/repobench"},
	{"provider-filesystem", ".", "./providers/filesystem"},
	{"provider-bash", ".", "./providers/bash"},
	{"provider-release-tools", ".", "./providers/release-tools"},
}

var floors = []binary{
	{"floorplugin", "bench", "./cmd/floorplugin"},
	{"floormcp", "bench", "./cmd/floormcp"},
	{"linkedmcp", "bench", "./cmd/linkedmcp"},
}

// build builds binaries as a release does.
func (p *Place) build(ctx context.Context, binaries []binary) error {
	for _, b := range binaries {
		p.Say("building " + b.name)
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(p.Bin(), b.name), b.pkg)
		cmd.Dir, cmd.Stderr = filepath.Join(p.Repo, b.dir), os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s does not build: %w", b.pkg, err)
		}
	}
	return nil
}

// Sizes are those of the released binaries, in bytes.
func (p *Place) Sizes() map[string]int64 {
	sizes := map[string]int64{}
	for _, name := range []string{"agent", "provider-filesystem", "provider-bash", "provider-release-tools"} {
		if info, err := os.Stat(filepath.Join(p.Bin(), name)); err == nil {
			sizes[name] = info.Size()
		}
	}
	return sizes
}

// Ours prepares what is ours: the binaries, and a project for them.
func (p *Place) Ours(ctx context.Context) error {
	for _, dir := range []string{p.Bin(), p.Inputs(), filepath.Join(p.Root, "home")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := p.project(); err != nil {
		return err
	}
	return p.build(ctx, ours)
}

// Wanted is what a run needs beside what is ours.
type Wanted struct {
	// Packages are those of npm and Modules those of Go, each with its version.
	Packages, Modules []string
	Inputs            inputs.Want
}

// All prepares everything. Peers that cannot be had are none of its errors: they are skipped later, by name, and Refused
// says why.
func (p *Place) All(ctx context.Context, w Wanted) error {
	if err := p.Ours(ctx); err != nil {
		return err
	}
	if err := p.build(ctx, floors); err != nil {
		return err
	}
	refused := map[string]string{}
	if err := p.npm(ctx, w.Packages, refused); err != nil {
		return err
	}
	p.modules(ctx, w.Modules, refused)
	b, err := json.Marshal(refused)
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.refused(), b, 0o644); err != nil {
		return err
	}
	if err := inputs.Make(p.Inputs(), w.Inputs, p.Say); err != nil {
		return err
	}
	return p.settings()
}

func (p *Place) refused() string { return filepath.Join(p.Root, "refused.json") }

// Refused says of the packages and modules that could not be had why.
func (p *Place) Refused() (why map[string]string) {
	if b, err := os.ReadFile(p.refused()); err == nil {
		_ = json.Unmarshal(b, &why)
	}
	return why
}
