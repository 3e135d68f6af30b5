package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"syscall"

	"github.com/spf13/afero"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/providers/filesystem/internal/ledger"
	"github.com/agentco/agent/providers/filesystem/internal/text"
	"github.com/agentco/agent/sdk"
)

// wholeLimit is up to which size a file is read to its end: hashed, counted,
// edited, compared.
const wholeLimit = 64 << 20

// files is the filesystem as operations see it.
type files interface {
	afero.Fs
	// Abs makes a path of a call absolute, given the call's directory.
	Abs(dir, name string) string
	// Resolve returns the one path of a file, without links; it may be missing.
	Resolve(name string) (string, error)
	// Writable returns why nothing may be written at a path, or nil.
	Writable(name string) error
}

// workspace is what the operations of a configured provider share.
type workspace struct {
	files     files
	writer    atomicfile.Writer
	seen      ledger.Ledger
	locks     ledger.Locks
	maxResult int
	readFirst bool
	roots     string // for messages
	close     func() error
}

// target is a file a call works on.
type target struct {
	name     string // as the caller wrote it
	path     string // absolute
	resolved string // without links: the key of ledger and locks
}

func (w *workspace) target(call *sdk.Call[config], doing, name string) (target, error) {
	if name == "" {
		return target{}, sdk.InvalidArgument("path", "is empty; name a file or directory")
	}
	t := target{name: name, path: w.files.Abs(call.Dir, name)}
	resolved, err := w.files.Resolve(t.path)
	if err != nil {
		return target{}, w.explain(err, doing, t)
	}
	t.resolved = resolved
	return t, nil
}

// state is a file as it was found.
type state struct {
	exists bool
	info   fs.FileInfo
	stamp  ledger.Stamp
	bytes  []byte // nil if the file is larger than wholeLimit
}

// load reads the whole of a file that is to be changed. A missing file is a
// state too.
func (w *workspace) load(t target) (s state, err error) {
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
	}()
	if s.info, err = f.Stat(); err != nil {
		return state{}, err
	}
	if s.info.IsDir() {
		return state{}, &fs.PathError{Op: "read", Path: t.name, Err: syscall.EISDIR}
	}
	s.exists = true
	hash := sha256.New()
	if s.info.Size() > wholeLimit {
		_, err = io.Copy(hash, f)
	} else if s.bytes, err = readAll(f, s.info.Size()); err == nil {
		hash.Write(s.bytes)
	}
	s.stamp = stamp(s.info, hex.EncodeToString(hash.Sum(nil)))
	return s, err
}

func readAll(f io.Reader, size int64) ([]byte, error) {
	body := make([]byte, size+1)
	n, err := io.ReadFull(f, body)
	switch err {
	case io.EOF, io.ErrUnexpectedEOF:
		return body[:n], nil
	case nil: // it has grown since
		rest, err := io.ReadAll(io.LimitReader(f, wholeLimit))
		return append(body, rest...), err
	}
	return nil, err
}

func stamp(info fs.FileInfo, sum string) ledger.Stamp {
	return ledger.Stamp{SHA256: sum, Size: info.Size(), ModTime: info.ModTime()}
}

func sum(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
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
