package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/adrg/xdg"

	"github.com/agentco/agent/kernel/internal/lock"
)

// archiveName is what the archive is called in the folder of its provider. No program is called so: no element of a source
// holds a tilde.
const archiveName = "archive~"

// Cache is a folder of installed providers, shared by all projects of a user. Its methods may be called from many
// goroutines and processes.
type Cache struct {
	// Dir is $XDG_CACHE_HOME/agent.
	Dir string
	// Sum finds the checksum of the program of an installed provider; nil reads the file. One that remembers what it has read,
	// by what the system says of the file, is what makes an install of nothing new a matter of milliseconds. It decides on
	// what is installed only: what is started is read at each start.
	Sum func(path string) (lock.Checksum, error)
}

// UserCache is the one of this user.
func UserCache() Cache { return Cache{Dir: filepath.Join(xdg.CacheHome, "agent")} }

// Path is where the program of a provider is, or would be.
func (c Cache) Path(k Key) string { return filepath.Join(c.dir(k), k.Program()) }

// Archive is where the archive of an installed provider is, or would be.
func (c Cache) Archive(k Key) string { return filepath.Join(c.dir(k), archiveName) }

// Downloads is where archives are downloaded to. What is there is never taken for installed.
func (c Cache) Downloads() string { return filepath.Join(c.Dir, "downloads") }

func (c Cache) providers() string { return filepath.Join(c.Dir, "providers") }

func (c Cache) dir(k Key) string { return filepath.Join(c.providers(), k.folder()) }

// Installed reports whether the provider is in the cache, without looking at what it is.
func (c Cache) Installed(k Key) bool {
	info, err := os.Lstat(c.Path(k))
	return err == nil && info.Mode().IsRegular()
}

// Program returns what the program of an installed provider must hash to, from the archive beside it, for a lock file
// that does not say.
func (c Cache) Program(k Key) (lock.Checksum, error) {
	const attempted = "tell what the installed program must be"
	archive, err := c.openArchive(k)
	if err != nil {
		return "", c.failed(attempted, k, err)
	}
	defer archive.Close()
	sum, err := unpack(archive, k.Program(), nowhere{})
	if err != nil {
		return "", c.failed(attempted, k, err)
	}
	return sum, nil
}

// openArchive opens the archive of an installed provider, if it is what was locked.
func (c Cache) openArchive(k Key) (*os.File, error) {
	archive, err := openRegular(c.Archive(k))
	if err != nil {
		return nil, err
	}
	if err := mustBe(archive, k.Checksum); err != nil {
		return nil, errors.Join(err, archive.Close())
	}
	return archive, nil
}

// Verify returns the checksum of the program of an installed provider when that is what it must be: program, or what
// follows from the archive when program is empty. An Error of NotInstalled or ChecksumMismatch says otherwise.
func (c Cache) Verify(k Key, program lock.Checksum) (lock.Checksum, error) {
	const attempted = "verify the installed provider"
	if err := regular(c.Path(k)); err != nil {
		return "", c.failed(attempted, k, err)
	}
	if program == "" {
		var err error
		if program, err = c.Program(k); err != nil {
			return "", err
		}
	}
	got, err := c.sum(c.Path(k))
	if err == nil && got != program {
		err = mismatch(c.Path(k), program, got)
	}
	if err != nil {
		return "", c.failed(attempted, k, err)
	}
	if err := Executable(c.Path(k)); err != nil {
		return "", c.failed(attempted, k, err)
	}
	return program, nil
}

// sum is the checksum of a program.
func (c Cache) sum(path string) (lock.Checksum, error) {
	if c.Sum != nil {
		return c.Sum(path)
	}
	file, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return lock.Sum(file)
}

// regular fails when something else is where a file should be. To open a named pipe would be to wait for whoever writes
// to it.
func regular(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP): // something has taken the place of the folder
		return &Error{Code: ChecksumMismatch, On: path, Reason: err.Error(), Err: err}
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &Error{Code: ChecksumMismatch, On: path, Reason: "it is not a regular file"}
	}
	return nil
}

func openRegular(path string) (*os.File, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

func readRegular(path string) ([]byte, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// mustBe fails when a file is not the one with that checksum.
func mustBe(file *os.File, want lock.Checksum) error {
	got, err := lock.Sum(file)
	if err != nil {
		return err
	}
	if got != want {
		return mismatch(file.Name(), want, got)
	}
	_, err = file.Seek(0, 0)
	return err
}

func mismatch(path string, want, got lock.Checksum) *Error {
	return &Error{Code: ChecksumMismatch, Attempted: "verify", On: path, Reason: fmt.Sprintf("expected %s, got %s", want, got)}
}

// failed says what went wrong with which provider.
func (c Cache) failed(attempted string, k Key, err error) error {
	out := &Error{Code: CacheFailed, Attempted: attempted + " " + k.String(), On: c.dir(k), Reason: err.Error(), Err: err}
	var ours *Error
	switch {
	case errors.As(err, &ours):
		out.Code, out.Reason = ours.Code, ours.Reason
		if ours.On != "" {
			out.On = ours.On
		}
	case errors.Is(err, fs.ErrNotExist):
		out.Code, out.Reason = NotInstalled, "it is not in the cache"
	}
	return out
}
