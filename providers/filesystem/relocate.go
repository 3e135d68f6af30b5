package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/afero"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/jail"
)

// relocate moves what is at from to a new name, or with replace to that of a
// file. Between devices it copies, and removes the old one when the copy is
// whole: a crash may leave both, never none.
func (w *workspace) relocate(ctx context.Context, from, to string, replace bool) error {
	rename := w.files.RenameNew
	if replace {
		rename = w.files.Rename
	}
	err := rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	info, err := lstat(w.files, from)
	switch {
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return w.carry(ctx, from, to, replace)
	}
	c := copier{ctx: ctx, w: w, keepAll: true, place: rename}
	if err := c.copy(from, to); err != nil {
		return err
	}
	if _, err = w.files.RemoveTree(ctx, from); err == nil {
		return nil
	}
	// As long as the source is whole it is the copy that must go.
	whole, surveyErr := w.files.Survey(context.WithoutCancel(ctx), from)
	if surveyErr != nil || whole.Entries != c.entries || replace {
		return sdk.Failed("the copy is whole, but the source could not be removed: %w", reason(err))
	}
	_, undone := w.files.RemoveTree(context.WithoutCancel(ctx), to)
	return errors.Join(err, undone)
}

// carry moves a file to another device: the new one comes and the old one goes
// together.
func (w *workspace) carry(ctx context.Context, from, to string, replace bool) (err error) {
	source, err := w.files.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	b := w.writer.Begin()
	defer b.Close() //nolint:errcheck // what stays goes at the next start
	err = b.Write(ctx, atomicfile.Change{Name: to, Content: source, Like: source, New: !replace})
	if err == nil {
		err = b.Remove(from, nil)
	}
	if err == nil {
		err = b.Commit(ctx)
	}
	return err
}

// copier copies trees: files, directories and the links themselves.
type copier struct {
	ctx     context.Context
	w       *workspace
	keepAll bool // owner, attributes and all of the mode, not just the permissions
	entries int
	place   func(aside, to string) error // gives the whole copy its name
	made    []directoryCopy              // the outermost first
}

// directoryCopy is a directory that gets its mode last: one that cannot be
// written could be neither filled nor cleared away.
type directoryCopy struct {
	path string
	mode fs.FileMode
}

// copy makes a copy of from, which gets its name when it is whole.
func (c *copier) copy(from, to string) error {
	aside := atomicfile.TempIn(filepath.Dir(to))
	gone := c.w.writer.Journal.Note(aside)
	err := c.tree(from, aside)
	if err == nil {
		err = c.setModes()
	}
	if err == nil {
		err = c.place(aside, to)
	}
	if err != nil {
		err = errors.Join(err, c.clear(aside))
	}
	if _, left := lstat(c.w.files, aside); missing(left) {
		gone()
	}
	return err
}

func (c *copier) setModes() (err error) {
	for _, d := range slices.Backward(c.made) {
		err = errors.Join(err, c.w.files.Chmod(d.path, d.mode))
	}
	return err
}

// clear removes a copy that will not be used.
func (c *copier) clear(aside string) error {
	for _, d := range c.made {
		_ = c.w.files.Chmod(d.path, 0o700) // if it cannot be removed for want of it, that says so
	}
	return c.w.files.RemoveAll(aside)
}

func (c *copier) tree(from, to string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	info, err := lstat(c.w.files, from)
	if err != nil {
		return err
	}
	c.entries++
	switch {
	case info.IsDir():
		return c.directory(from, to, info)
	case info.Mode()&fs.ModeSymlink != 0:
		return c.link(from, to)
	case info.Mode().IsRegular():
		return c.file(from, to, info)
	}
	return &jail.Irregular{Mode: info.Mode()}
}

func (c *copier) directory(from, to string, info fs.FileInfo) error {
	if err := c.w.files.Mkdir(to, 0o700); err != nil {
		return err
	}
	c.made = append(c.made, directoryCopy{to, c.mode(info)})
	f, err := c.w.files.Open(from)
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(-1)
	err = errors.Join(err, f.Close())
	for i := 0; i < len(names) && err == nil; i++ {
		err = c.tree(filepath.Join(from, names[i]), filepath.Join(to, names[i]))
	}
	return err
}

// mode is what the copy gets: nobody is given more than a plain copy would.
func (c *copier) mode(info fs.FileInfo) fs.FileMode {
	if c.keepAll {
		return info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	}
	return info.Mode().Perm()
}

func (c *copier) link(from, to string) error {
	reader, canRead := c.w.files.(afero.LinkReader)
	linker, canLink := c.w.files.(afero.Linker)
	if !canRead || !canLink {
		return syscall.ENOTSUP
	}
	target, err := reader.ReadlinkIfPossible(from)
	if err != nil {
		return err
	}
	return linker.SymlinkIfPossible(target, to)
}

func (c *copier) file(from, to string, info fs.FileInfo) (err error) {
	source, err := c.w.files.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if c.keepAll { // the old one will be removed, so this one must be on the disk
		return c.w.writer.Write(c.ctx, atomicfile.Change{Name: to, Content: source, Like: source, New: true})
	}
	f, err := c.w.files.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, sdk.Reader(c.ctx, source))
	if err = errors.Join(err, f.Close()); err == nil {
		err = c.w.files.Chmod(to, c.mode(info))
	}
	return err
}
