package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ChecksumError says that the file of a provider is not the one that was expected.
type ChecksumError struct {
	Path string
	// Want and Got are sha256 in lower-case hex.
	Want, Got string
}

// Error names the file, both checksums and what to do.
func (e *ChecksumError) Error() string {
	return fmt.Sprintf("checksum mismatch: %s was not started, since it is not the file that was installed: expected sha256 %s, got %s: "+
		"run agent init to install it again, and find out who changed it", e.Path, e.Want, e.Got)
}

// verified is a binary of which exactly what was hashed will run, whatever happens to its path meanwhile. Only who writes
// into the installed file itself between the two, as this user, is not noticed.
type verified struct {
	path string // what to execute
	file *os.File
}

// verify hashes the binary at path and makes what it hashed executable below dir, a folder of ours alone. The caller
// calls close once the process has been started.
func verify(path, checksum, dir string) (*verified, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	v, got, err := seal(file, filepath.Join(dir, filepath.Base(path)))
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("cannot verify %s: %w", path, err), file.Close())
	case got != checksum:
		return nil, errors.Join(&ChecksumError{Path: path, Want: checksum, Got: got}, file.Close())
	}
	return v, nil
}

func (v *verified) close() { _ = v.file.Close() }

// openRegular opens a file to read it. Opening a named pipe would wait for whoever writes to it.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.Open(path)
}

func hashOf(r io.Reader) (string, error) {
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// copied hashes what it copies to a new file, which then runs in the place of the first.
func copied(file *os.File, to string) (*verified, string, error) {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o500)
	if err != nil {
		return nil, "", err
	}
	got, err := hashOf(io.TeeReader(file, out))
	if err := errors.Join(err, out.Close()); err != nil {
		return nil, "", err
	}
	return &verified{path: to, file: file}, got, nil
}
