package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"sync"
)

// tail is what a session has beyond its database: the rows that were reported as kept and are not in it yet. To write
// one takes a write(2), and what was written outlives the process, as what SQLite writes to its own log does; the database
// follows a moment later, in large groups. The file is
//
//	magic, salt, seed    20 bytes
//	frame …              each the rows that were written at once
//
// and the seed is the CRC-32C of the salt and the id of the session; a frame is the length of its content and the CRC-32C
// of the content that begins with the seed, both in four bytes, and the content. So a frame counts when all of it is there,
// or not at all, and in its session alone. Once the database has everything, the next frame is written over the first
// one, under another salt: what is left behind it of those before does not fit that.
//
// A new form of it needs a new version of the database, so that no older build takes it for damage.
type tail struct {
	file *os.File
	id   string // of the session
	at   int64  // where the next frame begins
	salt uint64
	seed uint32
	buf  []byte
	cuts []cut
}

// cut is a place of a buffer where something belongs that was not copied into it.
type cut struct {
	at   int
	bulk []byte
}

const (
	tailSuffix  = "-tail"
	tailMagic   = "agtail1\n"
	tailHead    = len(tailMagic) + 8 + 4
	frameHead   = 8
	directBytes = 32 << 10 // what is larger is written from where it is
	bufferLimit = 1 << 20  // what is larger is not kept for the next frame
)

// castagnoli is made when there is the first session: that takes longer than most of what a start does.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// tailOf is the tail of a session, whose name begins with that of the session as SQLite's own files do.
func tailOf(path string) string { return path + tailSuffix }

// createTail makes an empty tail of a session for its owner alone, in place of one that may be there.
func createTail(path, id string) (*tail, error) {
	f, err := os.OpenFile(tailOf(path), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	t := &tail{file: f, id: id, salt: rand.Uint64()}
	t.reset()
	return t, nil
}

// write adds a frame. When that fails, the tail is what it was.
func (t *tail) write(rows []row) error {
	if err := t.encode(rows); err != nil {
		return err
	}
	at, from := t.at, 0
	put := func(b []byte) (err error) {
		if len(b) > 0 {
			_, err = t.file.WriteAt(b, at)
			at += int64(len(b))
		}
		return err
	}
	var err error
	for _, c := range t.cuts {
		if err = errors.Join(put(t.buf[from:c.at]), put(c.bulk)); err != nil {
			break
		}
		from = c.at
	}
	if err == nil {
		err = put(t.buf[from:])
	}
	if err != nil {
		_ = t.file.Truncate(t.at) // half a frame is none, wherever it ends
		return err
	}
	t.at = at
	t.forget()
	return nil
}

// encode makes a frame in buf and cuts.
func (t *tail) encode(rows []row) error {
	t.forget()
	b := t.buf
	if t.at == 0 {
		b = append(b, tailMagic...)
		b = binary.BigEndian.AppendUint64(b, t.salt)
		b = binary.BigEndian.AppendUint32(b, t.seed)
	}
	head := len(b)
	b = append(b, make([]byte, frameHead)...)
	length := 0
	for i := range rows {
		b = rows[i].appendHead(b)
		if bulk := rows[i].bulk(); len(bulk) > directBytes {
			t.cuts = append(t.cuts, cut{len(b), bulk})
			length += len(bulk)
		} else {
			b = append(b, bulk...)
		}
	}
	t.buf = b
	if length += len(b) - head - frameHead; length > math.MaxUint32 {
		return fmt.Errorf("%d bytes are too many to be written at once", length)
	}
	sum, from := t.seed, head+frameHead
	for _, c := range t.cuts {
		sum = crc32.Update(crc32.Update(sum, castagnoli(), b[from:c.at]), castagnoli(), c.bulk)
		from = c.at
	}
	sum = crc32.Update(sum, castagnoli(), b[from:])
	binary.BigEndian.PutUint32(b[head:], uint32(length))
	binary.BigEndian.PutUint32(b[head+4:], sum)
	return nil
}

// forget makes room for the next frame.
func (t *tail) forget() {
	clear(t.cuts)
	t.cuts = t.cuts[:0]
	if t.buf = t.buf[:0]; cap(t.buf) > bufferLimit {
		t.buf = nil
	}
}

// reset begins anew, now that the database has all of it.
func (t *tail) reset() {
	t.at = 0
	t.salt++
	t.seed = seedOf(t.id, t.salt)
}

// close closes the file, which is left behind for whoever takes it in.
func (t *tail) close() error { return t.file.Close() }

// seedOf is what ties the frames of a tail to their session and their time.
func seedOf(id string, salt uint64) uint32 {
	return crc32.Checksum(append(binary.BigEndian.AppendUint64(nil, salt), id...), castagnoli())
}
