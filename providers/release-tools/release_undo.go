package main

import (
	"context"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type undoIn struct {
	Version string `json:"version" doc:"The version to take back: 1.4.0 or v1.4.0."`
}

type undoOut struct {
	Version   string `json:"version"`
	Tag       string `json:"tag,omitempty" doc:"The tag that is gone; left out if there was none."`
	Undone    string `json:"undone,omitempty" doc:"The commit that is gone; left out if there was none."`
	Head      string `json:"head" doc:"The commit that HEAD is at."`
	Changelog string `json:"changelog" doc:"Path of the changelog from the root of the repository."`
	Diff      string `json:"diff,omitempty" doc:"What changed in the changelog."`
}

func addUndo(p *sdk.Provider[config]) {
	sdk.Command(p, "release-undo", description("release-undo"), undoRelease).
		Mutates(sdk.High).Streaming().Exclusive().Timeout(5 * time.Minute).
		Preview(previewUndo).
		Show(undoNode)
}

func undoRelease(ctx context.Context, call *sdk.Call[config], in undoIn) (undoOut, error) {
	plan, err := release.PrepareUndo(ctx, call.Config.settings(), workingDir(call), in.Version, time.Now())
	if err != nil {
		if ctx.Err() != nil {
			call.Report("undo cancelled before anything was written")
		}
		return undoOut{}, explain(err)
	}
	undone, err := plan.Run(ctx, reporter(call))
	if err != nil {
		return undoOut{}, explain(err)
	}
	return undoOut{
		Version: plan.Version, Tag: undone.Tag, Undone: undone.Commit, Head: undone.Head, Changelog: plan.Path(), Diff: told(undone.Diff),
	}, nil
}

func previewUndo(call *sdk.Call[config], in undoIn) (sdk.Plan, error) {
	plan, err := release.PrepareUndo(call.Context(), call.Config.settings(), workingDir(call), in.Version, time.Now())
	if err != nil {
		return sdk.Plan{}, explain(err)
	}
	before, after := plan.Changelog()
	return sdk.Says("take back %s", strings.Join(plan.Parts, ", ")).And(sdk.Changes(plan.Path(), text(before), text(after))), nil
}

// reporter passes on what happens to whoever called.
func reporter(call *sdk.Call[config]) release.Reporter {
	return release.Reporter{
		Status: func(message string) { call.Status("%s", message) },
		Stdout: call.Stdout(),
		Report: func(note string) { call.Report("%s", note) },
	}
}

func undoNode(out undoOut) render.Node {
	var gone []string
	if out.Tag != "" {
		gone = append(gone, "tag "+out.Tag)
	}
	if out.Undone != "" {
		gone = append(gone, "commit "+short(out.Undone))
	}
	said := "HEAD is at " + short(out.Head)
	if len(gone) > 0 {
		said = strings.Join(gone, " and ") + " gone; " + said
	}
	nodes := []render.Node{render.Styled(render.Success, "Took back release "+out.Version), render.Text(said)}
	if out.Diff != "" {
		nodes = append(nodes, diffNode(out.Diff))
	}
	return render.Group(nodes...)
}
