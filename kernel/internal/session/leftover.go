package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
)

// leftover is what a tail has. Rows that the database has too are among them.
type leftover struct {
	rows []row
	// damage says what is wrong with it, empty for nothing. That its last frame is torn is not: nobody was told that it
	// is there.
	damage string
}

// tailMost is how long a tail may be, in bytes, that is read: far more than one becomes.
const tailMost = 2 << 30

// hasTail reports whether a session has a tail, and its size. What is no file is none.
func hasTail(path string) (size int64, is bool, err error) {
	info, err := os.Lstat(tailOf(path))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, nil
}

// readTail reads the tail of a session, if it has one. Damage is only looked for when nobody writes it: what is being
// written looks like anything.
func readTail(path, id string, written bool) (leftover, error) {
	size, is, err := hasTail(path)
	if err != nil || !is {
		return leftover{}, err
	}
	if size > tailMost {
		return leftover{damage: fmt.Sprintf("its tail has %d bytes, which none becomes", size)}, nil
	}
	content, err := os.ReadFile(tailOf(path))
	if errors.Is(err, fs.ErrNotExist) {
		return leftover{}, nil
	}
	return parseTail(content, id, written), err
}

// parseTail reads frames until the first that is not whole. That one is damaged when a whole one follows it, which is
// read too, unless the tail is being written.
func parseTail(content []byte, id string, written bool) (l leftover) {
	if len(content) < tailHead || len(bytes.Trim(content[:tailHead], "\x00")) == 0 {
		return l // it was not begun
	}
	seed := seedOf(id, binary.BigEndian.Uint64(content[len(tailMagic):]))
	if string(content[:len(tailMagic)]) != tailMagic || binary.BigEndian.Uint32(content[tailHead-4:]) != seed {
		if !written {
			l.damage = "its tail does not begin as one of this session"
		}
		return l
	}
	for at := tailHead; at < len(content); {
		rows, size, whole := frameAt(content[at:], seed)
		if whole {
			l.rows = append(l.rows, rows...)
			at += size
			continue
		}
		if written {
			return l
		}
		next := nextFrame(content, at+1, seed)
		if next < 0 {
			return l
		}
		if l.damage == "" {
			l.damage = fmt.Sprintf("its tail is not what was written from byte %d to %d", at, next)
		}
		at = next
	}
	return l
}

// frameAt reads the frame that content begins with.
func frameAt(content []byte, seed uint32) (rows []row, size int, whole bool) {
	body, sum, ok := frameOf(content)
	if !ok || crc32.Update(seed, castagnoli(), body) != sum {
		return nil, 0, false
	}
	rows, err := decodeRows(body)
	return rows, frameHead + len(body), err == nil
}

// frameOf finds the content of a frame, if there may be one.
func frameOf(content []byte) (body []byte, sum uint32, ok bool) {
	if len(content) < frameHead {
		return nil, 0, false
	}
	length := int64(binary.BigEndian.Uint32(content))
	if length == 0 || length > int64(len(content)-frameHead) {
		return nil, 0, false
	}
	return content[frameHead : frameHead+int(length)], binary.BigEndian.Uint32(content[4:]), true
}

// searchFactor bounds the search for the next frame, in lengths of what is searched.
const searchFactor = 8

// nextFrame is where the next whole frame begins, -1 for none. It is the end when there is too much to search.
func nextFrame(content []byte, from int, seed uint32) int {
	left := searchFactor * (len(content) - from)
	for at := from; at < len(content)-frameHead; at++ {
		body, _, ok := frameOf(content[at:])
		if !ok || !plausible(body) {
			continue
		}
		if left -= len(body); left < 0 {
			return len(content)
		}
		if _, _, whole := frameAt(content[at:], seed); whole {
			return at
		}
	}
	return -1
}

// plausible reports whether content may begin with a row, at a price that can be paid for each byte.
func plausible(content []byte) bool {
	if content[0] != rowEvent && content[0] != rowOutput {
		return false
	}
	d := decoder{rest: content[1:]}
	d.number()
	year := d.time().Year()
	return !d.bad && year >= 2000 && year < 2200
}
