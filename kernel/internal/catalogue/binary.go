package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Binary is a file as it was at one moment.
type Binary struct {
	// Checksum is its sha256 in lower-case hex.
	Checksum string
	identity identity
}

// identity tells whether a file is the one it was: every write to it changes ctime, which nobody can set.
type identity struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime_ns"`
	Ctime int64  `json:"ctime_ns"`
	Inode uint64 `json:"inode"`
	Dev   uint64 `json:"device"`
}

// remembered is the content of a file below files/.
type remembered struct {
	identity
	Checksum string `json:"sha256"`
}

// settled is how long ago the last change of a file must be for its times to tell it from what it is after the next: a
// file system may have a clock as coarse as two seconds.
const settled = 3 * time.Second

// Identify finds the checksum of a file: in the catalogue when it is the same file as then, else by reading it.
func (c *Catalogue) Identify(path string) (Binary, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Binary{}, err
	}
	now := time.Now()
	before, lasting, err := look(path)
	if err != nil {
		return Binary{}, err
	}
	if known, ok := c.recall(before); ok && lasting {
		return known, nil
	}
	checksum, err := hash(path)
	if err != nil {
		return Binary{}, err
	}
	b := Binary{Checksum: checksum, identity: before}
	after, _, err := look(path)
	if err == nil && lasting && after == before && now.Sub(time.Unix(0, before.Ctime)) > settled {
		c.remember(b)
	}
	return b, err
}

// Forget lets a file be read the next time, whatever the system says of it: who has read it knows better. A disk that
// fails changes a file without a write.
func (c *Catalogue) Forget(path string) {
	if path, err := filepath.Abs(path); err == nil && c != nil {
		_ = os.Remove(c.fileOf(path))
	}
}

// Unchanged reports whether the file is still the one it was.
func (b Binary) Unchanged() bool {
	now, _, err := look(b.identity.Path)
	return err == nil && now == b.identity
}

// look finds the identity of a regular file, and whether it is one that lasts: without ctime and inode a file may be
// another and look the same.
func look(path string) (identity, bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return identity{}, false, err
	}
	if !info.Mode().IsRegular() {
		return identity{}, false, &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	id := identity{Path: path, Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	return id, id.fill(info), nil
}

func hash(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (c *Catalogue) fileOf(path string) string {
	return filepath.Join(c.dir, "files", sealOf([]byte(path)))
}

func (c *Catalogue) recall(id identity) (Binary, bool) {
	if c == nil {
		return Binary{}, false
	}
	content, err := readSealed(c.fileOf(id.Path))
	if err != nil {
		return Binary{}, false
	}
	var r remembered
	if json.Unmarshal(content, &r) != nil || r.identity != id || !isChecksum(r.Checksum) {
		return Binary{}, false
	}
	touch(c.fileOf(id.Path))
	return Binary{Checksum: r.Checksum, identity: id}, true
}

// remember is a convenience: without it the file is read again the next time.
func (c *Catalogue) remember(b Binary) {
	if c == nil {
		return
	}
	content, err := json.Marshal(remembered{b.identity, b.Checksum})
	if err != nil {
		return
	}
	if writeSealed(c.fileOf(b.identity.Path), content) == nil {
		prune(filepath.Join(c.dir, "files"))
	}
}
