package main

import (
	"context"
	"path/filepath"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type directoryIn struct {
	Path string `json:"path" doc:"Directory to make: absolute, or relative to the working directory."`
}

type directoryOut struct {
	Path        string   `json:"path" doc:"The path as it was given."`
	Directories []string `json:"directories" doc:"Absolute paths of the directories that were made, the outermost first; empty if it was there already."`
}

func createDirectory(ctx context.Context, call *sdk.Call[config], in directoryIn) (directoryOut, error) {
	w := call.Config.files
	t, none, end, err := w.prepareDirectory(ctx, call, in.Path)
	if err != nil {
		return directoryOut{}, err
	}
	defer end()
	if err := w.files.MkdirAll(t.resolved, 0o777); err != nil {
		w.removeEmpty(none)
		return directoryOut{}, w.explain(err, "create", t)
	}
	out := directoryOut{Path: in.Path, Directories: []string{}}
	for i := range none {
		out.Directories = append(out.Directories, valid(none[len(none)-1-i]))
	}
	return out, nil
}

// prepareDirectory finds which directories are missing, the lowest first.
func (w *workspace) prepareDirectory(ctx context.Context, call *sdk.Call[config], path string) (t target, none []string, end func(), err error) {
	targets, end, err := w.lock(ctx, call, func() ([]target, error) {
		t, err := w.target(call, "create", path)
		return []target{t}, err
	})
	if err != nil {
		return target{}, nil, nil, err
	}
	t = targets[0]
	info, err := w.files.Stat(t.resolved)
	switch {
	case err == nil && info.IsDir():
		return t, nil, end, nil
	case err == nil:
		err = sdk.InvalidArgument("path", "cannot create %s: a %s has this name already", t.name, kind(info.Mode()))
	case missing(err):
		err = w.files.Writable(t.resolved)
	}
	if err == nil {
		return t, w.missingAt(filepath.Clean(t.resolved)), end, nil
	}
	end()
	return target{}, nil, nil, w.explain(err, "create", t)
}

func planDirectory(call *sdk.Call[config], in directoryIn) (sdk.Plan, error) {
	t, none, end, err := call.Config.files.prepareDirectory(call.Context(), call, in.Path)
	if err != nil {
		return sdk.Plan{}, err
	}
	defer end()
	if len(none) == 0 {
		return sdk.Says("%s is there already", t.shown()), nil
	}
	return sdk.Says("create directory %s", t.shown()), nil
}

func showDirectory(out directoryOut) render.Node {
	if len(out.Directories) == 0 {
		return render.Text(out.Path + " was there already")
	}
	return render.Text("created directory " + out.Path)
}
