package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/jail"
)

// missing reports whether err says that a file is not there, but its directory
// may well be.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// explain gives err the category and the words a caller can act on. Doing is
// what was tried, as in "read".
func (w *workspace) explain(err error, doing string, t target) error {
	var known *sdk.Error
	var irregular *jail.Irregular
	var dir *atomicfile.DirError
	switch {
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &irregular):
		return sdk.InvalidArgument(t.argued(), "cannot %s %s: %w; only regular files can be opened", doing, t.name, irregular)
	case errors.As(err, &dir) && errors.Is(err, fs.ErrPermission):
		return sdk.Denied("cannot %s %s: its directory %s does not let files be replaced: %w", doing, t.name, filepath.Dir(t.name), dir.Err)
	case errors.Is(err, jail.ErrEscape):
		return sdk.Denied("cannot %s %s: %w (%s)", doing, t.name, jail.ErrEscape, w.roots)
	case errors.Is(err, fs.ErrPermission):
		return sdk.Denied("cannot %s %s: %w", doing, t.name, reason(err))
	case missing(err):
		return w.notFound(doing, t)
	}
	return system(err, doing, t)
}

// system explains what the operating system said.
func system(err error, doing string, t target) error {
	switch {
	case errors.Is(err, syscall.EISDIR):
		return sdk.InvalidArgument(t.argued(), "cannot %s %s: it is a directory; use list_directory to see what is in it", doing, t.name)
	case errors.Is(err, syscall.ENOTDIR):
		return sdk.InvalidArgument(t.argued(), "cannot %s %s: it, or a part of it, is a file and not a directory", doing, t.name)
	case errors.Is(err, fs.ErrInvalid), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EINVAL):
		return sdk.InvalidArgument(t.argued(), "cannot %s %s: %w", doing, clip(t.name), reason(err))
	case errors.Is(err, fs.ErrExist):
		return sdk.Conflict("cannot %s %s: something got the name at the same moment; look at what is there", doing, t.name)
	case errors.Is(err, jail.ErrUnstable):
		return sdk.Conflict("cannot %s %s: %w; try again", doing, t.name, jail.ErrUnstable).Retry()
	}
	return sdk.Failed("cannot %s %s: %w", doing, t.name, reason(err))
}

// reason is err without the names of paths that the caller has not used.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// clip shortens a name that is too long to be shown.
func clip(name string) string {
	const shown = 100
	if len(name) <= shown {
		return name
	}
	return strings.ToValidUTF8(name[:shown], "") + "…"
}

// conflict is the error for a file that does not hold what the caller expects.
func conflict(t target, expected, found string) error {
	return sdk.Conflict("%s has changed: its sha256 is %s, not %s; read it again", t.name, found, expected).
		With("expected_sha256", expected).With("sha256", found)
}
