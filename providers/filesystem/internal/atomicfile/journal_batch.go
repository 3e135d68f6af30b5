package atomicfile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/afero"
)

// A batch is noted as one line for each of its steps and then one that it
// begins. A line that it is done follows when all files are exchanged. In
// between it is for the next process to take it back. Directories that are made
// for something are noted as lines of their own and done when that is there.
const (
	stepLine   = "step"
	makeLine   = "made"
	beginLine  = "begin"
	finishLine = "done"
)

// commit notes that b begins, and returns what notes that it is done.
func (j *Journal) commit(b *Batch) (done func() error, err error) {
	if j == nil {
		return func() error { return nil }, nil
	}
	id := rand.Text()
	var lines strings.Builder
	for _, s := range b.steps {
		fmt.Fprintln(&lines, stepLine, id, strconv.Quote(s.Name), strconv.Quote(s.fresh), strconv.Quote(s.aside), s.size, s.modTime.UnixNano())
	}
	fmt.Fprintln(&lines, beginLine, id)
	if err := j.append(lines.String()); err != nil {
		return nil, err
	}
	return func() error { return j.append(fmt.Sprintln(finishLine, id)) }, nil
}

// Making notes directories that are about to be made and returns what to call
// when it is decided whether they stay. Until then they go with this process, as
// far as they are empty.
func (j *Journal) Making(dirs []string) (done func()) {
	if j == nil || len(dirs) == 0 {
		return func() {}
	}
	id := rand.Text()
	var lines strings.Builder
	for _, dir := range dirs {
		fmt.Fprintln(&lines, makeLine, id, strconv.Quote(dir))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	n, _ := j.file.WriteString(lines.String())
	j.length += n
	j.active++
	return func() {
		j.mu.Lock()
		n, _ := fmt.Fprintln(j.file, finishLine, id)
		j.length += n
		j.mu.Unlock()
		j.end()
	}
}

// append adds lines for good: they reach the disk before what they are about.
func (j *Journal) append(lines string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	n, err := j.file.WriteString(lines)
	j.length += n
	return errors.Join(err, j.file.Sync())
}

// keepForNext leaves the journal to the next process.
func (j *Journal) keepForNext() {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept = true
}

// noted is what a journal says of a batch.
type noted struct {
	steps []notedStep
	made  []string
	begun bool
}

type notedStep struct {
	name, fresh, old string
	size, modTime    int64
}

// batchLine reads one line about a batch into found. Others are not its matter.
func batchLine(line string, found map[string]*noted) {
	kind, rest, _ := strings.Cut(line, " ")
	id, rest, _ := strings.Cut(rest, " ")
	b := found[id]
	if b == nil {
		b = &noted{}
	}
	switch kind {
	case stepLine:
		if s, ok := parseStep(rest); ok {
			b.steps = append(b.steps, s)
			found[id] = b
		}
	case makeLine:
		if dir, err := strconv.Unquote(rest); err == nil {
			b.made = append(b.made, dir)
			found[id] = b
		}
	case beginLine:
		b.begun = true
	case finishLine:
		delete(found, id)
	}
}

func parseStep(line string) (s notedStep, ok bool) {
	for _, into := range []*string{&s.name, &s.fresh, &s.old} {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return s, false
		}
		if *into, err = strconv.Unquote(quoted); err != nil {
			return s, false
		}
		line = strings.TrimPrefix(line[len(quoted):], " ")
	}
	n, err := fmt.Sscan(line, &s.size, &s.modTime)
	temps := (s.fresh == "" || IsTemp(s.fresh)) && (s.old == "" || IsTemp(s.old))
	return s, n == 2 && err == nil && temps
}

// takeBack undoes the batch as far as it came, the last step first. What others
// have changed since is theirs and stays.
func (b *noted) takeBack(files afero.Fs) error {
	if !b.begun {
		return nil
	}
	var err error
	for _, s := range slices.Backward(b.steps) {
		err = errors.Join(err, s.takeBack(files))
	}
	return err
}

// removeMade removes directories, the lowest first. One that is gone, or in
// which someone has put something, is not its matter any more.
func removeMade(files afero.Fs, dirs []string) {
	slices.SortFunc(dirs, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, dir := range dirs {
		if info, err := lstat(files, dir); err == nil && info.IsDir() {
			_ = files.Remove(dir)
		}
	}
}

func (s notedStep) takeBack(files afero.Fs) error {
	now, err := lstat(files, s.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := err == nil
	if s.fresh == "" { // a removal: it was set aside
		if there {
			return nil
		}
		return gone(files.Rename(s.old, s.name))
	}
	if _, err := lstat(files, s.fresh); err == nil || !there || now.Size() != s.size || now.ModTime().UnixNano() != s.modTime {
		return nil // it was not exchanged yet, or someone has changed it since
	}
	if s.old == "" {
		return gone(files.Remove(s.name))
	}
	return gone(files.Rename(s.old, s.name))
}

// gone is err, unless it says that there is nothing to be done.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func lstat(files afero.Fs, name string) (fs.FileInfo, error) {
	if l, ok := files.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(name)
		return info, err
	}
	return files.Stat(name)
}
