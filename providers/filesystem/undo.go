package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/afero"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/providers/filesystem/internal/undo"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type undoIn struct {
	Path        string `json:"path" doc:"File whose last change is to be taken back: absolute, or relative to the working directory."`
	Destination string `json:"destination,omitempty" doc:"Its old path, if the last change was a move: where it is moved back to. For any other change it is left out."`
}

type undoOut struct {
	Path        string `json:"path" doc:"The path as it was given."`
	Undone      string `json:"undone" enum:"restored,removed,moved_back" doc:"What became of it: its old content, or the deleted file, is there again; the new file is gone; or it has its old name."`
	SHA256      string `json:"sha256,omitempty" doc:"Hash of the content that is there again."`
	Diff        string `json:"diff" doc:"Unified diff of what undo changed."`
	DiffClipped bool   `json:"diff_clipped" doc:"Whether the diff is incomplete, being too long or not text."`
}

// reversal is a change to be taken back.
type reversal struct {
	*change
	record *undo.Record
}

func undoPath(ctx context.Context, call *sdk.Call[config], in undoIn) (undoOut, error) {
	r, end, err := prepareUndo(ctx, call, in)
	if err != nil {
		return undoOut{}, err
	}
	defer end()
	out := undoOut{Path: in.Path, Undone: r.kind()}
	if out.Undone != "moved_back" {
		out.Diff, out.DiffClipped = r.unified()
	}
	switch out.Undone {
	case "moved_back":
		err = r.moveBack(ctx)
	case "removed":
		err = r.remove()
	default:
		out.SHA256, err = r.restore(ctx)
	}
	if err != nil {
		r.unchanged(ctx)
		return undoOut{}, r.w.explain(err, "undo the change of", r.target)
	}
	r.w.undos.Drop(r.record)
	return out, nil
}

func (r *reversal) kind() string {
	switch {
	case r.record.From != "":
		return "moved_back"
	case r.record.Before == nil:
		return "removed"
	}
	return "restored"
}

// prepareUndo finds the last change and checks that it still stands.
func prepareUndo(ctx context.Context, call *sdk.Call[config], in undoIn) (*reversal, func(), error) {
	w := call.Config.files
	r := &reversal{}
	targets, unlock, err := w.lock(ctx, call, func() (targets []target, err error) {
		targets, r.record, err = w.lastChange(call, in)
		return targets, err
	})
	if err != nil {
		return nil, nil, err
	}
	r.change = &change{w: w, call: call, doing: "undo the change of", target: targets[0], parents: true}
	if err := r.check(ctx); err != nil {
		unlock()
		r.free()
		return nil, nil, w.explain(err, r.doing, r.target)
	}
	return r, func() { r.free(); unlock() }, nil
}

// lastChange finds what the session did last with a path: with the name itself,
// or with the file it leads to.
func (w *workspace) lastChange(call *sdk.Call[config], in undoIn) ([]target, *undo.Record, error) {
	t, err := w.itself(call, "undo the change of", "path", in.Path)
	if err != nil {
		return nil, nil, err
	}
	paths := []string{t.resolved}
	if led, err := w.files.Resolve(t.path); err == nil {
		paths = append(paths, led)
	}
	record := w.undos.Last(call.SessionID, paths...)
	if record != nil {
		t.resolved = record.Path
	}
	switch {
	case record == nil:
		return nil, nil, sdk.NotFound("cannot undo the change of %s: this session has made none, or too many since", t.name)
	case record.Lost != "" && record.Before == nil:
		return nil, nil, sdk.Failed("cannot undo the change of %s: what was there is not kept, because %s", t.name, record.Lost)
	case record.From != "":
		back, err := w.backTo(call, in, record)
		return []target{t, back}, record, err
	case in.Destination != "":
		return nil, nil, sdk.InvalidArgument("destination", "%s was not moved by its last change; leave it out", t.name)
	}
	return []target{t}, record, nil
}

// backTo is where a move is taken back to. The call has to name it: the rules of a policy and the roots of a client go by
// the paths that a call names, and this one is in another place than the path whose change is undone.
func (w *workspace) backTo(call *sdk.Call[config], in undoIn, record *undo.Record) (target, error) {
	if in.Destination == "" {
		return target{}, sdk.InvalidArgument("destination", "%s was moved from %s; to move it back, give that as destination", in.Path, record.From)
	}
	back, err := w.itself(call, "move back to", "destination", in.Destination)
	if err == nil && back.resolved != record.From {
		err = sdk.InvalidArgument("destination", "cannot move %s back to %s: it was moved from %s; give that", in.Path, back.name, record.From)
	}
	return back, err
}

func (r *reversal) check(ctx context.Context) error {
	if err := r.w.files.Writable(r.record.Path); err != nil {
		return err
	}
	if r.record.From != "" {
		return r.checkMoved()
	}
	now, err := lstat(r.w.files, r.record.Path)
	switch {
	case r.record.SHA256 == "" && err == nil:
		return sdk.Conflict("cannot undo the deletion of %s: a %s has the name now", r.target.name, kind(now.Mode()))
	case r.record.SHA256 == "" && !missing(err):
		return err
	}
	if r.before, err = r.w.load(ctx, r.target); err != nil {
		return err
	}
	if r.record.SHA256 != "" && (!r.before.exists || r.before.sum() != r.record.SHA256) {
		return sdk.Conflict("cannot undo the change of %s: it is not what was written any more; read it to see what it is", r.target.name)
	}
	return r.foresee()
}

func (r *reversal) checkMoved() error {
	now, err := lstat(r.w.files, r.record.Path)
	was := r.record.Moved
	same := err == nil && now.Mode() == was.Mode() && (now.IsDir() || now.Size() == was.Size() && now.ModTime().Equal(was.ModTime()))
	if !same || now.Sys() != nil && !os.SameFile(now, was) {
		return sdk.Conflict("cannot undo the move of %s: it is not what was moved any more", r.target.name)
	}
	if _, err := lstat(r.w.files, r.record.From); err == nil {
		return sdk.Conflict("cannot undo the move of %s: something has its old name, %s, now", r.target.name, r.record.From)
	} else if !missing(err) {
		return err
	}
	return r.w.files.Writable(r.record.From)
}

// foresee reads what will be there again, as far as it is to be shown.
func (r *reversal) foresee() error {
	kept := r.record.Before
	if kept == nil || kept.Link != "" {
		return nil
	}
	r.size = kept.Size
	if kept.Size > editLimit {
		return nil
	}
	content, err := kept.Open()
	if err != nil {
		return err
	}
	body, err := io.ReadAll(content)
	if err = errors.Join(err, content.Close()); err != nil {
		return err
	}
	r.becomes(body)
	return r.intact()
}

// intact returns an error if what was kept is not what there was.
func (r *reversal) intact() error {
	if kept := r.record.Before.SHA256; kept != "" && kept != r.sum() {
		return sdk.Failed("cannot undo the change of %s: what was kept of it is not what was there; something else has written to it", r.target.name)
	}
	return nil
}

func (r *reversal) remove() error {
	if err := r.untouched(); err != nil {
		return err
	}
	if err := r.w.files.Remove(r.record.Path); err != nil {
		return err
	}
	r.w.removeEmpty(r.record.Made)
	return nil
}

// restore writes what was there, and returns its hash.
func (r *reversal) restore(ctx context.Context) (sha256 string, err error) {
	kept := r.record.Before
	if err := r.makeParents(); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			r.w.removeEmpty(r.made)
		}
	}()
	if kept.Link != "" {
		return "", r.w.relink(kept.Link, r.record.Path)
	}
	content, err := r.keptContent()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	hash := newHasher(content)
	r.sum, r.size = hash.sum, kept.Size
	err = r.w.writer.Write(ctx, atomicfile.Change{
		Name: r.record.Path, Content: hash, Mode: kept.Mode, New: !r.before.exists,
		Guard: func() error {
			if err := r.intact(); err != nil {
				return err
			}
			return r.untouched()
		},
	})
	if err != nil {
		return "", err
	}
	r.saw()
	return hash.sum(), nil
}

func (r *reversal) keptContent() (io.ReadCloser, error) {
	if r.after != nil {
		return loaded{bytes.NewReader(r.after)}, nil
	}
	return r.record.Before.Open()
}

// loaded is a content in memory, of which nothing has to be let go.
type loaded struct{ *bytes.Reader }

func (loaded) Close() error { return nil }

// relink makes a link again.
func (w *workspace) relink(to, name string) error {
	linker, ok := w.files.(afero.Linker)
	if !ok {
		return fs.ErrInvalid
	}
	return linker.SymlinkIfPossible(to, name)
}

// moveBack gives a file its old name, and the one it replaced its own.
func (r *reversal) moveBack(ctx context.Context) (err error) {
	from, to := r.record.From, r.record.Path
	defer func() {
		if err != nil {
			r.w.removeEmpty(r.made)
		}
	}()
	if err := r.makeAbove(from); err != nil {
		return err
	}
	if err := r.w.relocate(ctx, to, from, false); err != nil {
		return err
	}
	r.w.seen.Moved(to, from)
	if r.record.Before == nil {
		return nil
	}
	if _, err := r.restore(ctx); err != nil {
		return errors.Join(err, r.w.relocate(context.WithoutCancel(ctx), from, to, false))
	}
	return nil
}

func planUndo(call *sdk.Call[config], in undoIn) (sdk.Plan, error) {
	r, end, err := prepareUndo(call.Context(), call, in)
	if err != nil {
		return sdk.Plan{}, err
	}
	defer end()
	if r.kind() == "moved_back" {
		return sdk.Says("move %s back to %s", r.target.shown(), oneLine(r.record.From)), nil
	}
	unified, clipped := r.planned()
	return sdk.Shows(showChange("undo the change of "+r.target.shown(), unified, clipped)...), nil
}

func showUndo(out undoOut) render.Node {
	title := map[string]string{"restored": "restored ", "removed": "removed ", "moved_back": "moved back "}[out.Undone] + out.Path
	if out.Undone == "moved_back" {
		return render.Text(title)
	}
	return render.Group(showChange(title, out.Diff, out.DiffClipped)...)
}
