package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type statIn struct {
	Path string `json:"path" doc:"File, directory or link to describe: absolute, or relative to the working directory."`
}

type statOut struct {
	Name       string `json:"name"`
	Path       string `json:"path" doc:"The path as it was given."`
	Type       string `json:"type" enum:"file,directory,link,pipe,socket,device,unknown"`
	Size       int    `json:"size"`
	Mode       string `json:"mode" doc:"Permissions in octal."`
	Modified   string `json:"modified" doc:"RFC 3339."`
	LinkTarget string `json:"link_target,omitempty"`
}

func stat(_ context.Context, call *sdk.Call[config], in statIn) (statOut, error) {
	w := call.Config.files
	t, err := w.itself(call, "describe", "path", in.Path)
	if err != nil {
		return statOut{}, err
	}
	info, err := lstat(w.files, t.resolved)
	if err != nil {
		return statOut{}, w.explain(err, "describe", t)
	}
	out := statOut{
		Name: valid(filepath.Base(t.resolved)), Path: in.Path, Type: kind(info.Mode()), Size: int(info.Size()),
		Mode: fmt.Sprintf("%04o", octal(info.Mode())), Modified: info.ModTime().UTC().Format(time.RFC3339),
	}
	if r, ok := w.files.(afero.LinkReader); ok && out.Type == "link" {
		to, err := r.ReadlinkIfPossible(t.resolved)
		if err != nil {
			return statOut{}, w.explain(err, "describe", t)
		}
		out.LinkTarget = valid(to)
	}
	return out, nil
}

func planStat(call *sdk.Call[config], in statIn) (sdk.Plan, error) {
	t, err := call.Config.files.itself(call, "describe", "path", in.Path)
	if err != nil {
		return sdk.Plan{}, err
	}
	return sdk.Says("look at %s", t.name), nil
}

func showStat(out statOut) render.Node {
	row := []string{out.Type, out.Mode, fmt.Sprint(out.Size), out.Modified, out.Path}
	if out.LinkTarget != "" {
		row[4] += " → " + out.LinkTarget
	}
	return render.Text(strings.Join(row, "  "))
}
