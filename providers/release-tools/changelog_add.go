package main

import (
	"context"

	"github.com/agentco/agent/providers/release-tools/internal/changelog"
	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/agentco/agent/providers/release-tools/internal/textfile"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type addIn struct {
	Section string `json:"section,omitempty" doc:"The category, such as Added, Changed, Deprecated, Removed, Fixed, Security, or another one of the file. Without it, the list right below Unreleased."`
	Entry   string `json:"entry" doc:"What changed for users, as Markdown without the bullet."`
}

type addOut struct {
	Changelog string `json:"changelog" doc:"Path of the changelog from the root of the repository."`
	Section   string `json:"section"`
	Entry     string `json:"entry"`
	Diff      string `json:"diff"`
}

func addAdd(p *sdk.Provider[config]) {
	sdk.Command(p, "changelog-add", description("changelog-add"), addEntry).
		Mutates(sdk.Low).Exclusive().
		Preview(func(call *sdk.Call[config], in addIn) (sdk.Plan, error) {
			file, after, err := placeEntry(call, &in)
			if err != nil {
				return sdk.Plan{}, explain(err)
			}
			return sdk.Changes(file.Name, text(file.Content), text(after)), nil
		}).
		Show(addNode)
}

func addEntry(ctx context.Context, call *sdk.Call[config], in addIn) (addOut, error) {
	call.Status("adding to %s", call.Config.ChangelogPath)
	file, after, err := placeEntry(call, &in)
	if err != nil {
		return addOut{}, explain(err)
	}
	before := file.Content
	if err := file.Replace(ctx, after); err != nil {
		if ctx.Err() != nil {
			call.Report("cancelled before %s was written", file.Name)
		}
		return addOut{}, explain(err)
	}
	if ctx.Err() != nil {
		call.Report("the cancel came too late: the entry is in %s", file.Name)
		return addOut{}, ctx.Err()
	}
	return addOut{Changelog: file.Name, Section: in.Section, Entry: in.Entry, Diff: told(release.Unified(file.Path, before, after))}, nil
}

// placeEntry reads the file and works out what it is to be. It spells the section as the file does.
func placeEntry(call *sdk.Call[config], in *addIn) (*textfile.File, []byte, error) {
	file, err := openChangelog(call)
	if err != nil {
		return nil, nil, err
	}
	doc, err := changelog.Parse(file.Name, file.Content)
	if err != nil {
		return nil, nil, err
	}
	if in.Section, err = doc.Category(in.Section); err != nil {
		return nil, nil, err
	}
	after, err := doc.Add(in.Section, in.Entry)
	return file, after, err
}

func addNode(out addOut) render.Node {
	where := out.Changelog
	if out.Section != "" {
		where += ", " + out.Section
	}
	return render.Group(render.Styled(render.Success, "Added to "+where), diffNode(out.Diff))
}
