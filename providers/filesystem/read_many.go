package main

import (
	"context"
	"errors"
	"strings"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type manyIn struct {
	Paths []string `json:"paths" doc:"Files to read, at most 100: absolute, or relative to the working directory."`
	Limit int      `json:"limit" default:"2000" min:"1" doc:"How many lines to return at most of each file."`
}

type manyOut struct {
	Files []manyFile `json:"files" doc:"One for each path, in the order given."`
}

type manyFile struct {
	Path   string     `json:"path" doc:"The path as it was given."`
	Result *readOut   `json:"result,omitempty" doc:"What read_file returns."`
	Error  *readError `json:"error,omitempty" doc:"Why there is no result."`
}

type readError struct {
	Category string `json:"category" doc:"As errors of read_file have it, such as not_found."`
	Message  string `json:"message"`
}

// mostPaths is how many files one call may read.
const mostPaths = 100

func (in manyIn) check() error {
	if n := len(in.Paths); n == 0 || n > mostPaths {
		return sdk.InvalidArgument("paths", "has %d paths; give between 1 and %d", n, mostPaths)
	}
	return nil
}

func readMany(ctx context.Context, call *sdk.Call[config], in manyIn) (manyOut, error) {
	if err := in.check(); err != nil {
		return manyOut{}, err
	}
	w := call.Config.files
	var out manyOut
	room := w.maxResult
	for i, path := range in.Paths {
		call.Progress(i, len(in.Paths))
		// What one file leaves of its share is for the others.
		share := max(room/(len(in.Paths)-i), minResult)
		file, err := w.readOne(ctx, call, path, in.Limit, share)
		if err != nil {
			return manyOut{}, err
		}
		if file.Result != nil {
			room -= len(file.Result.Content)
		}
		out.Files = append(out.Files, file)
	}
	return out, nil
}

// readOne makes of an error a part of the result, save of one that ends the call.
func (w *workspace) readOne(ctx context.Context, call *sdk.Call[config], path string, limit, maxBytes int) (manyFile, error) {
	result, err := w.readPath(ctx, call, readIn{Path: path, Offset: 1, Limit: limit}, maxBytes)
	var known *sdk.Error
	switch {
	case ctx.Err() != nil:
		return manyFile{}, ctx.Err()
	case errors.As(err, &known):
		return manyFile{Path: path, Error: &readError{Category: known.Category.String(), Message: known.Message}}, nil
	case err != nil:
		return manyFile{}, err
	}
	return manyFile{Path: path, Result: &result}, nil
}

func planMany(call *sdk.Call[config], in manyIn) (sdk.Plan, error) {
	if err := in.check(); err != nil {
		return sdk.Plan{}, err
	}
	return sdk.Reads(in.Paths...), nil
}

func showMany(out manyOut) render.Node {
	var nodes []render.Node
	for _, file := range out.Files {
		if file.Result != nil {
			nodes = append(nodes, showRead(*file.Result))
		}
		if file.Error != nil {
			nodes = append(nodes, render.Styled(render.Bold, file.Path), render.Text(strings.TrimSpace(file.Error.Message)))
		}
	}
	return render.Group(nodes...)
}
