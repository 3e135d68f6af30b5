// Package summary writes the one line that a person would write about the output of a
// command: what failed, if a test tool said so, else the last line that says anything,
// else the last that is not blank.
package summary

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxLine  = 4 << 10 // what is looked at of one line
	maxWidth = 160     // what is shown of one line
)

// Scanner reads the output of a command while it comes, so that a verdict counts
// everything and not only what is kept in the end. The zero value is ready.
type Scanner struct {
	streams [2]lines // stdout, stderr
	written int64    // in bytes
	tools   tools
}

// Write takes the next bytes of stream 0, the command's stdout, or 1, its stderr.
func (s *Scanner) Write(stream int, p []byte) {
	s.written += int64(len(p))
	s.streams[stream].write(p, s.tools.line)
}

// Line returns the summary of a command that ended with code, or by signal. Nothing may
// be written any more.
func (s *Scanner) Line(code int, signal string) string {
	for i := range s.streams {
		s.streams[i].end(s.tools.line)
	}
	if signal != "" {
		return join("killed by "+signal, s.lastLine(code))
	}
	if verdict, failed := s.tools.verdict(); verdict != "" && (failed || code == 0) {
		return clean([]byte(verdict))
	}
	if fault := clean(s.tools.fault()); fault != "" && code != 0 {
		return fault
	}
	if last := s.lastLine(code); last != "" {
		return last
	}
	if code != 0 {
		return fmt.Sprintf("exit code %d, %s", code, s.blank())
	}
	return s.blank()
}

// blank is what there is to say about output in which there is nothing to read.
func (s *Scanner) blank() string {
	switch s.written {
	case 0:
		return "no output"
	case 1:
		return "1 byte of output, blank"
	default:
		return fmt.Sprintf("%d bytes of output, all blank", s.written)
	}
}

// lastLine is the last line that says anything, or else the last that is not blank. When a
// command fails, that is the last one it complained with.
func (s *Scanner) lastLine(code int) string {
	stdout, stderr := &s.streams[0], &s.streams[1]
	if line := either(code, stdout.line(code), stderr.line(code)); line != "" {
		return line
	}
	return either(code, clean(stdout.bare), clean(stderr.bare))
}

// either is the line of one stream that counts.
func either(code int, stdout, stderr string) string {
	if stderr != "" && (code != 0 || stdout == "") {
		return stderr
	}
	return stdout
}

// IsLine reports whether a summary is nothing but a line of the output, so that it says
// nothing new beside it.
func IsLine(output, summary string) bool {
	for line := range strings.Lines(output) {
		if clean(drawn([]byte(strings.TrimSuffix(line, "\n")))) == summary {
			return true
		}
	}
	return false
}

// line is the last line as it is shown.
func (l *lines) line(code int) string {
	if telling := clean(l.telling); telling != "" && code != 0 {
		return telling
	}
	return clean(l.last)
}

func join(what, line string) string {
	if line == "" {
		return what
	}
	return what + ": " + line
}

// clean makes a line fit to be shown: without escape sequences, on maxWidth bytes.
func clean(line []byte) string {
	text := string(bytes.TrimSpace(bytes.ToValidUTF8(withoutControls(line), []byte("\uFFFD"))))
	if len(text) <= maxWidth {
		return text
	}
	end := maxWidth - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// withoutControls drops escape sequences and other control characters, and what was there
// before the line was begun anew (ESC [ G).
func withoutControls(line []byte) []byte {
	if bytes.IndexFunc(line, isControl) < 0 {
		return line
	}
	var kept []byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == 0x1b:
			sequence := line[i : i+sequenceLength(line[i:])]
			if bytes.Equal(sequence, []byte("\x1b[G")) || bytes.Equal(sequence, []byte("\x1b[1G")) {
				kept = kept[:0]
			}
			i += len(sequence) - 1
		case c == 0xc2 && i+1 < len(line) && line[i+1] >= 0x80 && line[i+1] < 0xa0: // U+0080 to U+009F
			i++
		case c == '\t':
			kept = append(kept, ' ')
		case c >= ' ' && c != 0x7f:
			kept = append(kept, c)
		}
	}
	return kept
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

// sequenceLength is the length of the escape sequence at the start of b: ESC [ up to a
// letter, ESC ] and other strings up to BEL or ESC \, or ESC and one more byte.
func sequenceLength(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	text := strings.IndexByte("]PX^_", b[1]) >= 0
	for i := 2; i < len(b); i++ {
		switch {
		case b[1] == '[' && b[i] >= '@' && b[i] <= '~', text && b[i] == 0x07:
			return i + 1
		case text && b[i] == 0x1b && i+1 < len(b):
			return i + 2
		case b[1] != '[' && !text:
			return 2
		}
	}
	return len(b)
}
