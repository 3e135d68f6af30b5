package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/providers/filesystem/internal/undo"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type deleteIn struct {
	Path      string `json:"path" doc:"File, link or directory to delete: absolute, or relative to the working directory."`
	Recursive bool   `json:"recursive" default:"false" doc:"Delete a directory with all that is in it. Without it a directory must be empty."`
}

type deleteOut struct {
	Path  string `json:"path" doc:"The path as it was given."`
	Type  string `json:"type" enum:"file,directory,link,pipe,socket,device,unknown" doc:"What it was."`
	Count int    `json:"count" doc:"How many files, links and directories are gone."`
}

// deletion is what is to go.
type deletion struct {
	w     *workspace
	call  *sdk.Call[config]
	t     target
	info  fs.FileInfo
	count int
	kept  *undo.Content
	lost  string // why it is not kept
}

func deletePath(ctx context.Context, call *sdk.Call[config], in deleteIn) (deleteOut, error) {
	d, end, err := prepareDelete(ctx, call, in)
	if err != nil {
		return deleteOut{}, err
	}
	defer end()
	out := deleteOut{Path: in.Path, Type: kind(d.info.Mode()), Count: d.count}
	if d.info.IsDir() {
		if out.Count, err = d.tree(ctx); err != nil {
			return deleteOut{}, err
		}
		return out, nil
	}
	if err := d.file(ctx); err != nil {
		return deleteOut{}, d.w.explain(err, "delete", d.t)
	}
	return out, nil
}

func prepareDelete(ctx context.Context, call *sdk.Call[config], in deleteIn) (*deletion, func(), error) {
	w := call.Config.files
	targets, end, err := w.lock(ctx, call, func() ([]target, error) {
		t, err := w.itself(call, "delete", "path", in.Path)
		return []target{t}, err
	})
	if err != nil {
		return nil, nil, err
	}
	d := &deletion{w: w, call: call, t: targets[0]}
	if err := d.check(ctx, in.Recursive); err != nil {
		end()
		return nil, nil, w.explain(err, "delete", d.t)
	}
	return d, end, nil
}

func (d *deletion) check(ctx context.Context, recursive bool) (err error) {
	if d.info, err = lstat(d.w.files, d.t.resolved); err != nil {
		return err
	}
	tree, err := d.w.files.Survey(ctx, d.t.resolved)
	if err != nil {
		return err
	}
	d.count = tree.Entries
	if err := d.w.files.Writable(filepath.Dir(d.t.resolved)); err != nil {
		return err
	}
	if !recursive && d.count > 1 {
		return sdk.InvalidArgument("recursive", "cannot delete %s: the directory holds %s; set recursive to delete them too",
			d.t.name, count(d.count-1, "file or directory", "files and directories")).With("count", d.count-1)
	}
	return nil
}

// file deletes what is no directory, and keeps it for undo.
func (d *deletion) file(ctx context.Context) error {
	d.kept, d.lost = d.keep(ctx)
	err := ctx.Err()
	if err == nil {
		err = d.w.files.Remove(d.t.resolved)
	}
	if err != nil {
		d.kept.Discard()
		return err
	}
	d.wrote()
	return nil
}

// wrote notes that it is gone.
func (d *deletion) wrote() {
	d.w.undos.Add(&undo.Record{Session: d.call.SessionID, Path: d.t.resolved, Before: d.kept, Lost: d.lost})
	d.kept = nil
}

// untouched is the last look before it goes.
func (d *deletion) untouched() error {
	now, err := lstat(d.w.files, d.t.resolved)
	if err != nil {
		return err
	}
	if !untouched(now, d.info) {
		return sdk.Conflict("cannot delete %s: something else changed it at the same moment", d.t.name)
	}
	return nil
}

func (d *deletion) keep(ctx context.Context) (kept *undo.Content, lost string) {
	var err error
	switch r, ok := d.w.files.(afero.LinkReader); {
	case d.info.Mode().IsRegular():
		kept, err = d.w.keepFile(ctx, d.t.resolved, d.info.Size(), d.info.Mode().Perm())
	case d.info.Mode()&fs.ModeSymlink != 0 && ok:
		kept = &undo.Content{}
		kept.Link, err = r.ReadlinkIfPossible(d.t.resolved)
	default:
		return nil, "it was a " + kind(d.info.Mode())
	}
	if err != nil {
		return nil, err.Error()
	}
	return kept, ""
}

// tree deletes a directory. It loses its name first, in one step: from then on
// nobody sees half of it, and a crash leaves the rest to the next start.
func (d *deletion) tree(ctx context.Context) (removed int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	aside := atomicfile.TempIn(filepath.Dir(d.t.resolved))
	gone := d.w.writer.Journal.Note(aside)
	if err := d.w.files.RenameNew(d.t.resolved, aside); err != nil {
		gone()
		return 0, d.w.explain(err, "delete", d.t)
	}
	removed, err = d.w.files.RemoveTree(ctx, aside)
	if err == nil {
		gone()
		d.w.undos.Add(&undo.Record{Session: d.call.SessionID, Path: d.t.resolved, Lost: "it was a directory"})
		return removed, nil
	}
	back := d.w.files.RenameNew(aside, d.t.resolved)
	if back == nil {
		gone()
	}
	if removed == 0 && back == nil && ctx.Err() == nil {
		return 0, d.w.explain(err, "delete", d.t)
	}
	d.call.Report("%d of %d files and directories in %s were deleted", removed, d.count, d.t.name)
	if ctx.Err() != nil {
		return removed, errors.Join(ctx.Err(), back)
	}
	return removed, sdk.Failed("deleted only %d of %d files and directories in %s: %w", removed, d.count, d.t.name, reason(err)).
		With("count", removed)
}

func planDelete(call *sdk.Call[config], in deleteIn) (sdk.Plan, error) {
	d, end, err := prepareDelete(call.Context(), call, in)
	if err != nil {
		return sdk.Plan{}, err
	}
	defer end()
	if d.count > 1 {
		return sdk.Says("delete %s and the %s in it", d.t.shown(), count(d.count-1, "file or directory", "files and directories")), nil
	}
	return sdk.Says("delete the %s %s", kind(d.info.Mode()), d.t.shown()), nil
}

func showDelete(out deleteOut) render.Node {
	if out.Count > 1 {
		return render.Text("deleted " + out.Path + " and the " + count(out.Count-1, "file or directory", "files and directories") + " in it")
	}
	return render.Text("deleted the " + out.Type + " " + out.Path)
}
