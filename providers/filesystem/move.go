package main

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agentco/agent/providers/filesystem/internal/undo"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type moveIn struct {
	Source      string `json:"source" doc:"File, directory or link to move: absolute, or relative to the working directory."`
	Destination string `json:"destination" doc:"Its whole new path, the name included."`
	Overwrite   bool   `json:"overwrite" default:"false" doc:"Replace a file or link that has the new path. Directories are never replaced."`
}

type moveOut struct {
	MovedFrom string `json:"moved_from" doc:"The source as it was given."`
	MovedTo   string `json:"moved_to" doc:"The destination as it was given."`
	Replaced  bool   `json:"replaced" doc:"Whether a file was replaced."`
}

// passage is a move or a copy on its way.
type passage struct {
	w        *workspace
	call     *sdk.Call[config]
	doing    string // "move" or "copy"
	from, to target
	source   fs.FileInfo
	replaced fs.FileInfo // nil: nothing is at the destination
	kept     *undo.Content
	lost     string
}

func move(ctx context.Context, call *sdk.Call[config], in moveIn) (moveOut, error) {
	p, end, err := prepareMove(ctx, call, in)
	if err != nil {
		return moveOut{}, err
	}
	defer end()
	if err := p.move(ctx); err != nil {
		p.kept.Discard()
		if ctx.Err() != nil {
			call.Report("%s was not moved", p.from.name)
		}
		return moveOut{}, p.explain(err)
	}
	return moveOut{MovedFrom: in.Source, MovedTo: in.Destination, Replaced: p.replaced != nil}, nil
}

func prepareMove(ctx context.Context, call *sdk.Call[config], in moveIn) (*passage, func(), error) {
	w := call.Config.files
	p := &passage{w: w, call: call, doing: "move"}
	targets, end, err := w.lock(ctx, call, func() ([]target, error) {
		from, err := w.itself(call, "move", "source", in.Source)
		if err != nil {
			return nil, err
		}
		to, err := w.itself(call, "move to", "destination", in.Destination)
		return []target{from, to}, err
	})
	if err != nil {
		return nil, nil, err
	}
	p.from, p.to = targets[0], targets[1]
	if err = p.check(ctx, in.Overwrite); err == nil {
		err = p.leaves()
	}
	if err != nil {
		end()
		return nil, nil, p.explain(err)
	}
	return p, end, nil
}

// check looks at both ends of the way.
func (p *passage) check(ctx context.Context, overwrite bool) (err error) {
	if p.source, err = lstat(p.w.files, p.from.resolved); err != nil {
		return p.w.explain(err, p.doing, p.from)
	}
	if _, err := p.w.files.Survey(ctx, p.from.resolved); err != nil {
		return p.w.explain(err, p.doing, p.from)
	}
	if p.from.resolved == p.to.resolved {
		return sdk.InvalidArgument("destination", "cannot %s %s: source and destination are the same", p.doing, p.from.name)
	}
	if strings.HasPrefix(p.to.resolved, p.from.resolved+string(filepath.Separator)) {
		return sdk.InvalidArgument("destination", "cannot %s %s to %s: that is inside it", p.doing, p.from.name, p.to.name)
	}
	dir := filepath.Dir(p.to.resolved)
	if err := p.w.files.Writable(dir); err != nil {
		return err
	}
	p.replaced, err = lstat(p.w.files, p.to.resolved)
	switch {
	case missing(err):
		p.replaced = nil
		if strings.HasSuffix(p.to.name, "/") && !p.source.IsDir() {
			return p.wantsName("it ends in a slash, as only the path of a directory does")
		}
		if _, err := p.w.files.Stat(dir); missing(err) {
			return sdk.NotFound("cannot %s %s to %s: the directory %s does not exist; make it with create_directory", p.doing, p.from.name, p.to.name, filepath.Dir(p.to.name))
		}
		return nil
	case err != nil:
		return err
	}
	return p.mayReplace(overwrite)
}

func (p *passage) mayReplace(overwrite bool) error {
	what := kind(p.replaced.Mode())
	switch {
	case p.replaced.IsDir() && !p.source.IsDir():
		return p.wantsName("that is a directory")
	case p.replaced.IsDir() || p.source.IsDir():
		return sdk.InvalidArgument("destination", "cannot %s %s to %s: a %s is there, and directories neither replace nor are replaced", p.doing, p.from.name, p.to.name, what)
	case !overwrite:
		return sdk.InvalidArgument("destination", "cannot %s %s to %s: a %s is there already; set overwrite to replace it", p.doing, p.from.name, p.to.name, what)
	}
	return nil
}

// wantsName is the error for a destination that is a directory to move into.
func (p *passage) wantsName(why string) error {
	return sdk.InvalidArgument("destination", "cannot %s %s to %s: %s; give the whole new path, as in %s",
		p.doing, p.from.name, p.to.name, why, filepath.Join(p.to.name, filepath.Base(p.from.resolved)))
}

// leaves checks that the source may go away.
func (p *passage) leaves() error {
	if err := p.w.files.Writable(filepath.Dir(p.from.resolved)); err != nil {
		return p.w.explain(err, p.doing, p.from)
	}
	return nil
}

// explain is about the destination, where most things go wrong that the checks
// could not see.
func (p *passage) explain(err error) error {
	t := p.to
	t.name = p.from.name + " to " + p.to.name
	return p.w.explain(err, p.doing, t)
}

// keep sets aside what will be replaced.
func (p *passage) keep(ctx context.Context) {
	if p.replaced == nil {
		return
	}
	d := deletion{w: p.w, call: p.call, t: p.to, info: p.replaced}
	p.kept, p.lost = d.keep(ctx)
}

func (p *passage) move(ctx context.Context) error {
	p.keep(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.replaced != nil && !p.untouched() {
		return sdk.Conflict("cannot move %s to %s: something else changed it at the same moment", p.from.name, p.to.name)
	}
	if err := p.w.relocate(ctx, p.from.resolved, p.to.resolved, p.replaced != nil); err != nil {
		return err
	}
	p.w.seen.Moved(p.from.resolved, p.to.resolved)
	moved, err := lstat(p.w.files, p.to.resolved)
	if err != nil { // someone has taken it away again
		return nil
	}
	p.w.undos.Add(&undo.Record{
		Session: p.call.SessionID, Path: p.to.resolved, Before: p.kept, Lost: p.lost, From: p.from.resolved, Moved: moved,
	})
	return nil
}

// untouched is the last look before something is replaced.
func (p *passage) untouched() bool {
	now, err := lstat(p.w.files, p.to.resolved)
	return err == nil && untouched(now, p.replaced)
}

func planMove(call *sdk.Call[config], in moveIn) (sdk.Plan, error) {
	p, end, err := prepareMove(call.Context(), call, in)
	if err != nil {
		return sdk.Plan{}, err
	}
	defer end()
	return p.plan(), nil
}

func (p *passage) plan() sdk.Plan {
	if p.replaced != nil {
		return sdk.Says("%s the %s %s over %s", p.doing, kind(p.source.Mode()), p.from.shown(), p.to.shown())
	}
	return sdk.Says("%s the %s %s to %s", p.doing, kind(p.source.Mode()), p.from.shown(), p.to.shown())
}

func showMove(out moveOut) render.Node {
	return render.Text("moved " + out.MovedFrom + " to " + out.MovedTo)
}
