package main

import (
	"context"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type draftIn struct {
	Since string `json:"since,omitempty" doc:"A version or tag: read the commits after it. Default: the last release."`
}

type draftOut struct {
	Draft    string     `json:"draft" doc:"The Unreleased section with the proposed entries in it, as Markdown."`
	Proposed []proposed `json:"proposed" doc:"The entries that are not written down yet."`
	Skipped  []skipped  `json:"skipped,omitempty" doc:"Commits without an entry."`
	Diff     string     `json:"diff" doc:"What would change in the changelog."`
	Warnings []string   `json:"warnings,omitempty"`
}

type proposed struct {
	Section string `json:"section,omitempty" doc:"Left out where the file has no categories."`
	Entry   string `json:"entry"`
	Commit  string `json:"commit"`
}

func addDraft(p *sdk.Provider[config]) {
	sdk.Command(p, "changelog-draft", description("changelog-draft"), draftChangelog).
		ReadOnly().Idempotent().
		Preview(func(call *sdk.Call[config], _ draftIn) (sdk.Plan, error) {
			return sdk.Says("read %s and the commits since the last release; write nothing", call.Config.ChangelogPath), nil
		}).
		Show(draftNode)
}

func draftChangelog(ctx context.Context, call *sdk.Call[config], in draftIn) (draftOut, error) {
	call.Status("reading %s and the commits since the last release", call.Config.ChangelogPath)
	drafted, err := release.Draft(ctx, call.Config.settings(), workingDir(call), in.Since, time.Now())
	if err != nil {
		return draftOut{}, explain(err)
	}
	out := draftOut{
		Draft: drafted.Notes, Proposed: []proposed{}, Skipped: listSkipped(drafted.Skipped),
		Diff: drafted.Diff, Warnings: drafted.Warnings,
	}
	for _, e := range drafted.Added {
		out.Proposed = append(out.Proposed, proposed{e.Category, e.Text, e.Commit})
	}
	return out, fits(out)
}

func draftNode(out draftOut) render.Node {
	title := plural(len(out.Proposed), "entry") + " proposed"
	if len(out.Proposed) == 0 {
		title = "Nothing to add: all that the commits announce is written down"
	}
	nodes := []render.Node{render.Styled(render.Bold, title), markdownNode(out.Draft)}
	nodes = append(nodes, skippedNodes(out.Skipped)...)
	return render.Group(append(nodes, warningNodes(out.Warnings)...)...)
}
