// Package capture keeps what a command has printed: the beginning and the end in memory,
// and the whole of it in a file once that is more than a result may carry.
package capture

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// MaxFile is the most that is kept on disk of one command, so that an endless one does
// not fill it.
const MaxFile = 512 << 20

// Output keeps the output of one command. It is not safe for concurrent use.
type Output struct {
	limit int
	open  func() (*os.File, error)

	head  []byte // the first bytes, up to limit
	tail  []byte // the latest bytes once head is full, up to twice limit
	total int64

	file    *os.File
	written int
	err     error
}

// New returns an empty output of which Text shows limit bytes. It calls open for a file
// when there is more, at most once.
func New(limit int, open func() (*os.File, error)) *Output {
	return &Output{limit: limit, open: open}
}

// Write appends p. It never fails: what goes wrong with the file is for Close to say.
func (o *Output) Write(p []byte) (int, error) {
	o.total += int64(len(p))
	rest := p
	if room := o.limit - len(o.head); room > 0 {
		n := min(room, len(p))
		o.head, rest = append(o.head, p[:n]...), p[n:]
	}
	if len(rest) > 0 {
		o.overflow(rest)
	}
	return len(p), nil
}

// overflow takes what does not fit into head.
func (o *Output) overflow(p []byte) {
	o.begin()
	o.save(p)
	o.tail = append(o.tail, p[max(0, len(p)-o.limit):]...)
	if excess := len(o.tail) - o.limit; excess > o.limit {
		o.tail = append(o.tail[:0], o.tail[excess:]...)
	}
}

// begin opens the file with what came before it was needed.
func (o *Output) begin() {
	if o.file != nil || o.err != nil {
		return
	}
	if o.file, o.err = o.open(); o.err == nil {
		o.save(o.head)
	}
}

func (o *Output) save(p []byte) {
	if o.err != nil {
		return
	}
	var n int
	n, o.err = o.file.Write(p[:min(len(p), MaxFile-o.written)])
	o.written += n
}

// Total is how many bytes were written.
func (o *Output) Total() int64 { return o.total }

// Path is the name of the file: empty if everything is in Text, or if it could not be
// written, which is the error.
func (o *Output) Path() (string, error) {
	if !o.fits() {
		o.begin()
	}
	if o.file == nil {
		return "", o.err
	}
	_, gone := os.Stat(o.file.Name()) // the command may have removed it
	if err := errors.Join(o.err, gone); err != nil {
		return "", fmt.Errorf("keep the output: %w", err)
	}
	return o.file.Name(), nil
}

// Close closes the file and returns what Path does. A file that is not whole is removed.
func (o *Output) Close() (path string, err error) {
	if path, err = o.Path(); o.file == nil {
		return path, err
	}
	if err = errors.Join(err, o.file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(o.file.Name()))
	}
	return path, nil
}

// Read returns at most n bytes of the output from offset on, and where they begin. That is
// later than offset if what was there is kept nowhere: it is more than MaxFile, or the file
// could not be written. The bytes are good until the next Write.
func (o *Output) Read(offset int64, n int) (p []byte, start int64) {
	if held := int64(o.written); o.file != nil && offset < held {
		p = make([]byte, min(int64(n), held-offset))
		if got, _ := o.file.ReadAt(p, offset); got > 0 {
			return p[:got], offset
		}
	}
	if kept := int64(len(o.head)); offset < kept {
		return o.head[offset:min(offset+int64(n), kept)], offset
	}
	start = max(offset, o.total-int64(len(o.tail)))
	p = o.tail[int64(len(o.tail))-(o.total-start):]
	return p[:min(n, len(p))], start
}

// Text is the output as valid UTF-8 of at most limit bytes. Of a longer one it is the
// beginning and the end, with a line between them that counts the bytes left out.
func (o *Output) Text() string {
	if o.fits() {
		text, _ := First(o.head, o.limit)
		return text
	}
	room := max(0, o.limit-len(cutMark(o.total)))
	head, used := First(o.head, room/2)
	text, kept := last(o.end(used), room-room/2)
	return head + cutMark(o.total-int64(used+kept)) + text
}

// fits reports whether the text needs no cut. Bytes that are not UTF-8 grow when they
// are replaced, so fewer than limit may already be too many.
func (o *Output) fits() bool {
	_, used := First(o.head, o.limit)
	return int64(used) == o.total
}

func cutMark(n int64) string { return fmt.Sprintf("\n[... %d bytes cut ...]\n", n) }

// end is the latest part of the output that is in memory and not among its first used
// bytes.
func (o *Output) end(used int) []byte {
	if len(o.tail) >= o.limit {
		return o.tail
	}
	return append(append([]byte{}, o.head[used:]...), o.tail...)
}

// First returns as many characters of b as fit into limit bytes once what is not UTF-8
// is replaced, and how many bytes of b they are.
func First(b []byte, limit int) (text string, used int) {
	var s strings.Builder
	for used < len(b) {
		r, size := utf8.DecodeRune(b[used:])
		if s.Len()+utf8.RuneLen(r) > limit {
			break
		}
		s.WriteRune(r)
		used += size
	}
	return s.String(), used
}

// last is First from the other end.
func last(b []byte, limit int) (text string, used int) {
	length := 0
	for used < len(b) {
		r, size := utf8.DecodeLastRune(b[:len(b)-used])
		if length += utf8.RuneLen(r); length > limit {
			break
		}
		used += size
	}
	text, _ = First(b[len(b)-used:], limit)
	return text, used
}
