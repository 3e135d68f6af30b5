package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Batch is changes of several files that happen together or not at all. Staging
// them touches nothing but temporary files; [Batch.Commit] then exchanges one
// file after the other, having noted in the journal how to take that back, so
// that also a killed process leaves all files old or, seldom, all new.
//
// It is used by one goroutine. The caller ends it with [Batch.Close].
type Batch struct {
	w     *Writer
	steps []*step
	made  []string // directories, the lowest first
	stuck bool     // it could be neither finished nor taken back
}

// step is one file of a batch.
type step struct {
	*staged
	aside   string // what was there, while the batch may fail
	oldNote func()
	size    int64 // of the new file, by which it is known again
	modTime time.Time
	removes bool // the file
	done    bool
}

// Begin starts a batch.
func (w *Writer) Begin() *Batch { return &Batch{w: w} }

// Made adds directories that were made for the batch, the lowest first. They go
// with it if it fails.
func (b *Batch) Made(dirs []string) { b.made = append(slices.Clone(dirs), b.made...) }

// Write stages the new content of a file.
func (b *Batch) Write(ctx context.Context, c Change) error {
	s, err := b.w.stage(ctx, c)
	if err != nil {
		return err
	}
	s.Content = nil // it may hold as much as the file
	st := &step{staged: s, oldNote: func() {}}
	b.steps = append(b.steps, st)
	info, err := s.files.Stat(s.fresh)
	if err == nil {
		st.size, st.modTime = info.Size(), info.ModTime()
	}
	return err
}

// Remove stages the removal of a file, or of a link itself.
func (b *Batch) Remove(name string, guard func() error) error {
	files, release, err := Pin(b.w.FS, filepath.Dir(name))
	if err != nil {
		return err
	}
	s := &staged{Change: Change{Name: name, Guard: guard}, files: files, release: release, note: func() {}, existed: true}
	b.steps = append(b.steps, &step{staged: s, oldNote: func() {}, removes: true})
	return nil
}

// HalfError says that a batch failed and could not be taken back. The files
// named hold their new content until the next process takes them back.
type HalfError struct {
	Names []string
	Err   error
}

// Error says what is wrong.
func (e *HalfError) Error() string {
	return fmt.Sprintf("%v; these files could not be changed back, which the next start tries again: %s", e.Err, strings.Join(e.Names, ", "))
}

// Unwrap gives the cause.
func (e *HalfError) Unwrap() error { return e.Err }

// Commit checks every guard and makes all changes. After an error nothing has
// changed, unless it is a [*HalfError].
func (b *Batch) Commit(ctx context.Context) error {
	for _, s := range b.steps {
		if err := s.keepOld(ctx, b.w.Journal); err != nil {
			return err
		}
	}
	for _, s := range b.steps {
		if err := s.claim(ctx); err != nil {
			return err
		}
		if s.Guard != nil {
			if err := s.Guard(); err != nil {
				return err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	committed, err := b.w.Journal.commit(b)
	if err != nil {
		return fmt.Errorf("note the change: %w", err)
	}
	for _, s := range b.steps {
		if err := s.carryOut(); err != nil {
			return b.takeBack(err, committed)
		}
	}
	if err := committed(); err != nil {
		return b.takeBack(fmt.Errorf("note the change: %w", err), committed)
	}
	b.made = nil
	return nil
}

// keepOld sets aside what a write replaces, as a second name of it if possible.
// What is removed is set aside by the removal itself.
func (s *step) keepOld(ctx context.Context, j *Journal) error {
	if !s.existed {
		return nil
	}
	s.aside = TempIn(filepath.Dir(s.Name))
	s.oldNote = j.begin(s.aside)
	if s.removes {
		return nil
	}
	if l, ok := s.files.(interface{ Link(from, to string) error }); ok && l.Link(s.Name, s.aside) == nil {
		return nil
	}
	f, err := s.files.Open(s.Name)
	if err != nil {
		return err
	}
	err = write(ctx, s.files, s.aside, Change{Content: io.Reader(f)}, f)
	return errors.Join(err, f.Close())
}

func (s *step) carryOut() error {
	var err error
	if s.removes {
		err = s.files.Rename(s.Name, s.aside)
	} else {
		err = s.place()
	}
	s.done = err == nil
	return err
}

// takeBack restores what the steps so far have changed, the last one first.
func (b *Batch) takeBack(cause error, committed func() error) error {
	var names []string
	for _, s := range slices.Backward(b.steps) {
		if !s.done {
			continue
		}
		var err error
		if s.aside == "" {
			err = discard(s.files, s.Name)
		} else {
			err = s.files.Rename(s.aside, s.Name)
		}
		if err != nil {
			names, cause = append(names, s.Name), errors.Join(cause, err)
			continue
		}
		s.done, s.aside = false, ""
		s.oldNote()
		s.oldNote = func() {}
	}
	if len(names) > 0 {
		b.stuck = true
		b.w.Journal.keepForNext()
		slices.Reverse(names)
		return &HalfError{Names: names, Err: cause}
	}
	// Nothing is left to be taken back: a note that stays undone does no harm.
	_ = committed()
	return cause
}

// Close removes what is not needed any more: after a commit the old files, else
// the new ones. It may be called whatever happened.
func (b *Batch) Close() error {
	var err error
	for _, s := range b.steps {
		if s.aside != "" && !b.stuck {
			if failed := discard(s.files, s.aside); failed != nil {
				err = errors.Join(err, failed)
			} else {
				s.oldNote()
			}
		}
		err = errors.Join(err, s.close())
	}
	b.steps = nil
	for _, dir := range b.made {
		if failed := b.w.FS.Remove(dir); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			break // someone else has put something there
		}
	}
	b.made = nil
	return err
}
