package main

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentco/agent/providers/filesystem/internal/glob"
	"github.com/agentco/agent/providers/filesystem/internal/walk"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type globIn struct {
	Pattern        string `json:"pattern" doc:"What paths look like: * and ? stop at a slash, ** is any number of directories, also [a-z], [!a] and {a,b}."`
	Path           string `json:"path" default:"." doc:"Directory to look in, taken literally: absolute, or relative to the working directory."`
	Limit          int    `json:"limit" default:"100" min:"1" max:"10000" doc:"How many paths to return at most."`
	IncludeIgnored bool   `json:"include_ignored" default:"false" doc:"Also find what git's ignore rules leave out."`
}

type globOut struct {
	Paths    []string   `json:"paths" doc:"For use in other calls; what was changed last comes first."`
	Total    int        `json:"total" doc:"How many files match in all."`
	Complete bool       `json:"complete" doc:"Whether paths are all of them."`
	LeftOut  passedOver `json:"left_out,omitempty" doc:"What was not looked at."`
	Note     string     `json:"note,omitempty" doc:"What there is to know about the result, and what to do."`
}

// globbing is a call that was found to make sense.
type globbing struct {
	globIn
	pattern *glob.Pattern
	target  // where the walk begins
}

func (w *workspace) globbing(call *sdk.Call[config], in globIn) (g globbing, err error) {
	g.globIn = in
	g.pattern, err = glob.Parse(in.Pattern, func(dir string) bool { return w.isDir(call, g.from(dir)) })
	if err != nil {
		return g, badPattern("pattern", err)
	}
	g.target, err = w.target(call, "search", g.from(g.pattern.Base))
	return g, err
}

// from is a directory of the pattern as a path of the call.
func (g *globbing) from(base string) string {
	if path.IsAbs(base) {
		return base
	}
	return under(g.Path, base)
}

func globFiles(ctx context.Context, call *sdk.Call[config], in globIn) (globOut, error) {
	w := call.Config.files
	g, err := w.globbing(call, in)
	if err != nil {
		return globOut{}, err
	}
	start, err := walk.Open(w.files, g.resolved)
	if err != nil {
		err = w.explain(err, "search", g.target)
		if g.pattern.Base != "" && w.isDir(call, in.Path) {
			// A pattern whose directory is not there matches nothing, which is an answer.
			return globOut{Paths: []string{}, Complete: true, Note: "Nothing matches: " + err.Error() + "."}, nil
		}
		return globOut{}, err
	}
	newest, out := newest{limit: in.Limit}, globOut{}
	met, err := walk.Run(ctx, start, g.resolved, walk.Options[[]found]{
		Tree:  w.tree(in.IncludeIgnored || g.pattern.Literal),
		Enter: g.pattern.Enter,
		Keep:  g.pattern.Match,
		Visit: func(b walk.Batch) ([]found, int) { return w.look(b, g.resolved) },
		Give:  newest.add,
	})
	if err != nil {
		return globOut{}, err
	}
	out.LeftOut.count(met)
	newest.report(&out, g.name)
	return out, nil
}

// found is a file that matches.
type found struct {
	path    string // from where the walk began
	changed time.Time
}

// look finds out which of the names are files, and when they were changed. Of
// links those count that lead to a file inside.
func (w *workspace) look(b walk.Batch, top string) ([]found, int) {
	var files []found
	size := 0
	for _, e := range b.Files {
		if b.Stopped.Load() {
			break
		}
		f := found{path: walk.Join(b.Rel, e.Name)}
		switch {
		case walk.Regular(e):
			info, err := b.Dir.Lstat(e.Name)
			if missing(err) {
				continue
			}
			f.changed = info.ModTime
		case e.Type&fs.ModeSymlink != 0:
			info, ok := w.opens(join(top, f.path))
			if !ok {
				continue
			}
			f.changed = info.ModTime()
		default:
			continue
		}
		files, size = append(files, f), size+len(f.path)
	}
	return files, size
}

// newest keeps the files that were changed last.
type newest struct {
	limit, total int
	files        []found
}

func (n *newest) add(some []found) {
	n.total += len(some)
	if n.files = append(n.files, some...); len(n.files) > 4*n.limit+1000 {
		n.cut()
	}
}

func (n *newest) cut() {
	slices.SortFunc(n.files, func(a, b found) int {
		if c := b.changed.Compare(a.changed); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	n.files = n.files[:min(n.limit, len(n.files))]
}

func (n *newest) report(out *globOut, top string) {
	n.cut()
	odd, length := 0, 0
	out.Total, out.Paths = n.total, []string{}
	for _, f := range n.files {
		if length += framed + len(f.path) + len(top); length > longest {
			break
		}
		if !utf8.ValidString(f.path) {
			odd++
		}
		out.Paths = append(out.Paths, valid(under(top, f.path)))
	}
	out.Complete = len(out.Paths) == n.total
	var notes []string
	switch {
	case n.total == 0:
		notes = append(notes, "No file matches."+out.LeftOut.note())
	case !out.Complete:
		notes = append(notes, fmt.Sprintf("These are the newest %d of %d; narrow the pattern, or raise limit.", len(out.Paths), n.total))
	}
	if odd > 0 {
		notes = append(notes, fmt.Sprintf("%d names are not UTF-8 and cannot be used in calls.", odd))
	}
	out.Note = strings.Join(notes, " ")
}

func planGlob(call *sdk.Call[config], in globIn) (sdk.Plan, error) {
	if _, err := call.Config.files.globbing(call, in); err != nil {
		return sdk.Plan{}, err
	}
	return sdk.Says("find files like %s in %s", in.Pattern, in.Path), nil
}

func showGlob(out globOut) render.Node {
	var nodes []render.Node
	if len(out.Paths) > 0 {
		items := make([]render.Node, len(out.Paths))
		for i, p := range out.Paths {
			items[i] = render.Text(p)
		}
		nodes = append(nodes, render.List(items...))
	}
	if out.Note != "" {
		nodes = append(nodes, render.Styled(render.Dim, out.Note))
	}
	return render.Group(nodes...)
}
