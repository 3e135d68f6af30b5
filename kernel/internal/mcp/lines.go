package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// longestMessage bounds one message of a client: the 64 MiB that a provider takes, and what JSON adds to it, would have
// to be held several times over.
const longestMessage = 32 << 20

// lines reads messages, one a line.
type lines struct{ in *bufio.Reader }

var errTooLong = fmt.Errorf("a message of more than %d MiB", longestMessage>>20)

// next returns the next line that is not blank. After errTooLong, which means that a line was skipped, there may be more.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// line reads up to a line feed, or to the end of the input: what is unfinished there is a line, too.
func (l *lines) line() ([]byte, error) {
	var line []byte
	size := 0
	for {
		part, err := l.in.ReadSlice('\n')
		if size += len(part); size <= longestMessage {
			line = append(line, part...)
		} else {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (size == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		case size > longestMessage:
			return nil, errTooLong
		default:
			return line, nil
		}
	}
}
