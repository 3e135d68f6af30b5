package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/agentco/agent/providers/filesystem/internal/undo"
)

// keepFile sets the content of a file on disk aside for undo.
func (w *workspace) keepFile(ctx context.Context, path string, size int64, mode fs.FileMode) (kept *undo.Content, err error) {
	f, err := w.files.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return w.undos.Keep(ctx, f, size, mode)
}
