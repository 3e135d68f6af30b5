package main

import (
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/sdk"
)

// target is a file a call works on.
type target struct {
	name     string // as the caller wrote it
	path     string // absolute
	resolved string // without links: the key of ledger and locks
	argument string // which held the name; empty: path
}

// argued is the name of the argument for errors.
func (t target) argued() string {
	if t.argument == "" {
		return "path"
	}
	return t.argument
}

// target finds what a name leads to.
func (w *workspace) target(call *sdk.Call[config], doing, name string) (target, error) {
	t := target{name: name, path: w.files.Abs(call.Dir, name)}
	if name == "" {
		return target{}, sdk.InvalidArgument("path", "is empty; name a file or directory")
	}
	resolved, err := w.files.Resolve(t.path)
	if err != nil {
		return target{}, w.explain(err, doing, t)
	}
	t.resolved = resolved
	return t, ours(doing, t)
}

// ours returns an error for a name that only temporary files of this provider
// have: what had it would be seen by no search and no listing.
func ours(doing string, t target) error {
	if atomicfile.IsTemp(t.resolved) {
		return sdk.Denied("cannot %s %s: this provider keeps such names for its temporary files", doing, t.name)
	}
	return nil
}

// itself finds what has a name: at the end a link is meant, not what it leads
// to. What is written as a directory, with a slash, must be one.
func (w *workspace) itself(call *sdk.Call[config], doing, argument, name string) (target, error) {
	t := target{name: name, path: w.files.Abs(call.Dir, name), argument: argument}
	if name == "" {
		return target{}, sdk.InvalidArgument(argument, "is empty; name a file or directory")
	}
	trimmed := strings.TrimRight(t.path, string(filepath.Separator))
	// Not filepath.Dir, which takes link/.. for nothing.
	dir, base := filepath.Split(trimmed)
	resolved, err := w.files.Resolve(dir)
	if err != nil || base == "" || base == "." || base == ".." || len(name) > longestName {
		// A root's directory is outside, but the root is not. And the top has none.
		resolved, err = w.files.Resolve(t.path)
	} else {
		resolved = filepath.Join(resolved, base)
	}
	if err != nil {
		return target{}, w.explain(err, doing, t)
	}
	t.resolved = resolved
	if info, err := lstat(w.files, resolved); err == nil && trimmed != t.path && !info.IsDir() {
		return target{}, w.explain(syscall.ENOTDIR, doing, t)
	}
	return t, ours(doing, t)
}

// longestName is beyond what any path may be: the jail says so.
const longestName = 4096
