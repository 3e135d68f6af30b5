package main

import (
	"context"
	"strings"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/agentco/agent/sdk"
)

type releaseIn struct {
	Version string `json:"version" doc:"The version to release, as SemVer writes it: 1.4.0 or v1.4.0; or auto, for what next-version says."`
	Date    string `json:"date,omitempty" doc:"Day of the release, YYYY-MM-DD. Default: today in UTC."`
	Message string `json:"message,omitempty" doc:"Message of the tag, instead of the configured one."`
}

type releaseOut struct {
	Version   string   `json:"version"`
	Date      string   `json:"date"`
	Tag       string   `json:"tag"`
	Commit    string   `json:"commit" doc:"The commit the tag points to."`
	Committed bool     `json:"committed" doc:"Whether the changelog is part of that commit; otherwise it waits in the working tree."`
	Changelog string   `json:"changelog" doc:"Path of the changelog from the root of the repository."`
	Diff      string   `json:"diff" doc:"What changed in the changelog."`
	Warnings  []string `json:"warnings,omitempty"`
}

func addRelease(p *sdk.Provider[config]) {
	sdk.Command(p, "release", description("release"), makeRelease).
		Mutates(sdk.High).Streaming().Exclusive().Timeout(5 * time.Minute).
		Preview(previewRelease).
		Show(releaseNode)
}

func request(call *sdk.Call[config], in releaseIn) release.Request {
	return release.Request{Dir: workingDir(call), Version: in.Version, Date: in.Date, Message: in.Message, Now: time.Now()}
}

func makeRelease(ctx context.Context, call *sdk.Call[config], in releaseIn) (releaseOut, error) {
	plan, err := release.Prepare(ctx, call.Config.settings(), request(call, in))
	if err != nil {
		if ctx.Err() != nil {
			call.Report("release cancelled before anything was written")
		}
		return releaseOut{}, explain(err)
	}
	if err := call.Config.shown.hold(call.ID, in.Version, plan); err != nil {
		return releaseOut{}, explain(err)
	}
	made, err := plan.Run(ctx, reporter(call))
	if err != nil {
		return releaseOut{}, explain(err)
	}
	return releaseOut{
		Version: plan.Version.String(), Date: plan.Date, Tag: made.Tag, Commit: made.Commit, Committed: plan.Commit,
		Changelog: plan.Changelog(), Diff: told(made.Diff), Warnings: plan.Warnings,
	}, nil
}

func previewRelease(call *sdk.Call[config], in releaseIn) (sdk.Plan, error) {
	plan, err := release.Prepare(call.Context(), call.Config.settings(), request(call, in))
	if err != nil {
		return sdk.Plan{}, explain(err)
	}
	call.Config.shown.remember(call.ID, in.Version, plan)
	what := sdk.Says("tag %s at %.7s (%s), then rewrite %s", plan.Tag, plan.Head, place(plan.Branch), plan.Changelog())
	if plan.Commit {
		what = sdk.Says("rewrite %s, commit it on %s, tag that commit %s", plan.Changelog(), place(plan.Branch), plan.Tag)
	}
	if plan.Why != "" {
		what = what.And(sdk.Says("%s because of %q", plan.Version, clip(plan.Why)))
	}
	for _, w := range plan.Warnings {
		what = what.And(sdk.Says("note: %s", w))
	}
	return what.And(sdk.Changes(plan.Changelog(), text(plan.Before()), text(plan.After))), nil
}

// text makes bytes of a file fit for a message.
func text(raw []byte) string { return strings.ToValidUTF8(string(raw), "\uFFFD") }

func place(branch string) string {
	if branch == "" {
		return "a detached HEAD"
	}
	return branch
}
