package main

import (
	"context"
	"io"
	"io/fs"
	"syscall"

	"github.com/spf13/afero"
	"golang.org/x/sync/semaphore"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/providers/filesystem/internal/buffer"
	"github.com/agentco/agent/providers/filesystem/internal/ignore"
	"github.com/agentco/agent/providers/filesystem/internal/ledger"
	"github.com/agentco/agent/providers/filesystem/internal/text"
	"github.com/agentco/agent/providers/filesystem/internal/undo"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/jail"
)

const (
	// editLimit is up to which size a file is held in memory: edited, compared. It
	// is read to its end for its hash and the number of its lines even if only some
	// of them are wanted; a larger one is not read further than they go.
	editLimit = 8 << 20
)

// files is the filesystem as operations see it.
type files interface {
	afero.Fs
	// Abs makes a path of a call absolute, given the call's directory.
	Abs(dir, name string) string
	// Resolve returns the one path of a file, without links; it may be missing.
	Resolve(name string) (string, error)
	// Writable returns why nothing may be written at a path, or nil.
	Writable(name string) error
	// RenameNew moves what has a name to another that nothing has.
	RenameNew(from, to string) error
	// Survey counts a tree, or says why it cannot be taken whole.
	Survey(ctx context.Context, name string) (jail.Tree, error)
	// RemoveTree removes a tree and says how much it was.
	RemoveTree(ctx context.Context, name string) (removed int, err error)
}

// workspace is what the operations of a configured provider share.
type workspace struct {
	files     files
	writer    atomicfile.Writer
	seen      ledger.Ledger
	locks     ledger.Locks
	ignores   *ignore.Tree // nil: nothing is ignored
	undos     undo.Store
	memory    *semaphore.Weighted // for the files that are held whole
	maxResult int
	readFirst bool
	roots     string // for messages
	close     func() error
}

// A file that is held whole takes about as much again for its text, and for
// what becomes of it. Together such files get the room of the largest.
const (
	heldTimes = 4
	heldRoom  = heldTimes * editLimit
)

// state is a file as it was found.
type state struct {
	exists bool
	info   fs.FileInfo
	sum    func() string // it may have to wait for it
	bytes  []byte        // nil if the file is larger than editLimit
	digest *digest       // of bytes
	room   int64         // taken from the workspace's memory
}

func (s *state) stamp() ledger.Stamp { return stamp(s.info, s.sum()) }

// load reads the whole of a file that is to be changed. A missing file is a
// state too. The caller frees it.
func (w *workspace) load(ctx context.Context, t target) (s state, err error) {
	f, err := w.files.Open(t.resolved)
	if missing(err) {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			w.free(&s)
		}
	}()
	if s.info, err = f.Stat(); err != nil {
		return s, err
	}
	if s.info.IsDir() {
		return s, &fs.PathError{Op: "read", Path: t.name, Err: syscall.EISDIR}
	}
	s.exists = true
	if s.info.Size() > editLimit {
		hash := newHasher(sdk.Reader(ctx, f))
		_, err = io.Copy(io.Discard, hash)
		s.sum = hash.sum
		return s, err
	}
	room := s.info.Size() * heldTimes
	if err = w.memory.Acquire(ctx, room); err != nil {
		return s, err
	}
	s.room = room
	s.bytes, err = readAll(f, s.info.Size())
	s.digest = newDigest(s.bytes)
	s.sum = s.digest.sum
	return s, err
}

// free lets go of a file's bytes, which nobody may look at any more.
func (w *workspace) free(s *state) {
	if s.bytes != nil {
		s.digest.sum() // which reads them
		buffer.Give(s.bytes)
	}
	w.memory.Release(s.room)
	s.room, s.bytes, s.digest = 0, nil, nil
}

func readAll(f io.Reader, size int64) ([]byte, error) {
	body := buffer.Take(int(size + 1))[:size+1]
	n, err := io.ReadFull(f, body)
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return body[:n], nil
	case nil: // it has grown since
		rest, err := io.ReadAll(io.LimitReader(f, editLimit))
		return append(body, rest...), err
	}
	return nil, err
}

func stamp(info fs.FileInfo, sum string) ledger.Stamp {
	return ledger.Stamp{SHA256: sum, Size: info.Size(), ModTime: info.ModTime()}
}

// binary returns an error if a file with these bytes is not text.
func binary(t target, body []byte, v *text.View) error {
	kind := text.BinaryType(body[:min(len(body), text.SniffLen)])
	if kind == "" && !v.Census.Binary() {
		return nil
	}
	return notText(t, kind, int64(len(body)))
}

func notText(t target, kind string, size int64) error {
	if kind == "" {
		kind = "application/octet-stream"
	}
	return sdk.InvalidArgument("path", "%s is a binary file (%s, %d bytes), not text; use a tool made for its kind", t.name, kind, size).
		With("type", kind).With("size", size)
}
