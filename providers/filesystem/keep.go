package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/agentco/agent/providers/filesystem/internal/undo"
)

// hold prepares to keep what is there without a copy, if that is possible.
func (c *change) hold() {
	if !c.before.exists {
		return
	}
	c.held = c.w.undos.Hold(c.before.info, func() (*os.File, error) {
		f, err := c.w.files.Open(c.target.resolved)
		if err != nil {
			return nil, err
		}
		if file, ok := f.(*os.File); ok {
			return file, nil
		}
		return nil, errors.Join(fs.ErrInvalid, f.Close())
	})
}

// keep sets the present content aside for undo, beside what goes on where it is in
// memory. That it cannot be kept stops no change.
func (c *change) keep(ctx context.Context) error {
	switch {
	case !c.before.exists, c.held != nil:
	case c.before.bytes == nil:
		c.copyOld(ctx)
	default:
		// Whatever becomes of the call: what is written can be undone.
		whole := context.WithoutCancel(ctx)
		c.keeping.Go(func() { c.copyOld(whole) })
	}
	return ctx.Err()
}

// keepHeld keeps what was there, now that it has been replaced. A copy is made
// after all where somebody could still write to it.
func (c *change) keepHeld(ctx context.Context) {
	if c.held == nil {
		return
	}
	if kept, ok := c.held.Keep(c.before.sum(), c.before.info.Mode().Perm()); ok {
		c.kept, c.held = kept, nil
		return
	}
	c.copyOld(context.WithoutCancel(ctx))
}

// copyOld makes a copy of what is, or was, there.
func (c *change) copyOld(ctx context.Context) {
	size, mode := c.before.info.Size(), c.before.info.Mode().Perm()
	var err error
	switch {
	case c.before.bytes != nil:
		c.kept, err = c.w.undos.Keep(ctx, bytes.NewReader(c.before.bytes), int64(len(c.before.bytes)), mode)
	case c.held != nil:
		c.kept, err = c.w.undos.Keep(ctx, c.held.Reader(), size, mode)
	default:
		c.kept, err = c.w.keepFile(ctx, c.target.resolved, size, mode)
	}
	if err != nil {
		c.kept, c.lost = nil, err.Error()
		return
	}
	c.kept.SHA256 = c.before.sum()
}

// keepFile sets the content of a file on disk aside for undo.
func (w *workspace) keepFile(ctx context.Context, path string, size int64, mode fs.FileMode) (kept *undo.Content, err error) {
	f, err := w.files.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return w.undos.Keep(ctx, f, size, mode)
}
