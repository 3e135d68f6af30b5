package lineedit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// historyLimit is how many lines a history keeps; its file holds at most twice as many.
const historyLimit = 1000

// historyBytes is how much of its file is read, from the end.
const historyBytes = 8 << 20

// History is what was typed before, oldest first. One that has a file shares it with others: each has what the others
// had kept when it was opened. The zero value keeps lines for as long as it lasts; nil keeps nothing.
type History struct {
	lines    []string
	file     string
	patience time.Duration // with who holds the file
}

// OpenHistory reads a history from its file, which need not exist yet, and which only its owner can read. Lines of the
// file that cannot be read are passed over.
func OpenHistory(file string) (*History, error) {
	h := &History{file: file, patience: lockTime}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return &History{}, err
	}
	unlock, err := h.lock()
	if err != nil {
		return &History{}, err
	}
	defer unlock()
	text, all, err := tail(file, historyBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return &History{}, err
	}
	lines := parseHistory(text)
	h.lines = lines[max(0, len(lines)-historyLimit):]
	if !all || len(lines) > 2*historyLimit {
		return h, h.rewrite()
	}
	return h, nil
}

// tail reads the last bytes of a file, from the beginning of a line, and reports whether these are all.
func tail(file string, most int64) (text []byte, all bool, err error) {
	if err := regular(file); err != nil {
		return nil, false, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, false, err
	}
	from := max(0, size-most)
	text, err = io.ReadAll(io.NewSectionReader(f, from, size-from))
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, from == 0, err
}

// regular refuses what is there and no file: to open a pipe is to wait for somebody at its other end.
func regular(file string) error {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: file, Err: errors.New("it is no regular file")}
	}
	return err
}

// parseHistory reads a file of one JSON string a line: a line of the history may have several rows.
func parseHistory(text []byte) []string {
	var lines []string
	scan := bufio.NewScanner(bytes.NewReader(text))
	scan.Buffer(nil, len(text)+1)
	for scan.Scan() {
		var line string
		if json.Unmarshal(scan.Bytes(), &line) == nil && line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Lines are all that is kept.
func (h *History) Lines() []string {
	if h == nil {
		return nil
	}
	return slices.Clone(h.lines)
}

// Add keeps a line, and writes it to the file. The line before is not kept twice.
func (h *History) Add(line string) error {
	if h == nil || line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return nil
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > historyLimit {
		h.lines = h.lines[1:]
	}
	if h.file == "" {
		return nil
	}
	unlock, err := h.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := regular(h.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(h.file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	entry := encodeLine(line)
	if !endsWithLine(f) { // what was cut off there must not take this line with it
		entry = append([]byte("\n"), entry...)
	}
	_, err = f.Write(entry)
	return errors.Join(err, f.Close())
}

// endsWithLine reports whether a file is empty or ends with a line feed.
func endsWithLine(f *os.File) bool {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return true
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, size-1)
	return err != nil || last[0] == '\n'
}

func encodeLine(line string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(line) // of a string into memory
	return b.Bytes()
}

// rewrite drops what is too old from the file.
func (h *History) rewrite() error {
	var b bytes.Buffer
	for _, line := range h.lines {
		b.Write(encodeLine(line))
	}
	temporary, err := os.CreateTemp(filepath.Dir(h.file), ".history-*") // for its owner alone
	if err != nil {
		return err
	}
	_, err = temporary.Write(b.Bytes())
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), h.file)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}

// lockTime is how long a line may be held up by another process that writes to the file, or has been stopped doing so.
const lockTime = time.Second

// lock keeps other processes from the file.
func (h *History) lock() (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), h.patience)
	defer cancel()
	if err := regular(h.file + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot lock %s: %w", h.file, err)
	}
	l := flock.New(h.file+".lock", flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", h.file, err)
	}
	return func() { _ = l.Close() }, nil
}

// walk is a way through the history while one line is edited.
type walk struct {
	lines []string
	at    int    // len(lines) for the line that is new
	draft string // that line
}

func (h *History) begin() *walk {
	lines := h.Lines()
	return &walk{lines: lines, at: len(lines)}
}

// older is the line before the one that is shown.
func (w *walk) older(shown string) (string, bool) {
	if w.at == 0 {
		return "", false
	}
	if w.at == len(w.lines) {
		w.draft = shown
	}
	w.at--
	return w.lines[w.at], true
}

// newer is the line after it.
func (w *walk) newer(string) (string, bool) {
	if w.at >= len(w.lines) {
		return "", false
	}
	w.at++
	if w.at == len(w.lines) {
		return w.draft, true
	}
	return w.lines[w.at], true
}
