package main

import (
	"context"

	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type writeIn struct {
	Path           string `json:"path" doc:"File to write: absolute, or relative to the working directory."`
	Content        string `json:"content" doc:"The whole new content. It is written exactly as given, as UTF-8: no line end and no byte-order mark is added or kept."`
	CreateParents  bool   `json:"create_parents" default:"true" doc:"Make directories that are missing."`
	ExpectedSHA256 string `json:"expected_sha256,omitempty" doc:"Write only if the file has this hash, as read_file gave it."`
}

type writeOut struct {
	Path        string `json:"path" doc:"The path as it was given."`
	SHA256      string `json:"sha256" doc:"Hash of the new content."`
	Bytes       int    `json:"bytes" doc:"Length of the new content."`
	Created     bool   `json:"created" doc:"Whether the file did not exist before."`
	Diff        string `json:"diff" doc:"Unified diff to the content before; empty if nothing changed."`
	DiffClipped bool   `json:"diff_clipped" doc:"Whether the diff is incomplete, being too long or not text."`
}

func writeFile(ctx context.Context, call *sdk.Call[config], in writeIn) (writeOut, error) {
	c, end, err := prepareWrite(ctx, call, in)
	if err != nil {
		return writeOut{}, err
	}
	defer end()
	out := writeOut{Path: in.Path, Bytes: int(c.size), Created: !c.before.exists}
	out.Diff, out.DiffClipped = c.unified()
	err = c.apply(ctx)
	out.SHA256 = c.sum()
	return out, err
}

// prepareWrite does all of a write but the writing.
func prepareWrite(ctx context.Context, call *sdk.Call[config], in writeIn) (*change, func(), error) {
	c, end, err := call.Config.files.begin(ctx, call, "write", in.Path)
	if err != nil {
		return nil, nil, err
	}
	c.becomes([]byte(in.Content))
	c.parents = in.CreateParents
	if err := c.writable(in.ExpectedSHA256); err != nil {
		end()
		return nil, nil, err
	}
	return c, end, nil
}

// writable checks that the whole file may be replaced.
func (c *change) writable(sha256 string) error {
	err := c.expect(sha256)
	if err == nil && c.stale {
		err = c.changedSinceRead()
	}
	if err == nil {
		err = c.wantParents()
	}
	return err
}

func planWrite(call *sdk.Call[config], in writeIn) (sdk.Plan, error) {
	c, end, err := prepareWrite(call.Context(), call, in)
	if err != nil {
		return sdk.Plan{}, err
	}
	defer end()
	return c.plan(), nil
}

func showWrite(out writeOut) render.Node {
	title := "wrote " + out.Path
	if out.Created {
		title = "created " + out.Path
	}
	return render.Group(showChange(title, out.Diff, out.DiffClipped)...)
}
