package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentco/agent/providers/bash/internal/environ"
	"github.com/agentco/agent/providers/bash/internal/readonly"
	"github.com/agentco/agent/providers/bash/internal/sandbox"
	"github.com/agentco/agent/providers/bash/internal/workdir"
	"github.com/agentco/agent/sdk"
)

// reading is what shell_read needs beside what bash has.
type reading struct {
	rules      *readonly.Rules
	roots      *workdir.Roots
	homeInside bool // commands may change the user's own configuration
	// confined lets commands write to their temporary files alone.
	confined *sandbox.Policy
	// sandbox is confined, or the best that can be had here. It is tried by the first call,
	// which costs that the start of a process, so that a provider that is never asked to read
	// does not pay for it. What is judged must not depend on it: it is the second lock on the
	// door.
	sandbox func() *sandbox.Policy
}

func (c *config) checkReading() error {
	var err error
	if c.reading.rules, err = readonly.NewRules(c.ReadCommands); err != nil {
		return sdk.BadField("read_commands", "%w; give commands such as \"terraform show\" that only read, whatever their arguments", err)
	}
	return nil
}

// openReading is called once the roots are known.
func (c *config) openReading() error {
	r := &c.reading
	r.roots = c.roots
	for _, v := range environ.Build(os.Environ(), c.EnvAllow, c.Env, "/") {
		if name, dir, _ := strings.Cut(v, "="); name == "HOME" || name == "XDG_CONFIG_HOME" {
			r.homeInside = r.homeInside || filepath.IsAbs(dir) && inside(c.roots, dir)
		}
	}
	policy, err := sandbox.Confine(c.temporaries()...)
	if err != nil {
		return sdk.BadField("env", "open the directory for temporary files: %w", err)
	}
	r.confined = policy.Offline()
	available := r.confined.Available() == nil
	r.sandbox = sync.OnceValue(func() *sandbox.Policy {
		lost := available && r.confined.Available() != nil // the call is to fail for it
		if lost || r.confined.Check() == nil {
			return r.confined
		}
		if offline := (*sandbox.Policy)(nil).Offline(); offline.Check() == nil {
			return offline
		}
		return c.sandbox
	})
	return nil
}

// closeReading releases what openReading opened.
func (c *config) closeReading() error { return c.reading.confined.Close() }

func inside(roots *workdir.Roots, path string) bool {
	dir, err := roots.Open(path)
	if err != nil {
		return false
	}
	return dir.Close() == nil
}

// understood reports whether a shell reads the scripts that were written anew as they are
// meant. The Korn shells do not: to them a number is an expression, with commands in it.
func (r *reading) understood(shell string) bool {
	if path, err := filepath.EvalSymlinks(shell); err == nil { //nolint:forbidigo // which shell it is, and no question of rights
		shell = path
	}
	return slices.Contains([]string{"bash", "sh", "dash", "ash", "busybox"}, filepath.Base(shell))
}

// meddlers are variables, or beginnings of names, that make programs run others, or options
// of programs.
var meddlers = []string{
	"BASH_", "BASHOPTS", "SHELLOPTS", "ENV", "FPATH", "CDPATH", "IFS", "PS4", "GLOBIGNORE", "POSIXLY_CORRECT", "LD_", "DYLD_", "GIT_",
	"AWKPATH", "AWKLIBPATH", "GAWK_", "LOCPATH", "NLSPATH", "GCONV_PATH", "GETCONF_DIR", "OPENSSL_", "MAGIC", "NODE_", "PYTHON", "PERL", "RUBY",
	"RIPGREP_", "DEBUGINFOD_", "MAKE", "GOFLAGS", "GOENV", "CC", "CXX", "TAPE", "RSH", "GZIP", "BZIP", "BZIP2", "XZ_", "UNZIP", "ZIPINFO",
}

// environment is that of bash without what could make a harmless command run another.
func (r *reading) environment(vars []string) []string {
	kept := make([]string, 0, len(vars))
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		_, ours := readonly.Environment[name]
		switch {
		case name == "PATH":
			kept = append(kept, "PATH="+r.path(value))
		case ours, name == "HOME" && !filepath.IsAbs(value):
		case strings.HasSuffix(name, "_OPTIONS"), slices.ContainsFunc(meddlers, func(m string) bool { return meddles(m, name) }):
		default:
			kept = append(kept, v)
		}
	}
	for name, value := range readonly.Environment {
		kept = append(kept, name+"="+value)
	}
	slices.Sort(kept)
	return kept
}

func meddles(meddler, name string) bool {
	if strings.HasSuffix(meddler, "_") || meddler == "PYTHON" || meddler == "PERL" || meddler == "RUBY" || meddler == "MAKE" {
		return strings.HasPrefix(name, meddler)
	}
	return name == meddler
}

// path drops from PATH what is not the system's: a relative directory, one in which other
// tools may put a program that is called like a harmless one, and shims, which ask a file of
// the folder what to run (asdf: "jq path:./evil"). If nothing is left the roots hold the
// system itself.
func (r *reading) path(value string) string {
	var absolute, outside []string
	for _, dir := range filepath.SplitList(value) {
		if !filepath.IsAbs(dir) || filepath.Base(dir) == "shims" {
			continue
		}
		absolute = append(absolute, dir)
		if !inside(r.roots, dir) {
			outside = append(outside, dir)
		}
	}
	if len(outside) == 0 {
		outside = absolute
	}
	return strings.Join(outside, string(filepath.ListSeparator))
}
