package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type applyIn struct {
	Files         []fileChange `json:"files" doc:"The files to change, each named once; at most 100. Either all are changed or none."`
	CreateParents bool         `json:"create_parents" default:"true" doc:"Make directories that are missing."`
}

type fileChange struct {
	Path           string        `json:"path" doc:"File to change: absolute, or relative to the working directory."`
	Edits          []replacement `json:"edits,omitempty" doc:"Replacements, as for edit_file. Give one of edits, content and delete."`
	Content        *string       `json:"content,omitempty" doc:"The whole new content, as for write_file."`
	Delete         bool          `json:"delete" default:"false" doc:"Delete the file, or the link itself."`
	ExpectedSHA256 string        `json:"expected_sha256,omitempty" doc:"Change only if the file has this hash, as read_file gave it."`
}

type applyOut struct {
	Applied []fileChanged `json:"applied" doc:"One for each file, in the order given."`
}

type fileChanged struct {
	Path         string `json:"path" doc:"The path as it was given."`
	Change       string `json:"change" enum:"edited,written,created,deleted,unchanged"`
	Replacements int    `json:"replacements,omitempty" doc:"How many matches were replaced."`
	SHA256       string `json:"sha256,omitempty" doc:"Hash of the content now."`
	Diff         string `json:"diff,omitempty" doc:"Unified diff of the change."`
	DiffClipped  bool   `json:"diff_clipped,omitempty" doc:"Whether the diff is incomplete, being too long or not text."`
}

const mostFiles = 100

// check looks at what can be wrong whatever the files hold.
func (in applyIn) check() error {
	if n := len(in.Files); n == 0 || n > mostFiles {
		return sdk.InvalidArgument("files", "has %d files; give between 1 and %d", n, mostFiles)
	}
	for i, f := range in.Files {
		ways := 0
		for _, given := range []bool{len(f.Edits) > 0, f.Content != nil, f.Delete} {
			if given {
				ways++
			}
		}
		if ways != 1 {
			return sdk.InvalidArgument("files", "file %d of %d, %s, has %d of edits, content and delete; give one", i+1, len(in.Files), f.Path, ways)
		}
	}
	return nil
}

// application is a call of apply_edits under way.
type application struct {
	w       *workspace
	call    *sdk.Call[config]
	in      applyIn
	targets []target
	batch   *atomicfile.Batch // nil: only a plan is wanted
	changes []*change         // those that do change something; nil for a deletion
	gone    []*deletion
	stay    []func() // of directories that were made
	out     applyOut
	room    int // for diffs
}

func applyEdits(ctx context.Context, call *sdk.Call[config], in applyIn) (out applyOut, err error) {
	a, end, err := prepareApply(ctx, call, in)
	if err != nil {
		return applyOut{}, err
	}
	defer end()
	a.batch = a.w.writer.Begin()
	defer func() {
		if closed := a.batch.Close(); err == nil && closed != nil {
			call.Log().Warn("temporary files stay until the next start", "error", closed)
		}
		for _, noted := range a.stay {
			noted()
		}
	}()
	if err = a.run(ctx); err == nil {
		err = a.commit(ctx)
	}
	if err != nil {
		a.abandon(ctx)
		return applyOut{}, err
	}
	return a.out, nil
}

func prepareApply(ctx context.Context, call *sdk.Call[config], in applyIn) (*application, func(), error) {
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	a := &application{w: call.Config.files, call: call, in: in, room: call.Config.files.maxResult}
	targets, end, err := a.w.lock(ctx, call, a.find)
	if err != nil {
		return nil, nil, err
	}
	a.targets = targets
	seen := map[string]string{}
	for i, t := range targets {
		if first, ok := seen[t.resolved]; ok {
			end()
			return nil, nil, sdk.InvalidArgument("files", "%s and %s are the same file; give all edits of a file at once", first, in.Files[i].Path)
		}
		seen[t.resolved] = in.Files[i].Path
	}
	return a, end, nil
}

func (a *application) find() ([]target, error) {
	targets := make([]target, len(a.in.Files))
	for i, f := range a.in.Files {
		var err error
		if f.Delete {
			targets[i], err = a.w.itself(a.call, "delete", "path", f.Path)
		} else {
			targets[i], err = a.w.file(a.call, "change", f.Path)
		}
		if err != nil {
			return nil, a.which(i, err)
		}
	}
	return targets, nil
}

// which says which of several files an error is about.
func (a *application) which(i int, err error) error {
	var known *sdk.Error
	if len(a.in.Files) == 1 || !errors.As(err, &known) {
		return err
	}
	more := *known
	more.Err = err
	more.Message = fmt.Sprintf("file %d of %d: %s (no file was changed)", i+1, len(a.in.Files), known.Message)
	return more.With("file", i+1)
}

// leastShare is what the diff of a file of several takes, whatever the others need.
const leastShare = 256

// share is the room for the diff of file i: what it may need, if the others need
// no more than is left then; what is missing is taken from those that need most.
func (a *application) share(i int) int {
	needs := make([]int, 0, len(a.in.Files)-i)
	for _, f := range a.in.Files[i:] {
		needs = append(needs, f.need(a.w.maxResult))
	}
	mine, room := needs[0], a.room
	slices.Sort(needs)
	for at, need := range needs {
		share := room / (len(needs) - at)
		if need > share {
			return max(min(mine, share), leastShare)
		}
		room -= need
	}
	// All have room; what was reckoned may be too little for this one.
	return max(mine+room, leastShare)
}

// need is about how long the diff of a file will be, as far as that can be told
// before it is read; at most most.
func (f fileChange) need(most int) int {
	const headers, around = 2 * leastShare, 128
	switch {
	case f.Delete:
		return 0
	case f.Content != nil:
		return min(headers+2*len(*f.Content), most)
	}
	n := headers
	for _, e := range f.Edits {
		if e.ReplaceAll {
			return most
		}
		n += around + len(e.OldString) + len(e.NewString)
	}
	return min(n, most)
}

// run prepares one file after the other. Only one is held in memory at a time.
func (a *application) run(ctx context.Context) error {
	for i, f := range a.in.Files {
		a.call.Progress(i, len(a.in.Files))
		var err error
		if f.Delete {
			err = a.delete(ctx, i)
		} else {
			err = a.change(ctx, i)
		}
		if err != nil {
			return a.which(i, err)
		}
	}
	return nil
}

func (a *application) delete(ctx context.Context, i int) error {
	f := a.in.Files[i]
	d := &deletion{w: a.w, call: a.call, t: a.targets[i]}
	if err := d.check(ctx, false); err != nil {
		return a.w.explain(err, "delete", d.t)
	}
	if d.info.IsDir() {
		return sdk.InvalidArgument("files", "cannot delete %s: it is a directory; use delete for it", f.Path)
	}
	if f.ExpectedSHA256 != "" {
		c, err := a.w.open(ctx, a.call, "delete", d.t)
		if err != nil {
			return err
		}
		err = c.expect(f.ExpectedSHA256)
		c.free()
		if err != nil {
			return err
		}
	}
	done := fileChanged{Path: f.Path, Change: "deleted"}
	if a.batch == nil {
		done.Path = d.t.shown()
	}
	a.out.Applied = append(a.out.Applied, done)
	if a.batch == nil {
		return nil
	}
	a.gone = append(a.gone, d)
	d.kept, d.lost = d.keep(ctx)
	return a.batch.Remove(d.t.resolved, d.untouched)
}

func (a *application) change(ctx context.Context, i int) error {
	f := a.in.Files[i]
	doing := "edit"
	if f.Content != nil {
		doing = "write"
	}
	c, err := a.w.open(ctx, a.call, doing, a.targets[i])
	if err != nil {
		return err
	}
	defer c.free()
	c.parents = a.in.CreateParents
	done, err := c.carryOut(ctx, f)
	if err != nil {
		return err
	}
	room, longest := a.share(i), a.w.maxResult
	if a.batch == nil {
		longest, done.Path = longestPlanned, c.target.shown()
	}
	done.Diff, done.DiffClipped = c.unifiedWithin(room, longest)
	a.room -= len(done.Diff)
	a.out.Applied = append(a.out.Applied, done)
	if a.batch == nil || done.Change == "unchanged" {
		return nil
	}
	return a.stage(ctx, c)
}

// carryOut finds the new content of a file of several.
func (c *change) carryOut(ctx context.Context, f fileChange) (done fileChanged, err error) {
	done = fileChanged{Path: f.Path}
	if f.Content != nil {
		c.becomes([]byte(*f.Content))
		err = c.writable(f.ExpectedSHA256)
	} else {
		in := editIn{Edits: f.Edits}
		edits, listErr := in.list()
		if listErr != nil {
			return done, listErr
		}
		made, editErr := c.edit(ctx, edits, f.ExpectedSHA256)
		done.Replacements, err = made.Total(), editErr
	}
	if err != nil {
		return done, err
	}
	done.SHA256 = c.sum()
	switch {
	case c.same():
		done.Change = "unchanged"
	case !c.before.exists:
		done.Change = "created"
	case f.Content != nil:
		done.Change = "written"
	default:
		done.Change = "edited"
	}
	return done, nil
}

func (a *application) stage(ctx context.Context, c *change) error {
	a.changes = append(a.changes, c)
	replacement, err := c.ready(ctx)
	a.batch.Made(c.made)
	if c.stay != nil {
		a.stay, c.stay = append(a.stay, c.stay), nil
	}
	if err == nil {
		err = a.batch.Write(ctx, replacement)
	}
	if err != nil {
		return a.w.explain(err, c.doing, c.target)
	}
	return nil
}

func (a *application) commit(ctx context.Context) error {
	err := a.batch.Commit(ctx)
	var half *atomicfile.HalfError
	switch {
	case errors.As(err, &half):
		return sdk.Failed("the files could be neither changed nor changed back: %w", half)
	case err != nil:
		return a.w.explain(err, "change", target{name: count(len(a.in.Files), "file", "files"), argument: "files"})
	}
	for _, c := range a.changes {
		c.wrote()
	}
	for _, d := range a.gone {
		d.wrote()
	}
	a.changes, a.gone = nil, nil
	if ctx.Err() != nil {
		a.call.Report("all files were changed before the call was cancelled")
	}
	return ctx.Err()
}

func (a *application) abandon(ctx context.Context) {
	for _, c := range a.changes {
		c.kept.Discard()
	}
	for _, d := range a.gone {
		d.kept.Discard()
	}
	if ctx.Err() != nil && len(a.changes)+len(a.gone) > 0 {
		a.call.Report("no file was changed")
	}
}

func planApply(call *sdk.Call[config], in applyIn) (sdk.Plan, error) {
	a, end, err := prepareApply(call.Context(), call, in)
	if err != nil {
		return sdk.Plan{}, err
	}
	defer end()
	if err := a.run(call.Context()); err != nil {
		return sdk.Plan{}, err
	}
	return sdk.Shows(a.out.nodes(planned)...), nil
}

// planned is what a change is called before it is made.
var planned = map[string]string{"edited": "edit", "written": "write", "created": "create", "deleted": "delete", "unchanged": "leave"}

// nodes show each file under what was done with it, or under what words has for that.
func (out applyOut) nodes(words map[string]string) (nodes []render.Node) {
	for _, f := range out.Applied {
		title := cmp.Or(words[f.Change], f.Change) + " " + f.Path
		if f.Change == "deleted" {
			nodes = append(nodes, render.Styled(render.Bold, title))
			continue
		}
		nodes = append(nodes, showChange(title, f.Diff, f.DiffClipped)...)
	}
	return nodes
}

func showApply(out applyOut) render.Node { return render.Group(out.nodes(nil)...) }
