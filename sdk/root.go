package sdk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/agentco/agent/sdk/jail"
)

// Root is an attribute that names a directory which calls cannot leave, whatever they name and whatever links are in
// it:
//
//	type config struct {
//		Root sdk.Root `hcl:"root" doc:"Directory the tools may read."`
//	}
//
// It is a string in agent.hcl, read like a [Dir] and open from Configure until after the provider's Close; the SDK
// closes it. A relative name is taken from the root; an absolute one must lie inside. To take relative names from the
// working directory of the call instead, give them through [Call.Path]. What lies outside is refused as
// permission_denied, and what is neither file nor directory as invalid_arguments, without opening it.
//
// The zero value, that of an optional root which was left out, has no files. A Root may be copied and is safe for
// concurrent use.
type Root struct {
	jail *jail.Jail
	dir  string
}

func openRoot(dir string) (any, io.Closer, error) {
	j, err := jail.New(jail.Options{Roots: []string{dir}})
	var bad *jail.RootError
	if errors.As(err, &bad) {
		return nil, nil, fmt.Errorf("must be a directory that can be opened; %s cannot: %w", shownPath(dir), bad.Err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot be opened: %w", err)
	}
	return Root{jail: j, dir: dir}, j, nil
}

// Dir is the absolute path of the root, as it was configured. It is empty for the zero value.
func (r Root) Dir() string { return r.dir }

// FS gives the root to code that takes an afero filesystem. Names mean what they mean to the other methods.
func (r Root) FS() afero.Fs {
	if r.jail == nil {
		return afero.NewReadOnlyFs(afero.NewMemMapFs())
	}
	return rootFs{r.jail, r}
}

// IOFS gives the root to code that takes a filesystem of package io/fs, such as fs.WalkDir or template.ParseFS.
func (r Root) IOFS() fs.FS { return afero.NewIOFS(r.FS()) }

// Open opens a file or directory for reading. The caller closes it.
func (r Root) Open(name string) (afero.File, error) {
	if r.jail == nil {
		return nil, r.missing("open", name)
	}
	f, err := r.jail.Open(name)
	if err != nil {
		return nil, r.explain(err)
	}
	return f, nil
}

// Create makes a file, or empties the one that is there, and opens it for writing. The caller closes it.
func (r Root) Create(name string) (afero.File, error) {
	if r.jail == nil {
		return nil, r.missing("create", name)
	}
	f, err := r.jail.Create(name)
	if err != nil {
		return nil, r.explain(err)
	}
	return f, nil
}

// Stat describes what name leads to.
func (r Root) Stat(name string) (fs.FileInfo, error) {
	if r.jail == nil {
		return nil, r.missing("stat", name)
	}
	info, err := r.jail.Stat(name)
	return info, r.explain(err)
}

// ReadFile reads a whole file.
func (r Root) ReadFile(name string) ([]byte, error) {
	if r.jail == nil {
		return nil, r.missing("open", name)
	}
	data, err := afero.ReadFile(r.jail, name)
	var path *fs.PathError
	if errors.As(err, &path) { // what was opened bears another name
		err = &fs.PathError{Op: path.Op, Path: name, Err: path.Err}
	}
	return data, r.explain(err)
}

// WriteFile replaces a file as a whole, or makes it: a reader sees what was there before or all of data, and after an
// error it is as it was. A file that is there keeps its mode, though not its owner nor its other hard links; perm is for a
// new one, before the umask. Its directory must exist, and must be writable. A process that is killed meanwhile leaves a
// file named .draft-*.
func (r Root) WriteFile(name string, data []byte, perm fs.FileMode) error {
	if r.jail == nil {
		return r.missing("write", name)
	}
	return r.explain(r.replace(name, data, perm))
}

func (r Root) replace(name string, data []byte, perm fs.FileMode) error {
	path, err := r.jail.Resolve(name) // a link is written through, not replaced
	if err != nil {
		return unwritten(name, err)
	}
	info, err := r.jail.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return unwritten(name, fmt.Errorf("it is not a regular file: %w", fs.ErrInvalid))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return unwritten(name, err)
	}
	if err == nil {
		perm = info.Mode().Perm() // also of the draft: what it will hold is nobody else's either
	}
	draft := filepath.Join(filepath.Dir(path), ".draft-"+rand.Text())
	f, err := r.jail.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return unwritten(name, err)
	}
	err = fill(f, data)
	if err == nil && info != nil {
		err = r.jail.Chmod(draft, info.Mode())
	}
	if err == nil {
		err = r.jail.Rename(draft, path)
	}
	if err != nil {
		return errors.Join(unwritten(name, err), r.jail.Remove(draft))
	}
	return nil
}

// fill writes and closes a file, and has the disk keep it.
func fill(f afero.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// unwritten is err about the name that the caller used, not about what it took to write it.
func unwritten(name string, err error) error {
	return &fs.PathError{Op: "write", Path: name, Err: reasonOf(err)}
}

// explain says of an escape where it would have to stay.
func (r Root) explain(err error) error {
	if errors.Is(err, jail.ErrEscape) {
		return fmt.Errorf("%w; name something inside %s", err, shownPath(r.dir))
	}
	return err
}

// rootFs is the jail as an afero filesystem, with errors that say all that the caller said.
type rootFs struct {
	*jail.Jail
	root Root
}

func (f rootFs) Rename(from, to string) error {
	if err := f.Jail.Rename(from, to); err != nil {
		return f.root.explain(&os.LinkError{Op: "rename", Old: from, New: to, Err: reasonOf(err)})
	}
	return nil
}

func (Root) missing(op, name string) error {
	return Failed("%s %s: the provider has no root; set it in the provider's block", op, shownPath(name))
}
