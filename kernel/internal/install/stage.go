package install

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agentco/agent/kernel/internal/lock"
)

const (
	stagePrefix = ".stage-"
	gonePrefix  = ".gone-"
)

// Staged is a provider that is unpacked beside its place in the cache, but not in it. One of Commit and Discard ends it.
type Staged struct {
	Key Key
	// Program is the checksum of the program that was unpacked.
	Program lock.Checksum

	cache   Cache
	archive string
	dir     string
}

// Stage verifies a downloaded archive and unpacks it. Whoever calls it holds the key (see Hold). On failure nothing of it
// is left, except the archive, which an *Error of ChecksumMismatch says to throw away.
func (c Cache) Stage(k Key, archive string) (*Staged, error) {
	s := &Staged{Key: k, cache: c, archive: archive}
	err := s.stage()
	if err == nil {
		return s, nil
	}
	err = errors.Join(err, s.Discard())
	out := c.failed("install", k, err)
	var e *Error
	if errors.As(out, &e) && e.ofArchive() {
		e.On = archive
	}
	return nil, out
}

func (s *Staged) stage() error {
	archive, err := openRegular(s.archive)
	if err != nil {
		return err
	}
	defer archive.Close()
	if err := mustBe(archive, s.Key.Checksum); err != nil {
		return err
	}
	if err := s.makeFolder(); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if s.Program, err = unpack(archive, s.Key.Program(), folder{root}); err != nil {
		return err
	}
	if err := root.Chmod(".", 0o755); err != nil {
		return err
	}
	return Executable(filepath.Join(s.dir, s.Key.Program()))
}

// makeFolder makes a folder beside the place of the provider. Who cleans up after an install that failed may take an empty
// folder above it away in between.
func (s *Staged) makeFolder() (err error) {
	const attempts = 10
	parent := filepath.Dir(s.cache.dir(s.Key))
	for range attempts {
		if err = os.MkdirAll(parent, 0o755); err != nil {
			return err
		}
		s.dir, err = os.MkdirTemp(parent, stagePrefix+part(s.Key)+"*")
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// part of a name tells whose leftover a folder is.
func part(k Key) string { return string(k.Checksum)[:16] + "-" }

// folder is a destination that cannot be left, and lasts.
type folder struct{ root *os.Root }

func (f folder) create(name string, mode os.FileMode) (io.WriteCloser, error) {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	// Past the umask, and whatever the archive says.
	if err := file.Chmod(mode); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return synced{file}, nil
}

// synced is a file that is on the disk once it is closed.
type synced struct{ *os.File }

func (s synced) Close() error { return errors.Join(s.Sync(), s.File.Close()) }

// Commit makes the provider an installed one, in one step, and takes the archive along. Of a whole copy that came to be
// there meanwhile, nothing is touched.
func (s *Staged) Commit() error {
	if err := s.commit(); err != nil {
		return s.cache.failed("install", s.Key, errors.Join(err, s.Discard()))
	}
	return nil
}

func (s *Staged) commit() error {
	to := s.cache.dir(s.Key)
	if _, err := s.cache.Verify(s.Key, s.Program); err == nil {
		_ = os.Remove(s.archive) // who installed the other copy may have taken it
		return s.Discard()
	}
	if err := syncFile(s.archive); err != nil {
		return err
	}
	if err := os.Rename(s.archive, filepath.Join(s.dir, archiveName)); err != nil {
		return err
	}
	syncFolder(s.dir)
	if _, err := os.Lstat(to); err == nil {
		// It did not verify: it makes way.
		if err := s.cache.remove(s.Key); err != nil {
			return err
		}
	}
	if err := os.Rename(s.dir, to); err != nil {
		return fmt.Errorf("put it into its place: %w", err)
	}
	syncFolder(filepath.Dir(to))
	return nil
}

// Discard removes what was unpacked, and the folders that were made for it.
func (s *Staged) Discard() error {
	if s.dir == "" {
		return nil
	}
	err := os.RemoveAll(s.dir)
	s.cache.removeEmpty(filepath.Dir(s.dir))
	return err
}

// remove takes a provider away so that it is never there in part.
func (c Cache) remove(k Key) error {
	dir := c.dir(k)
	gone, err := os.MkdirTemp(filepath.Dir(dir), gonePrefix+part(k)+"*")
	if err != nil {
		return err
	}
	if err := os.Rename(dir, filepath.Join(gone, "was")); err != nil {
		return errors.Join(fmt.Errorf("take the old copy away: %w", err), os.Remove(gone))
	}
	return os.RemoveAll(gone)
}

func syncFile(path string) error {
	// Windows flushes only what was opened to be written.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncFolder makes a rename last. Windows cannot, and some file systems do not; the rename stands either way.
func syncFolder(dir string) {
	if runtime.GOOS == "windows" {
		return
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
