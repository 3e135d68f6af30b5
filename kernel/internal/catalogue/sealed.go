package catalogue

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A sealed file has the sha256 of its content in its first line: what a crash, a full disk or a person has left of it is
// not taken for the whole.

var errBroken = errors.New("the file is not as it was written")

func readSealed(path string) ([]byte, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	seal, content, _ := bytes.Cut(file, []byte("\n"))
	if string(seal) != sealOf(content) {
		return nil, errBroken
	}
	return content, nil
}

// writeSealed puts a file in its place whole. When several do that at once, each of them has written a right one.
func writeSealed(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = temporary.Write(append([]byte(sealOf(content)+"\n"), content...))
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

func sealOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func isChecksum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

const (
	// mostFiles is how many there may be in a folder; fewFiles is what is left when there are more.
	mostFiles = 256
	fewFiles  = 128
	// touchEvery is how fine the time of the last use of a file is.
	touchEvery = 24 * time.Hour
)

// touch notes that a file is in use.
func touch(path string) {
	now := time.Now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > touchEvery {
		_ = os.Chtimes(path, now, now) // it is only the first to go without
	}
}

// prune removes the files that have not been used for longest, when there are many: each build of a provider that is
// worked on leaves one.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= mostFiles {
		return
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, file := range files[min(fewFiles, len(files)):] {
		_ = os.Remove(filepath.Join(dir, file.Name())) // another process may have been faster
	}
}
