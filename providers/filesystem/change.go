package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/providers/filesystem/internal/diff"
	"github.com/agentco/agent/providers/filesystem/internal/ledger"
	"github.com/agentco/agent/providers/filesystem/internal/text"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

// change is one file on its way from what it is to what it will be. Writing and
// editing differ only in how they find the new content.
type change struct {
	w       *workspace
	call    *sdk.Call[config]
	doing   string // "write" or "edit"
	target  target
	before  state
	after   []byte
	stale   bool // another has changed the file since the session saw it
	parents bool // make missing directories
}

// begin finds the file and takes its lock; end lets it go.
func (w *workspace) begin(ctx context.Context, call *sdk.Call[config], doing, path string) (c *change, end func(), err error) {
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, "/.") {
		return nil, nil, sdk.InvalidArgument("path", "cannot %s %s: it ends in a slash or a dot, as only the path of a directory does", doing, clip(path))
	}
	for {
		t, err := w.target(call, doing, path)
		if err != nil {
			return nil, nil, err
		}
		end, err = w.locks.Lock(ctx, t.resolved)
		if err != nil {
			call.Report("%s was not changed", t.name)
			return nil, nil, err
		}
		// A link on the way may have come to mean another file while waiting.
		if again, err := w.files.Resolve(t.path); err != nil || again == t.resolved {
			c = &change{w: w, call: call, doing: doing, target: t}
			break
		}
		end()
	}
	if err = w.files.Writable(c.target.resolved); err == nil {
		c.before, err = w.load(c.target)
	}
	if err != nil {
		end()
		return nil, nil, w.explain(err, doing, c.target)
	}
	return c, end, nil
}

// expect checks that the caller knows what it is about to change. Without
// knowing the file it cannot; knowing an older state makes the change stale.
func (c *change) expect(sha256 string) error {
	switch {
	case sha256 != "" && !c.before.exists:
		return sdk.NotFound("cannot %s %s: expected_sha256 is given, but the file does not exist", c.doing, c.target.name)
	case sha256 != "" && !strings.EqualFold(sha256, c.before.stamp.SHA256):
		return conflict(c.target, sha256, c.before.stamp.SHA256)
	case sha256 != "" || !c.before.exists || !c.w.readFirst:
		return nil
	}
	seen, ok := c.w.seen.Last(c.call.SessionID, c.target.resolved)
	if !ok {
		return sdk.Failed("cannot %s %s: this session has not read it; read it with read_file first, or pass its sha256, which read_file shows, as expected_sha256", c.doing, c.target.name)
	}
	c.stale = !seen.Same(c.before.stamp)
	return nil
}

func (c *change) changedSinceRead() error {
	return sdk.Failed("cannot %s %s: it has changed since this session read it; read it again with read_file", c.doing, c.target.name)
}

// apply writes the new content. Whatever error it returns, nothing has changed.
func (c *change) apply(ctx context.Context) error {
	if c.before.exists && c.before.bytes != nil && slices.Equal(c.before.bytes, c.after) {
		c.saw()
		return nil
	}
	made, err := c.makeParents()
	if err == nil {
		err = c.w.writer.Write(ctx, atomicfile.Change{Name: c.target.resolved, Content: bytes.NewReader(c.after), Guard: c.untouched})
	}
	if err != nil {
		c.removeParents(made)
		if ctx.Err() != nil {
			c.call.Report("%s was not changed", c.target.name)
		}
		return c.w.explain(err, c.doing, c.target)
	}
	c.saw()
	if ctx.Err() != nil {
		c.call.Report("%s was written before the call was cancelled", c.target.name)
		return ctx.Err()
	}
	return nil
}

// untouched is the last look before the new content takes its place.
func (c *change) untouched() error {
	info, err := c.w.files.Stat(c.target.resolved)
	switch {
	case missing(err) && !c.before.exists:
		return nil
	case err != nil && !missing(err):
		return err
	case err == nil && c.before.exists && info.Size() == c.before.info.Size() && info.ModTime().Equal(c.before.info.ModTime()):
		return nil
	}
	return sdk.Conflict("cannot %s %s: something else changed it at the same moment; read it again", c.doing, c.target.name)
}

// saw notes that the session knows the new state, having made it.
func (c *change) saw() {
	if info, err := c.w.files.Stat(c.target.resolved); err == nil {
		c.w.seen.Saw(c.call.SessionID, c.target.resolved, stamp(info, sum(c.after)))
	} else {
		c.w.seen.Saw(c.call.SessionID, c.target.resolved, ledger.Stamp{SHA256: sum(c.after), Size: int64(len(c.after))})
	}
}

// makeParents makes the directories above the file that are missing, and
// returns them, the lowest first.
func (c *change) makeParents() ([]string, error) {
	var made []string
	dir := filepath.Dir(c.target.resolved)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := c.w.files.Stat(at); !missing(err) {
			break
		}
		made = append(made, at)
	}
	if len(made) == 0 {
		return nil, nil
	}
	if !c.parents {
		return nil, c.noDirectory()
	}
	return made, c.w.files.MkdirAll(dir, 0o777)
}

// wantParents returns an error if the directory is missing and may not be made.
func (c *change) wantParents() error {
	if _, err := c.w.files.Stat(filepath.Dir(c.target.resolved)); c.parents || !missing(err) {
		return nil
	}
	return c.noDirectory()
}

func (c *change) noDirectory() error {
	return sdk.NotFound("cannot %s %s: the directory %s does not exist; set create_parents to make it", c.doing, c.target.name, filepath.Dir(c.target.name))
}

// removeParents takes back what makeParents made, as far as it is still empty.
func (c *change) removeParents(made []string) {
	for _, dir := range made {
		if err := c.w.files.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// texts are the two states as people see them. Line ends are shown only if they
// are what changed. They are not for a file that is binary or too large.
func (c *change) texts() (before, after string, ok bool) {
	if c.before.exists && c.before.bytes == nil {
		return "", "", false
	}
	from, to := text.NewView(c.before.bytes), text.NewView(c.after)
	if from.Census.Binary() || to.Census.Binary() {
		return "", "", false
	}
	before, after = string(from.Text), string(to.Text)
	if before == after {
		before, after = visibleEnds(c.before.bytes, before), visibleEnds(c.after, after)
	}
	return before, after, true
}

// visibleEnds returns narrow text with its line ends as they are.
func visibleEnds(raw []byte, decoded string) string {
	if text.Detect(raw).Wide() {
		return decoded
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// unified is the change as a diff, within what a result may hold.
func (c *change) unified() (unified string, clipped bool) {
	before, after, ok := c.texts()
	if !ok {
		return "", true
	}
	return diff.Unified(c.target.name, before, after, c.w.maxResult)
}

// plan shows the change without making it.
func (c *change) plan() sdk.Plan {
	unified, clipped := c.unified()
	title := c.doing + " " + c.target.name
	if !c.before.exists {
		title = "create " + c.target.name
	}
	return sdk.Shows(showChange(title, unified, clipped)...)
}

func showChange(title, unified string, clipped bool) []render.Node {
	nodes := []render.Node{render.Styled(render.Bold, title)}
	if unified != "" {
		nodes = append(nodes, diff.Node(unified))
	}
	switch {
	case clipped && unified == "":
		nodes = append(nodes, render.Styled(render.Dim, "The change cannot be shown as text."))
	case clipped:
		nodes = append(nodes, render.Styled(render.Dim, "The change goes on; only its beginning is shown."))
	case unified == "":
		nodes = append(nodes, render.Styled(render.Dim, "Nothing changes."))
	}
	return nodes
}
