// Package textfile reads one file below a root folder and replaces it in one stroke.
//
// Every access goes through os.Root, so neither "..", nor a link that leads out, nor a folder swapped for a link in
// mid-flight reaches anything outside. A link that stays inside is followed and the file it leads to is replaced.
package textfile

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/refusal"
)

// MaxSize is the largest file that is read: far above any changelog, far below what would hurt.
const MaxSize = 32 << 20

// File is a file as it was when it was opened. It holds nothing open.
type File struct {
	Name    string // as it was asked for
	Path    string // links resolved, with slashes, from the root
	Content []byte

	root string
	mode fs.FileMode
}

// Open reads the file with that name, relative to root.
func Open(root, name string) (*File, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, refusal.Missing("no-changelog", "cannot open %s: %w", root, err)
	}
	defer dir.Close()
	f := &File{Name: name, root: root}
	if f.Path, err = resolve(dir, name); err == nil {
		f.Content, f.mode, err = read(dir, f.Path)
	}
	return f, explain(err, root, name)
}

// maxLinks is how many links a path may lead through, as in the kernel of Linux.
const maxLinks = 40

// resolve follows the links in name and returns the path of the file from the root, with slashes. What it found is no
// promise: whoever opens the path goes through dir again.
func resolve(dir *os.Root, name string) (string, error) {
	var done []string
	rest := strings.Split(filepath.ToSlash(name), "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && len(done) == 0:
			return "", errOutside
		case part == "..":
			done = done[:len(done)-1]
			continue
		}
		at := path.Join(append(done[:len(done):len(done)], part)...)
		target, err := readLink(dir, at)
		switch {
		case err != nil:
			return "", err
		case target == "":
			done = append(done, part)
			continue
		case filepath.IsAbs(target):
			return "", errOutside
		}
		if links++; links > maxLinks {
			return "", errLoop
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	if len(done) == 0 {
		return "", errKind // the root itself
	}
	return path.Join(done...), nil
}

// readLink returns where a link leads, "" for anything that is no link.
func readLink(dir *os.Root, at string) (string, error) {
	info, err := dir.Lstat(filepath.FromSlash(at))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", err
	}
	return dir.Readlink(filepath.FromSlash(at))
}

var (
	errOutside = errors.New("it leads out of the repository, or by an absolute link")
	errLoop    = errors.New("its links go in circles")
	errKind    = errors.New("it is no regular file")
	errSize    = fmt.Errorf("it is larger than %d MiB", MaxSize>>20)
)

func read(dir *os.Root, name string) ([]byte, fs.FileMode, error) {
	// A named pipe would block an open that does not ask for the kind first.
	info, err := dir.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errKind
	}
	file, err := dir.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errKind
	}
	content, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if len(content) > MaxSize {
		return nil, 0, errSize
	}
	return content, info.Mode(), err
}

func explain(err error, root, name string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return refusal.Missing("no-changelog", "there is no %s in %s: create it, or set changelog_path", name, root)
	case errors.Is(err, syscall.ENOTDIR):
		return refusal.Missing("no-changelog", "there is no %s in %s: create it, or set changelog_path (%w)", name, root, err)
	case errors.Is(err, errOutside):
		return refusal.Deny("changelog-outside", "cannot read %s in %s: %w; set changelog_path to a file inside", name, root, err)
	case errors.Is(err, errKind), errors.Is(err, errSize), errors.Is(err, errLoop):
		return refusal.New("unreadable-changelog", "cannot read %s in %s: %w", name, root, err)
	}
	return fmt.Errorf("cannot read %s in %s: %w", name, root, err)
}

// Replace writes new content if the file still holds what File says, and remembers it as the content. Whoever reads the
// file meanwhile sees the old bytes or the new ones. A failure leaves the file alone, and so does the end of ctx up to the
// moment of the swap: then the error is ctx's.
func (f *File) Replace(ctx context.Context, content []byte) error {
	dir, err := os.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer dir.Close()
	temp, err := f.stage(dir, content)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", f.Name, err)
	}
	if err := f.swap(ctx, dir, temp); err != nil {
		_ = dir.Remove(temp)
		return err
	}
	f.Content = content
	return nil
}

// Reread reads the file anew, remembers what it holds, and reports whether that is something else than before.
func (f *File) Reread() (changed bool, err error) {
	dir, err := os.OpenRoot(f.root)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	now, _, err := read(dir, f.Path)
	if err != nil {
		return false, explain(err, f.root, f.Name)
	}
	changed = !bytes.Equal(now, f.Content)
	f.Content = now
	return changed, nil
}

// stage writes content to a new file beside the old one.
func (f *File) stage(dir *os.Root, content []byte) (string, error) {
	old := filepath.FromSlash(f.Path)
	clearStale(dir, old)
	temp := filepath.Join(filepath.Dir(old), "."+filepath.Base(old)+"."+rand.Text())
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(f.mode.Perm()), file.Sync(), file.Close())
	if err != nil {
		_ = dir.Remove(temp)
	}
	return temp, err
}

// staleAfter is far longer than a new file waits for its swap.
const staleAfter = time.Minute

// clearStale removes what a killed process staged and never swapped in.
func clearStale(dir *os.Root, old string) {
	parent, err := dir.Open(filepath.Dir(old))
	if err != nil {
		return
	}
	defer parent.Close()
	names, _ := parent.Readdirnames(-1)
	for _, name := range names {
		random, ok := strings.CutPrefix(name, "."+filepath.Base(old)+".")
		if !ok || len(random) != len(rand.Text()) {
			continue
		}
		at := filepath.Join(filepath.Dir(old), name)
		if info, err := dir.Lstat(at); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > staleAfter {
			_ = dir.Remove(at)
		}
	}
}

// swap puts the new file in the place of the old one.
func (f *File) swap(ctx context.Context, dir *os.Root, temp string) error {
	now, _, err := read(dir, f.Path)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", f.Name, err)
	}
	if !bytes.Equal(now, f.Content) {
		return refusal.New("changed-underneath", "cannot write %s: it was changed by someone else meanwhile; look at it and try again", f.Name)
	}
	keepOwner(dir, filepath.FromSlash(f.Path), temp)
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := dir.Rename(temp, filepath.FromSlash(f.Path)); err != nil {
		return fmt.Errorf("cannot write %s: %w", f.Name, err)
	}
	if parent, err := dir.Open(filepath.Dir(filepath.FromSlash(f.Path))); err == nil {
		_ = parent.Sync() // the rename stands; only a power cut could still take it back
		_ = parent.Close()
	}
	return nil
}
