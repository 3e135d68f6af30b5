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

// Close closes the file and returns its name: empty if everything is in Text, or if it
// could not be written, which is the error.
func (o *Output) Close() (path string, err error) {
	if !o.fits() {
		o.begin()
	}
	if o.file == nil {
		return "", o.err
	}
	_, gone := os.Stat(o.file.Name()) // the command may have removed it
	if err := errors.Join(o.err, o.file.Close(), gone); err != nil {
		return "", errors.Join(fmt.Errorf("keep the output: %w", err), os.Remove(o.file.Name()))
	}
	return o.file.Name(), nil
}

// Text is the output as valid UTF-8 of at most limit bytes. Of a longer one it is the
// beginning and the end, with a line between them that counts the bytes left out.
func (o *Output) Text() string {
	if o.fits() {
		text, _ := first(o.head, o.limit)
		return text
	}
	room := max(0, o.limit-len(cutMark(o.total)))
	head, used := first(o.head, room/2)
	text, kept := last(o.end(used), room-room/2)
	return head + cutMark(o.total-int64(used+kept)) + text
}

// fits reports whether the text needs no cut. Bytes that are not UTF-8 grow when they
// are replaced, so fewer than limit may already be too many.
func (o *Output) fits() bool {
	_, used := first(o.head, o.limit)
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

// first returns as many characters of b as fit into limit bytes once what is not UTF-8
// is replaced, and how many bytes of b they are.
func first(b []byte, limit int) (text string, used int) {
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

// last is first from the other end.
func last(b []byte, limit int) (text string, used int) {
	length := 0
	for used < len(b) {
		r, size := utf8.DecodeLastRune(b[:len(b)-used])
		if length += utf8.RuneLen(r); length > limit {
			break
		}
		used += size
	}
	text, _ = first(b[len(b)-used:], limit)
	return text, used
}
