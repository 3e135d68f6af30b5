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
	"bytes"
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
	"time"

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
	// Room, if any, is asked when the disk is full of which dir is. It reports
	// whether there may be more room now: then a content is written once more, if it
	// can be read once more.
	Room func(dir string) bool
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

// Change is new content for one file.
type Change struct {
	// Name must be free of links.
	Name    string
	Content io.Reader
	// Mode is what a file gets that is new; 0: 0666 less the umask. What is
	// replaced keeps its mode.
	Mode fs.FileMode
	// Like is whose mode, owner and extended attributes the file gets, in place of
	// those of what was there. The caller closes it.
	Like afero.File
	// Held says that the caller has what is there open too. Then Write has let go
	// of it when it returns: to do so takes no time.
	Held bool
	// New fails with [fs.ErrExist] if something has the name.
	New bool
	// Guard, if any, may still stop the change just before the new content takes
	// its place.
	Guard func() error
}

// Write replaces one file. After an error, or when ctx is done before the
// rename, everything is as before.
func (w *Writer) Write(ctx context.Context, c Change) (err error) {
	s, err := w.stage(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err = s.claim(ctx); err == nil && c.Guard != nil {
		err = c.Guard()
	}
	if err == nil {
		err = s.place()
	}
	return err
}

// staged is a file that is ready to take its place.
type staged struct {
	Change
	files   afero.Fs // of its directory
	release func() error
	note    func() // the temporary file is gone
	fresh   string // the temporary file; empty once it is in its place
	existed bool
	old     afero.File // what is to be replaced; nil: nothing is
}

func (w *Writer) stage(ctx context.Context, c Change) (_ *staged, err error) {
	dir := filepath.Dir(c.Name)
	files, release, err := Pin(w.FS, dir)
	if err != nil {
		return nil, err
	}
	s := &staged{Change: c, files: files, release: release, note: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	old, err := openOld(files, c.Name)
	if err != nil {
		return nil, err
	}
	s.old, s.existed = old, old != nil
	like := c.Like
	if old != nil {
		if c.New {
			return nil, &fs.PathError{Op: "create", Path: c.Name, Err: fs.ErrExist}
		}
		if like == nil {
			like = old
		}
	}
	s.fresh = TempIn(dir)
	s.note = w.Journal.begin(s.fresh)
	err = write(ctx, files, s.fresh, c, like)
	if full(err) && w.Room != nil && rewound(c.Content) && discard(files, s.fresh) == nil && w.Room(dir) {
		err = write(ctx, files, s.fresh, c, like)
	}
	return s, err
}

// full reports whether err says that there is no room on the disk, or none for this user.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// rewound goes back to the beginning of a content.
func rewound(content io.Reader) bool {
	s, ok := content.(io.Seeker)
	if ok {
		_, err := s.Seek(0, io.SeekStart)
		ok = err == nil
	}
	return ok
}

// patience is how long a change waits for others of the same file. Between two
// processes that do as this one does it is a matter of microseconds, and nobody
// else must make a file unchangeable by holding a lock on it.
const patience = 200 * time.Millisecond

// claim keeps other processes from exchanging the same file between the guard
// and the exchange: one of two changes would be lost. It is a matter of those
// who take part; what they exchange is a file that is not the same any more.
func (s *staged) claim(ctx context.Context) error {
	if s.old == nil {
		return nil
	}
	if !canLock {
		err := s.old.Close()
		s.old = nil
		return err
	}
	for end := time.Now().Add(patience); !tryLock(s.old) && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// place makes the staged file what its name means.
func (s *staged) place() (err error) {
	if s.New {
		err = RenameNew(s.files, s.fresh, s.Name)
	} else {
		err = s.files.Rename(s.fresh, s.Name)
	}
	if err == nil {
		s.fresh = ""
	}
	return err
}

// close removes what has not taken its place.
func (s *staged) close() error {
	var err error
	if s.fresh != "" {
		err = discard(s.files, s.fresh)
	}
	if err == nil { // else the next start tries again
		s.note()
	}
	if f, ok := s.old.(*os.File); ok && s.fresh == "" && !s.Held {
		// It was only looked at. Where nothing else means it any more the system now
		// frees its blocks, which nobody has to wait for.
		go f.Close() //nolint:errcheck // nothing was written to it
	} else if s.old != nil {
		err = errors.Join(err, s.old.Close())
	}
	s.old = nil
	return errors.Join(err, s.release())
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

// write makes the whole new file, ready to take its place.
func write(ctx context.Context, files afero.Fs, temp string, c Change, like afero.File) (err error) {
	perm := fs.FileMode(0o666)
	if like != nil || c.Mode != 0 {
		perm = 0o600 // nobody else may look before the right mode is on it
	}
	f, err := files.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return &DirError{Dir: filepath.Dir(temp), Err: cause(err)}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := fill(ctx, f, c.Content); err != nil {
		return err
	}
	switch {
	case like != nil:
		err = adopt(files, f, temp, like)
	case c.Mode != 0:
		err = chmod(files, f, temp, c.Mode)
	}
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return ctx.Err()
}

func fill(ctx context.Context, w io.Writer, content io.Reader) error {
	if held, ok := content.(*bytes.Reader); ok {
		_, err := held.WriteTo(steadily{ctx, w})
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch _, err := io.CopyN(w, content, slice); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// steadily writes in one go what is not too much for a call that may be cancelled.
type steadily struct {
	ctx context.Context
	to  io.Writer
}

func (s steadily) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		if err = s.ctx.Err(); err != nil {
			break
		}
		var written int
		written, err = s.to.Write(p[n:min(n+slice, len(p))])
		n += written
	}
	return n, err
}

// chmod sets the mode of f, which is called temp.
func chmod(files afero.Fs, f afero.File, temp string, mode fs.FileMode) error {
	if c, ok := f.(interface{ Chmod(fs.FileMode) error }); ok {
		return c.Chmod(mode)
	}
	return files.Chmod(temp, mode)
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
	if err := chmod(files, f, temp, mode); err != nil {
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

// RenameNew moves a file to a name at which nothing is, else it fails with
// [fs.ErrExist]. Where files cannot do that in one step another process may come
// in between.
func RenameNew(files afero.Fs, from, to string) error {
	if r, ok := files.(interface{ RenameNew(from, to string) error }); ok {
		return r.RenameNew(from, to)
	}
	if _, err := files.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(&fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}, err)
	}
	return files.Rename(from, to)
}

// TempIn returns a new name for a temporary file in dir.
func TempIn(dir string) string { return filepath.Join(dir, tempPrefix+rand.Text()+tempSuffix) }

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
