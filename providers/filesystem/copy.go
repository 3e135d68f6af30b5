package main

import (
	"context"
	"errors"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/providers/filesystem/internal/undo"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type copyIn struct {
	Source      string `json:"source" doc:"File or directory to copy: absolute, or relative to the working directory."`
	Destination string `json:"destination" doc:"Whole path of the copy, the name included."`
	Overwrite   bool   `json:"overwrite" default:"false" doc:"Replace a file that has the path of the copy. Directories are never replaced."`
}

type copyOut struct {
	CopiedFrom string `json:"copied_from" doc:"The source as it was given."`
	CopiedTo   string `json:"copied_to" doc:"The destination as it was given."`
	Replaced   bool   `json:"replaced" doc:"Whether a file was replaced."`
	Count      int    `json:"count" doc:"How many files, links and directories were copied."`
}

func copyPath(ctx context.Context, call *sdk.Call[config], in copyIn) (copyOut, error) {
	p, end, err := prepareCopy(ctx, call, in)
	if err != nil {
		return copyOut{}, err
	}
	defer end()
	out := copyOut{CopiedFrom: in.Source, CopiedTo: in.Destination, Replaced: p.replaced != nil, Count: 1}
	if p.source.IsDir() {
		out.Count, err = p.copyTree(ctx)
	} else {
		err = p.copyFile(ctx)
	}
	if err != nil {
		p.kept.Discard()
		if ctx.Err() != nil {
			call.Report("%s was not copied", in.Source)
		}
		return copyOut{}, p.explain(err)
	}
	return out, nil
}

// prepareCopy finds both ends. A copy is of what a link leads to, and is written
// to where a link leads.
func prepareCopy(ctx context.Context, call *sdk.Call[config], in copyIn) (*passage, func(), error) {
	w := call.Config.files
	p := &passage{w: w, call: call, doing: "copy"}
	targets, end, err := w.lock(ctx, call, func() ([]target, error) {
		from, err := w.target(call, "copy", in.Source)
		if err != nil {
			return nil, err
		}
		from.argument = "source"
		to, err := w.itself(call, "copy to", "destination", in.Destination)
		if err == nil && in.Overwrite {
			to, err = w.target(call, "copy to", in.Destination)
			to.argument = "destination"
		}
		return []target{from, to}, err
	})
	if err != nil {
		return nil, nil, err
	}
	p.from, p.to = targets[0], targets[1]
	if err := p.check(ctx, in.Overwrite); err != nil {
		end()
		return nil, nil, p.explain(err)
	}
	return p, end, nil
}

func (p *passage) copyTree(ctx context.Context) (int, error) {
	c := copier{ctx: ctx, w: p.w, place: p.w.files.RenameNew}
	if err := c.copy(p.from.resolved, p.to.resolved); err != nil {
		return 0, err
	}
	p.w.undos.Add(&undo.Record{Session: p.call.SessionID, Path: p.to.resolved, Lost: "it is a directory"})
	return c.entries, nil
}

func (p *passage) copyFile(ctx context.Context) (err error) {
	source, err := p.w.files.Open(p.from.resolved)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	p.keep(ctx)
	hash := newHasher(sdk.Reader(ctx, source))
	err = p.w.writer.Write(ctx, atomicfile.Change{
		Name: p.to.resolved, Content: hash, Mode: p.source.Mode().Perm(), New: p.replaced == nil,
		Guard: func() error {
			if p.replaced != nil && !p.untouched() {
				return sdk.Conflict("cannot copy %s to %s: something else changed it at the same moment", p.from.name, p.to.name)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	p.w.undos.Add(&undo.Record{Session: p.call.SessionID, Path: p.to.resolved, Before: p.kept, Lost: p.lost, SHA256: hash.sum()})
	return nil
}

func planCopy(call *sdk.Call[config], in copyIn) (sdk.Plan, error) {
	p, end, err := prepareCopy(call.Context(), call, in)
	if err != nil {
		return sdk.Plan{}, err
	}
	defer end()
	return p.plan(), nil
}

func showCopy(out copyOut) render.Node {
	return render.Text("copied " + out.CopiedFrom + " to " + out.CopiedTo)
}
