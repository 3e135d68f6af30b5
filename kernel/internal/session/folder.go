package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Folder is where sessions are kept, one file each.
type Folder string

// Summary is a session as a list of them shows it.
type Summary struct {
	Meta
	Path string
	// Size is that of all its files, in bytes.
	Size  int64
	Calls int64
	// First is the first call: its producer, and the payload of its event; empty without one.
	First Event
	// Err is why the file cannot be read; Meta has the ID then, and when it was begun as far as that says.
	Err error
}

// List lists all sessions, the newest first. A folder that is not there has none.
func (f Folder) List(ctx context.Context) ([]Summary, error) {
	ids, err := f.ids()
	if err != nil {
		return nil, err
	}
	all := make([]Summary, len(ids))
	for i, id := range ids {
		all[i] = f.summary(ctx, id)
	}
	return all, nil
}

// ids are those of all sessions, the newest first: an ULID begins with its time.
func (f Folder) ids() (ids []string, err error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the sessions: %w", err)
	}
	for _, e := range entries {
		// To open anything but a file, such as a pipe, might never end.
		if id, ok := strings.CutSuffix(e.Name(), extension); ok && isID(id) && isFile(f.Path(id), e.Type()) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(b, a) })
	return ids, nil
}

// isFile reports whether what a folder has under a path is a file, or a link to one.
func isFile(path string, kind fs.FileMode) bool {
	if kind&fs.ModeSymlink == 0 {
		return kind.IsRegular()
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Path is the file of a session.
func (f Folder) Path(id string) string { return filepath.Join(string(f), id+extension) }

func (f Folder) summary(ctx context.Context, id string) Summary {
	s := Summary{Path: f.Path(id), Size: sizeOf(f.Path(id)), Meta: Meta{ID: id, Started: idTime(id)}}
	file, err := read(ctx, s.Path)
	if err != nil {
		s.Err = err
		return s
	}
	defer file.Close()
	s.Meta = file.meta
	s.Err = errors.Join(
		file.takeTail(ctx),
		file.db.QueryRowContext(ctx, "SELECT count(*) FROM events WHERE kind = 'tool_call'").Scan(&s.Calls),
		file.first(ctx, &s.First))
	return s
}

// sizeOf is that of all files of a session.
func sizeOf(path string) (size int64) {
	for _, suffix := range append([]string{tailSuffix}, journals...) {
		if info, err := os.Stat(path + suffix); err == nil {
			size += info.Size()
		}
	}
	return size
}

// first finds the first call.
func (f *File) first(ctx context.Context, e *Event) error {
	for first, err := range query(ctx, f.db, scanEvent, eventColumns+" WHERE kind = 'tool_call' ORDER BY sequence LIMIT 1") {
		*e = first
		return err
	}
	return nil
}

// NotFoundError is a word that stands for no session, or for several.
type NotFoundError struct {
	Word string
	// Among are those that it may stand for: all sessions when it fits none.
	Among []string
	// Several is set when it fits more than one.
	Several bool
}

func (e *NotFoundError) Error() string {
	switch {
	case e.Several:
		return fmt.Sprintf("%q fits %d sessions: %s; write more of it", e.Word, len(e.Among), strings.Join(e.Among[:min(5, len(e.Among))], ", "))
	case len(e.Among) == 0:
		return "there are no sessions yet"
	default:
		return fmt.Sprintf("there is no session %q; 'agent session list' lists them", e.Word)
	}
}

// Last is the word for the newest session.
const Last = "last"

// Find finds a session by its id, by the beginning or the end of it, or by Last. The error is a *NotFoundError when there is none.
func (f Folder) Find(word string) (path string, err error) {
	ids, err := f.ids()
	if err != nil {
		return "", err
	}
	if word == Last && len(ids) > 0 {
		return f.Path(ids[0]), nil
	}
	part := strings.ToUpper(word)
	var fitting []string
	for _, id := range ids {
		if strings.HasPrefix(id, part) || strings.HasSuffix(id, part) {
			fitting = append(fitting, id)
		}
	}
	switch {
	case len(fitting) == 1:
		return f.Path(fitting[0]), nil
	case len(fitting) > 1:
		return "", &NotFoundError{Word: word, Among: fitting, Several: true}
	default:
		return "", &NotFoundError{Word: word, Among: ids}
	}
}

// journals are the endings of the files that SQLite has for a session, the session itself last.
var journals = []string{"-wal", "-shm", "-journal", ""}

// Remove deletes a session for good, with what was kept of it when it was damaged, unless a process writes it: then it fails with ErrRunning and deletes nothing.
func (f Folder) Remove(id string) error {
	path := f.Path(id)
	lock, free, err := seize(path)
	if err != nil {
		return fmt.Errorf("cannot delete session %s: %w", id, err)
	}
	if !free {
		return ErrRunning
	}
	damaged, _ := filepath.Glob(path + corrupt + "*") // the pattern is well-formed
	for _, kept := range damaged {
		err = errors.Join(err, remove(kept))
	}
	return errors.Join(err, remove(tailOf(path)), removeDatabase(path), release(lock))
}

// ErrRunning is the answer about a session that a process still writes.
var ErrRunning = errors.New("the session is running")

// Old are the sessions of a list that are older than a duration, zero for any age, without the newest keep of them. One
// that runs is never old.
func Old(all []Summary, age time.Duration, keep int, now time.Time) (old []Summary) {
	for i, s := range all {
		if i < keep || s.Status == Running || now.Sub(s.Started) < age {
			continue
		}
		old = append(old, s)
	}
	return old
}
