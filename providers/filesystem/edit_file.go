package main

import (
	"context"
	"errors"
	"slices"

	"github.com/agentco/agent/providers/filesystem/internal/edit"
	"github.com/agentco/agent/providers/filesystem/internal/text"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type editIn struct {
	Path           string        `json:"path" doc:"File to edit: absolute, or relative to the working directory."`
	OldString      *string       `json:"old_string,omitempty" doc:"Text to replace, exactly as it is in the file. Use this for one edit, or edits for several."`
	NewString      *string       `json:"new_string,omitempty" doc:"Text to put in its place, taken literally."`
	ReplaceAll     bool          `json:"replace_all" default:"false" doc:"Replace every match. Without it there must be exactly one."`
	Edits          []replacement `json:"edits,omitempty" doc:"Several edits, applied in order, each to the result of the ones before. Either all are made or none."`
	ExpectedSHA256 string        `json:"expected_sha256,omitempty" doc:"Edit only if the file has this hash, as read_file gave it."`
}

type replacement struct {
	OldString  string `json:"old_string" doc:"Text to replace, exactly as it is in the file."`
	NewString  string `json:"new_string" doc:"Text to put in its place, taken literally."`
	ReplaceAll bool   `json:"replace_all" default:"false" doc:"Replace every match. Without it there must be exactly one."`
}

type editOut struct {
	Path         string `json:"path" doc:"The path as it was given."`
	Replacements int    `json:"replacements" doc:"How many matches were replaced."`
	Diff         string `json:"diff" doc:"Unified diff of the change."`
	DiffClipped  bool   `json:"diff_clipped" doc:"Whether the diff is too long to be given whole."`
	SHA256Before string `json:"sha256_before" doc:"Hash of the content before."`
	SHA256After  string `json:"sha256_after" doc:"Hash of the content now."`
	Note         string `json:"note,omitempty" doc:"What else there is to know."`
}

func editFile(ctx context.Context, call *sdk.Call[config], in editIn) (editOut, error) {
	c, made, end, err := prepareEdit(ctx, call, in)
	if err != nil {
		return editOut{}, err
	}
	defer end()
	out := editOut{Path: in.Path, Replacements: made.Total()}
	out.Diff, out.DiffClipped = c.unified()
	switch {
	case c.same():
		out.Note = "Nothing changed: with these edits the file is as it was. Line ends are kept as they are in the file."
	case c.stale:
		out.Note = "The file had changed since it was read; the edit was made in its new state."
	}
	err = c.apply(ctx)
	out.SHA256Before, out.SHA256After = c.before.sum(), c.sum()
	return out, err
}

// prepareEdit does all of an edit but the writing.
func prepareEdit(ctx context.Context, call *sdk.Call[config], in editIn) (*change, edit.Result, func(), error) {
	edits, err := in.list()
	if err != nil {
		return nil, edit.Result{}, nil, err
	}
	c, end, err := call.Config.files.begin(ctx, call, "edit", in.Path)
	if err != nil {
		return nil, edit.Result{}, nil, err
	}
	made, err := c.edit(ctx, edits, in.ExpectedSHA256)
	if err != nil {
		end()
		return nil, edit.Result{}, nil, err
	}
	return c, made, end, nil
}

// list is the edits of a call, whichever way they were given.
func (in editIn) list() ([]edit.Edit, error) {
	switch {
	case len(in.Edits) > 0 && (given(in.OldString) || given(in.NewString)):
		return nil, sdk.InvalidArgument("edits", "give either edits or old_string and new_string, not both")
	case len(in.Edits) > 0 && in.ReplaceAll:
		return nil, sdk.InvalidArgument("replace_all", "is about old_string; with edits set it in each edit that it is for")
	case len(in.Edits) == 0 && in.OldString == nil:
		return nil, sdk.InvalidArgument("old_string", "is missing; give old_string and new_string, or edits")
	case len(in.Edits) == 0 && in.NewString == nil:
		return nil, sdk.InvalidArgument("new_string", "is missing; it may be empty to delete old_string")
	case len(in.Edits) == 0:
		return []edit.Edit{{Old: *in.OldString, New: *in.NewString, All: in.ReplaceAll}}, nil
	}
	edits := make([]edit.Edit, len(in.Edits))
	for i, e := range in.Edits {
		edits[i] = edit.Edit{Old: e.OldString, New: e.NewString, All: e.ReplaceAll}
	}
	return edits, nil
}

// given reports whether an argument says something beside edits: some callers
// fill in the ones that they do not use.
func given(s *string) bool { return s != nil && *s != "" }

// edit finds the new content of the file.
func (c *change) edit(ctx context.Context, edits []edit.Edit, sha256 string) (edit.Result, error) {
	t := c.target
	if !c.before.exists && edits[0].Old == "" {
		return edit.Result{}, sdk.NotFound("cannot edit %s: it does not exist; use write_file to create it", t.name)
	}
	if !c.before.exists {
		return edit.Result{}, c.w.notFound("edit", t)
	}
	if c.before.bytes == nil {
		return edit.Result{}, sdk.InvalidArgument("path", "%s has %d bytes; files over %d cannot be edited: use a command for it", t.name, c.before.info.Size(), editLimit)
	}
	file := text.NewView(c.before.bytes)
	if err := binary(t, c.before.bytes, file); err != nil {
		return edit.Result{}, err
	}
	if err := c.expect(sha256); err != nil {
		return edit.Result{}, err
	}
	made, err := edit.Apply(ctx, file, edits, editLimit)
	if ctx.Err() != nil {
		c.call.Report("%s was not changed", t.name)
		return edit.Result{}, ctx.Err()
	}
	// In a file that has changed only an edit that leaves no doubt is made.
	if c.stale && (doubtful(err) || slices.ContainsFunc(edits, func(e edit.Edit) bool { return e.All })) {
		return edit.Result{}, c.changedSinceRead()
	}
	if err != nil {
		return edit.Result{}, refusedEdit(t, err)
	}
	c.becomes(made.Content)
	return made, nil
}

// doubtful reports whether err is about what is in the file, not about the edit.
func doubtful(err error) bool {
	var none *edit.NoMatch
	var many *edit.Ambiguous
	return errors.As(err, &none) || errors.As(err, &many)
}

// refusedEdit gives the reason why an edit cannot be made its category.
func refusedEdit(t target, err error) error {
	var failure *edit.Failure
	var none *edit.NoMatch
	var many *edit.Ambiguous
	var char *text.Unencodable
	var large *edit.TooLarge
	which := 1
	if errors.As(err, &failure) {
		which = failure.Edit
	}
	switch {
	case errors.As(err, &none):
		e := sdk.NotFound("cannot edit %s: %w", t.name, err).With("edit", which)
		if none.Near != nil {
			e = e.With("nearest_line", none.Near.Line).With("nearest_text", none.Near.Text)
		}
		return e
	case errors.As(err, &many):
		return sdk.InvalidArgument("old_string", "cannot edit %s: %w", t.name, err).
			With("edit", which).With("count", many.Count).With("lines", numbers(many.Lines))
	case errors.As(err, &char), errors.As(err, &large):
		return sdk.InvalidArgument("new_string", "cannot edit %s: %w", t.name, err).With("edit", which)
	}
	return sdk.InvalidArgument("old_string", "cannot edit %s: %w", t.name, err).With("edit", which)
}

// numbers is a list as details of an error carry it.
func numbers(list []int) []any {
	out := make([]any, len(list))
	for i, n := range list {
		out[i] = n
	}
	return out
}

func planEdit(call *sdk.Call[config], in editIn) (sdk.Plan, error) {
	c, _, end, err := prepareEdit(call.Context(), call, in)
	if err != nil {
		return sdk.Plan{}, err
	}
	defer end()
	return c.plan(), nil
}

func showEdit(out editOut) render.Node {
	nodes := showChange("edited "+out.Path, out.Diff, out.DiffClipped)
	if out.Note != "" {
		nodes = append(nodes, render.Styled(render.Dim, out.Note))
	}
	return render.Group(nodes...)
}
