package main

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/sdk"
)

// target is a file a call works on.
type target struct {
	name     string // as the caller wrote it
	path     string // absolute
	resolved string // without links: the key of ledger and locks
	argument string // which held the name; empty: path
	dir      string // of the call, as relative names are meant
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
	t := target{name: name, path: w.files.Abs(call.Dir, name), dir: call.Dir}
	if name == "" {
		return target{}, nameless("path")
	}
	resolved, err := w.files.Resolve(t.path)
	if err != nil {
		return target{}, w.explain(err, doing, t)
	}
	t.resolved = resolved
	return t, ours(doing, t)
}

// opened finds what a name leads to and opens it to be read, at once: the caller
// closes it.
func (w *workspace) opened(call *sdk.Call[config], doing, name string) (target, afero.File, error) {
	t := target{name: name, path: w.files.Abs(call.Dir, name), dir: call.Dir}
	if name == "" {
		return t, nil, nameless("path")
	}
	f, err := w.files.Open(t.path)
	if err != nil { // why is told with where the name leads
		t, unfound := w.target(call, doing, name)
		if unfound == nil {
			unfound = w.explain(err, doing, t)
		}
		return t, nil, unfound
	}
	t.resolved = filepath.Clean(f.Name())
	if err := ours(doing, t); err != nil {
		return t, nil, errors.Join(err, f.Close())
	}
	return t, f, nil
}

func nameless(argument string) error {
	return sdk.InvalidArgument(argument, "is empty; name a file or directory")
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
	t := target{name: name, path: w.files.Abs(call.Dir, name), argument: argument, dir: call.Dir}
	if name == "" {
		return target{}, nameless(argument)
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
	if trimmed != t.path {
		if info, err := lstat(w.files, resolved); err == nil && !info.IsDir() {
			return target{}, w.explain(syscall.ENOTDIR, doing, t)
		}
	}
	return t, ours(doing, t)
}

// longestName is beyond what any path may be: the jail says so.
const longestName = 4096
