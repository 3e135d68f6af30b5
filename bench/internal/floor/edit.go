package floor

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"sync"
)

// Edit replaces a text that is in a file exactly once. With sync the file is replaced in one step, and safe on the disk.
func Edit(path, old, with string, sync bool) error {
	_, edited, err := edit(path, old, with)
	if err != nil {
		return err
	}
	if !sync {
		return os.WriteFile(path, edited, 0o644)
	}
	return Replace(path, edited)
}

// Undoable is Edit with sync that could be undone: beside it the old content is written to a place of its own, and both are
// hashed. It gives the hashes.
func Undoable(path, old, with string, keep io.WriterAt) (before, after [sha256.Size]byte, err error) {
	content, edited, err := edit(path, old, with)
	if err != nil {
		return before, after, err
	}
	var kept error
	var beside sync.WaitGroup
	beside.Go(func() {
		_, kept = keep.WriteAt(content, 0)
		before, after = sha256.Sum256(content), sha256.Sum256(edited)
	})
	err = Replace(path, edited)
	beside.Wait()
	return before, after, errorOf(err, kept)
}

// edit is the content of a file before and after.
func edit(path, old, with string) (before, after []byte, err error) {
	before, err = os.ReadFile(path)
	if err == nil && bytes.Count(before, []byte(old)) != 1 {
		err = fmt.Errorf("%q is not in %s exactly once", old, path)
	}
	return before, bytes.Replace(before, []byte(old), []byte(with), 1), err
}

// Replace writes a file anew: a temporary one, fsync, rename.
func Replace(path string, content []byte) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errorOf(err, f.Sync())
	err = errorOf(err, f.Close())
	return errorOf(err, os.Rename(path+".new", path))
}
