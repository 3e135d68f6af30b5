// Package atomicfile replaces files whole: whoever looks, and whenever the
// machine stops, finds the old content or the new.
//
// The new content goes to a temporary file in the same directory, is flushed to
// the disk, takes over mode, owner and extended attributes of what was there,
// and is renamed over it. The directory is held open meanwhile where the
// filesystem can do that ([Pinner]), so that moving it does not part the two.
//
// Other hard links of a replaced file keep the old content: a rename changes
// what one name means, not the file behind it.
//
// A file the caller may not write is not replaced either, although the
// directory would allow it.
package atomicfile

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

const (
	tempPrefix = ".agent-"
	tempSuffix = ".tmp"
	// slice is how much is written between two looks at the context.
	slice = 1 << 20
)

// Writer replaces files of one filesystem. It is safe for concurrent use on
// different files; calls on one file are the caller's to serialise.
type Writer struct {
	FS afero.Fs
	// Journal remembers temporary files across a crash. Nil: they are cleaned
	// up only by the process that made them.
	Journal *Journal
}

// DirError says that the directory of a file does not allow replacing it.
type DirError struct {
	Dir string
	Err error
}

// Error says what is wrong.
func (e *DirError) Error() string {
	return fmt.Sprintf("directory %s does not allow a new file: %v", e.Dir, e.Err)
}

// Unwrap gives the cause.
func (e *DirError) Unwrap() error { return e.Err }

// Write makes data the content of the file name, which must be free of links.
// A new file gets the mode 0666 less the umask. Just before the new content
// takes its place, guard (if any) may still stop it. After an error, or when ctx
// is done before the rename, everything is as before.
func (w *Writer) Write(ctx context.Context, name string, data []byte, guard func() error) error {
	dir := filepath.Dir(name)
	files, release, err := Pin(w.FS, dir)
	if err != nil {
		return err
	}
	err = w.replace(ctx, files, dir, filepath.Base(name), data, guard)
	return errors.Join(err, release())
}

func (w *Writer) replace(ctx context.Context, files afero.Fs, dir, base string, data []byte, guard func() error) (err error) {
	target := filepath.Join(dir, base)
	old, err := openOld(files, target)
	if err != nil {
		return err
	}
	if old != nil {
		defer func() { err = errors.Join(err, old.Close()) }()
	}
	temp := filepath.Join(dir, tempPrefix+rand.Text()+tempSuffix)
	defer w.Journal.begin(temp)()
	if err := stage(ctx, files, temp, data, old); err != nil {
		return errors.Join(err, discard(files, temp))
	}
	if guard != nil {
		if err := guard(); err != nil {
			return errors.Join(err, discard(files, temp))
		}
	}
	if err := files.Rename(temp, target); err != nil {
		return errors.Join(err, discard(files, temp))
	}
	return nil
}

// openOld opens what is to be replaced, or returns nil when there is nothing. It
// is opened for writing to hear from the system whether that is allowed.
func openOld(files afero.Fs, name string) (afero.File, error) {
	f, err := files.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, syscall.ETXTBSY) { // a running program can be replaced, if not overwritten
		f, err = files.Open(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// stage writes the whole new file, ready to take its place.
func stage(ctx context.Context, files afero.Fs, temp string, data []byte, old afero.File) (err error) {
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = 0o600 // nobody else may look before the old mode is on it
	}
	f, err := files.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return &DirError{Dir: filepath.Dir(temp), Err: cause(err)}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := fill(ctx, f, data); err != nil {
		return err
	}
	if old != nil {
		if err := adopt(files, f, temp, old); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return ctx.Err()
}

func fill(ctx context.Context, w io.Writer, data []byte) error {
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := w.Write(data[:min(len(data), slice)])
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// adopt gives the new file what the old one had besides its content. The owner
// comes before the mode: changing it takes away the set-user-id bit.
func adopt(files afero.Fs, f afero.File, temp string, old afero.File) error {
	info, err := old.Stat()
	if err != nil {
		return err
	}
	if err := adoptOwner(f, info); err != nil {
		return fmt.Errorf("keep the owner of %s: %w", filepath.Base(old.Name()), err)
	}
	mode := info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	if c, ok := f.(interface{ Chmod(fs.FileMode) error }); ok {
		err = c.Chmod(mode)
	} else {
		err = files.Chmod(temp, mode)
	}
	if err != nil {
		return err
	}
	if err := adoptAttributes(f, old); err != nil {
		return fmt.Errorf("keep the attributes of %s: %w", filepath.Base(old.Name()), err)
	}
	return nil
}

// discard removes a temporary file that may not be there.
func discard(files afero.Fs, temp string) error {
	if err := files.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Pinner is a filesystem that can hold a directory open.
type Pinner interface {
	// PinDir returns a filesystem of just the directory dir, under the same
	// names, and what ends it. It goes on meaning the same directory when
	// something else takes its name.
	PinDir(dir string) (afero.Fs, func() error, error)
}

// Pin holds dir open if files can, and says what lets it go. Otherwise it
// returns files as they are.
func Pin(files afero.Fs, dir string) (afero.Fs, func() error, error) {
	if p, ok := files.(Pinner); ok {
		return p.PinDir(dir)
	}
	return files, func() error { return nil }, nil
}

// IsTemp reports whether name is one that a Writer makes.
func IsTemp(name string) bool {
	base := filepath.Base(name)
	return strings.HasPrefix(base, tempPrefix) && strings.HasSuffix(base, tempSuffix) &&
		len(base) == len(tempPrefix)+len(rand.Text())+len(tempSuffix)
}

func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
