package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/providers/filesystem/internal/buffer"
	"github.com/agentco/agent/providers/filesystem/internal/ledger"
	"github.com/agentco/agent/providers/filesystem/internal/undo"
	"github.com/agentco/agent/sdk"
)

// change is one file on its way from what it is to what it will be. Writing and
// editing differ only in how they find the new content.
type change struct {
	w       *workspace
	call    *sdk.Call[config]
	doing   string // "write" or "edit"
	target  target
	before  state
	after   []byte
	hashed  func() string // its hash; nobody reads it, for that, once this returns
	sum     func() string // of what the file will be; it may have to wait for it
	size    int64         // of after
	stale   bool          // another has changed the file since the session saw it
	parents bool          // make missing directories

	made []string // those, the lowest first
	stay func()   // notes that they stay, or are gone; nil: there are none

	held    *undo.Held     // what was there, if it is kept without a copy
	keeping sync.WaitGroup // for the two that follow
	kept    *undo.Content  // what was there
	lost    string         // why that is not kept
}

// begin finds the file, takes its lock and reads it; end lets it go.
func (w *workspace) begin(ctx context.Context, call *sdk.Call[config], doing, path string) (c *change, end func(), err error) {
	targets, unlock, err := w.lock(ctx, call, func() ([]target, error) {
		t, err := w.file(call, doing, path)
		return []target{t}, err
	})
	if err != nil {
		return nil, nil, err
	}
	if c, err = w.open(ctx, call, doing, targets[0]); err != nil {
		unlock()
		return nil, nil, err
	}
	return c, func() { c.free(); unlock() }, nil
}

// file is the target of a path that cannot be a directory's.
func (w *workspace) file(call *sdk.Call[config], doing, path string) (target, error) {
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.") {
		return target{}, sdk.InvalidArgument("path", "cannot %s %s: it ends in a slash or a dot, as only the path of a directory does", doing, clip(path))
	}
	return w.target(call, doing, path)
}

// lock takes the locks of what find returns, all at once.
func (w *workspace) lock(ctx context.Context, call *sdk.Call[config], find func() ([]target, error)) ([]target, func(), error) {
	for {
		targets, err := find()
		if err != nil {
			return nil, nil, err
		}
		unlock, err := w.locks.LockAll(ctx, resolved(targets)...)
		if err != nil {
			call.Report("%s was not changed", targets[0].name)
			return nil, nil, err
		}
		// What was found may have gone while waiting, or a link on the way may have
		// come to mean another file.
		again, err := find()
		if err == nil && slices.Equal(resolved(again), resolved(targets)) {
			return again, unlock, nil
		}
		unlock()
		if err != nil {
			return nil, nil, err
		}
	}
}

func resolved(targets []target) []string {
	paths := make([]string, len(targets))
	for i, t := range targets {
		paths[i] = t.resolved
	}
	return paths
}

// open reads a file that is to be changed and whose lock is held. The caller
// frees the change.
func (w *workspace) open(ctx context.Context, call *sdk.Call[config], doing string, t target) (*change, error) {
	c := &change{w: w, call: call, doing: doing, target: t}
	err := w.files.Writable(t.resolved)
	if err == nil {
		c.before, err = w.load(ctx, t)
	}
	if err != nil {
		c.unchanged(ctx)
		return nil, w.explain(err, doing, t)
	}
	return c, nil
}

// unchanged says to one who has cancelled that it was in time.
func (c *change) unchanged(ctx context.Context) {
	if ctx.Err() != nil {
		c.call.Report("%s was not changed", c.target.name)
	}
}

// free lets go of what takes room.
func (c *change) free() {
	c.keeping.Wait()
	c.held.Release()
	if c.after != nil {
		c.hashed() // which reads what was there too
		buffer.Give(c.after)
		c.after = nil
	}
	c.w.free(&c.before)
	if c.stay != nil {
		c.stay()
		c.stay = nil
	}
}

// becomes sets the new content, which is the change's own from then on.
func (c *change) becomes(after []byte) {
	c.after, c.size, c.hashed = after, int64(len(after)), c.before.digest.next(after)
	c.sum = c.hashed
}

// expect checks that the caller knows what it is about to change. Without
// knowing the file it cannot; knowing an older state makes the change stale.
func (c *change) expect(sha256 string) error {
	switch {
	case sha256 != "" && !c.before.exists:
		return sdk.NotFound("cannot %s %s: expected_sha256 is given, but the file does not exist", c.doing, c.target.name)
	case sha256 != "" && !strings.EqualFold(sha256, c.before.sum()):
		return conflict(c.target, sha256, c.before.sum())
	case sha256 != "" || !c.before.exists || !c.w.readFirst:
		return nil
	}
	seen, ok := c.w.seen.Last(c.call.SessionID, c.target.resolved)
	if !ok {
		return sdk.Failed("cannot %s %s: this session has not read it; read it with read_file first, or pass its sha256, which read_file shows, as expected_sha256", c.doing, c.target.name)
	}
	c.stale = !seen.Same(c.before.stamp())
	return nil
}

func (c *change) changedSinceRead() error {
	return sdk.Failed("cannot %s %s: it has changed since this session read it; read it again with read_file", c.doing, c.target.name)
}

// same reports whether the file already is what it will be.
func (c *change) same() bool {
	switch {
	case !c.before.exists:
		return false
	case c.before.bytes != nil && c.after != nil:
		return bytes.Equal(c.before.bytes, c.after)
	}
	return c.before.info.Size() == c.size && c.before.sum() == c.sum()
}

// apply writes the new content. Whatever error it returns, nothing has changed.
func (c *change) apply(ctx context.Context) error {
	if c.same() {
		c.saw()
		return nil
	}
	c.hold()
	replacement, err := c.ready(ctx)
	if err == nil {
		err = c.w.writer.Write(ctx, replacement)
	}
	if err != nil {
		c.abandon()
		c.unchanged(ctx)
		return c.w.explain(err, c.doing, c.target)
	}
	c.wrote()
	if ctx.Err() != nil {
		c.call.Report("%s was written before the call was cancelled", c.target.name)
		return ctx.Err()
	}
	return nil
}

// ready does what comes before the write: it makes directories and keeps what
// is there.
func (c *change) ready(ctx context.Context) (atomicfile.Change, error) {
	err := c.makeParents()
	if err == nil {
		err = c.keep(ctx)
	}
	return atomicfile.Change{
		Name: c.target.resolved, Content: bytes.NewReader(c.after), New: !c.before.exists, Guard: c.untouched, Held: c.held != nil,
	}, err
}

// abandon takes back what ready did.
func (c *change) abandon() {
	c.keeping.Wait()
	c.w.removeEmpty(c.made)
	c.kept.Discard()
	c.made, c.kept = nil, nil
}

// wrote notes that the new content is in its place.
func (c *change) wrote() {
	c.saw()
	c.keepHeld(c.call.Context())
	c.keeping.Wait()
	c.w.undos.Add(&undo.Record{
		Session: c.call.SessionID, Path: c.target.resolved, Before: c.kept, Lost: c.lost, SHA256: c.sum(), Made: c.made,
	})
	c.kept = nil
}

// untouched is the last look before the new content takes its place.
func (c *change) untouched() error {
	info, err := c.w.files.Stat(c.target.resolved)
	switch {
	case missing(err) && !c.before.exists:
		return nil
	case err != nil && !missing(err):
		return err
	case err == nil && c.before.exists && untouched(info, c.before.info):
		return nil
	}
	return sdk.Conflict("cannot %s %s: something else changed it at the same moment; read it again", c.doing, c.target.name)
}

// untouched reports whether a file is the one it was, as far as can be told
// without reading it: another may have been put in its place with its time.
func untouched(now, was fs.FileInfo) bool {
	return now.Size() == was.Size() && now.ModTime().Equal(was.ModTime()) && (now.Sys() == nil || os.SameFile(now, was))
}

// saw notes that the session knows the new state, having made it.
func (c *change) saw() {
	s := ledger.Stamp{SHA256: c.sum(), Size: c.size}
	if info, err := c.w.files.Stat(c.target.resolved); err == nil {
		s = stamp(info, c.sum())
	}
	c.w.seen.Saw(c.call.SessionID, c.target.resolved, s)
}

// makeParents makes the directories above the file that are missing.
func (c *change) makeParents() error {
	if c.before.exists {
		return nil
	}
	return c.makeAbove(c.target.resolved)
}

// makeAbove makes the directories above path that are missing.
func (c *change) makeAbove(path string) error {
	dir := filepath.Dir(path)
	missing := c.w.missingAt(dir)
	if len(missing) == 0 {
		return nil
	}
	if !c.parents {
		return c.noDirectory()
	}
	c.made, c.stay = missing, c.w.writer.Journal.Making(missing)
	return c.w.files.MkdirAll(dir, 0o777)
}

// missingAt returns dir and the directories above it that do not exist, the
// lowest first.
func (w *workspace) missingAt(dir string) (none []string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := w.files.Stat(dir); !missing(err) {
			return none
		}
		none = append(none, dir)
	}
}

// wantParents returns an error if the directory is missing and may not be made.
func (c *change) wantParents() error {
	if _, err := c.w.files.Stat(filepath.Dir(c.target.resolved)); c.parents || !missing(err) {
		return nil
	}
	return c.noDirectory()
}

func (c *change) noDirectory() error {
	return sdk.NotFound("cannot %s %s: the directory %s does not exist; set create_parents to make it", c.doing, c.target.name, filepath.Dir(c.target.name))
}

// removeEmpty takes back directories that were made, the lowest first, as far as
// they are still empty.
func (w *workspace) removeEmpty(made []string) {
	for _, dir := range made {
		if err := w.files.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}
