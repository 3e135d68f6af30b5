package main

import (
	"context"
	"time"

	"github.com/agentco/agent/providers/release-tools/internal/release"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type tagsIn struct {
	Limit int `json:"limit" default:"20" min:"1" max:"10000" doc:"The most tags to list."`
}

type tagsOut struct {
	Tags  []tag `json:"tags" doc:"The highest version first."`
	Total int   `json:"total" doc:"How many there are with and without the limit."`
}

type tag struct {
	Version   string `json:"version"`
	Tag       string `json:"tag"`
	Date      string `json:"date" doc:"Day of the tag, or of the commit when the tag is lightweight."`
	Commit    string `json:"commit"`
	Annotated bool   `json:"annotated"`
}

func addTags(p *sdk.Provider[config]) {
	sdk.Command(p, "tags", description("tags"), listTags).
		ReadOnly().Idempotent().
		Preview(func(call *sdk.Call[config], _ tagsIn) (sdk.Plan, error) {
			return sdk.Says("read the tags that start with %s", call.Config.TagPrefix), nil
		}).
		Show(tagsNode)
}

func listTags(ctx context.Context, call *sdk.Call[config], in tagsIn) (tagsOut, error) {
	call.Status("reading the tags")
	made, err := release.Tags(ctx, call.Config.settings(), workingDir(call), time.Now())
	if err != nil {
		return tagsOut{}, explain(err)
	}
	out := tagsOut{Tags: []tag{}, Total: len(made)}
	for _, m := range made[:min(in.Limit, len(made))] {
		out.Tags = append(out.Tags, tag{m.Version.String(), m.Name, m.Date, m.Commit, m.Annotated})
	}
	return out, nil
}

func tagsNode(out tagsOut) render.Node {
	if out.Total == 0 {
		return render.Styled(render.Dim, "no release is tagged")
	}
	rows := make([][]string, len(out.Tags))
	for i, t := range out.Tags {
		rows[i] = []string{t.Version, t.Tag, t.Date, short(t.Commit)}
	}
	nodes := []render.Node{render.Table([]string{"version", "tag", "date", "commit"}, rows...)}
	if more := out.Total - len(out.Tags); more > 0 {
		nodes = append(nodes, render.Styled(render.Dim, plural(more, "tag")+" more"))
	}
	return render.Group(nodes...)
}
