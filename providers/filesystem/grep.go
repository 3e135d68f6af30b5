package main

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/agentco/agent/providers/filesystem/internal/glob"
	"github.com/agentco/agent/providers/filesystem/internal/search"
	"github.com/agentco/agent/providers/filesystem/internal/walk"
	"github.com/agentco/agent/sdk"
)

type grepIn struct {
	Pattern        string `json:"pattern" doc:"Regular expression in the syntax of RE2."`
	Path           string `json:"path" default:"." doc:"Directory or file to search, taken literally: absolute, or relative to the working directory."`
	Glob           string `json:"glob,omitempty" doc:"Which files to search, as in *.go or src/**/*.{ts,tsx}; !*.md is all others. Without a slash it is about the name alone."`
	Literal        bool   `json:"literal" default:"false" doc:"The pattern is the text itself."`
	IgnoreCase     bool   `json:"ignore_case" default:"false"`
	Multiline      bool   `json:"multiline" default:"false" doc:"A match may span lines, and a dot is any character."`
	Before         int    `json:"before" default:"0" min:"0" max:"50" doc:"How many lines before each match to show, in mode content."`
	After          int    `json:"after" default:"0" min:"0" max:"50" doc:"How many lines after each match to show, in mode content."`
	Mode           string `json:"mode" default:"files" enum:"files,content,count" doc:"files: which files match. content: the lines that do. count: how many lines of each file do."`
	Limit          int    `json:"limit" default:"250" min:"1" max:"5000" doc:"How many matches to return at most."`
	Offset         int    `json:"offset" default:"0" min:"0" max:"10000" doc:"How many matches to pass over, to go on where a result ended."`
	IncludeIgnored bool   `json:"include_ignored" default:"false" doc:"Also search what git's ignore rules leave out."`
}

type grepOut struct {
	Mode       string      `json:"mode" enum:"files,content,count"`
	Matches    []grepMatch `json:"matches" doc:"By path: of each directory first its files, then the directories in it."`
	Total      int         `json:"total" doc:"How many matches there are in all: lines in mode content, else files."`
	Files      int         `json:"files" doc:"How many files match."`
	Searched   int         `json:"searched" doc:"How many files were read."`
	Complete   bool        `json:"complete" doc:"Whether there are no more matches behind these."`
	NextOffset int         `json:"next_offset,omitempty" doc:"The offset with which to go on."`
	LeftOut    leftOut     `json:"left_out,omitempty" doc:"What was not searched."`
	Note       string      `json:"note,omitempty" doc:"What there is to know about the result, and how to go on."`
}

// leftOut is what a search did not look at.
type leftOut struct {
	passedOver
	UnreadableFiles int `json:"unreadable_files,omitempty"`
	Binary          int `json:"binary,omitempty" doc:"Files that are no text."`
	TooLarge        int `json:"too_large,omitempty" doc:"Files over 4 MiB, which a multiline pattern does not look at."`
}

type grepMatch struct {
	Path    string   `json:"path" doc:"For use in other calls."`
	Line    int      `json:"line,omitempty" doc:"From 1; in mode content."`
	EndLine int      `json:"end_line,omitempty" doc:"The last line of a match that spans several."`
	Text    *string  `json:"text,omitempty" doc:"The line, in mode content, decoded."`
	Clipped bool     `json:"clipped,omitempty" doc:"Whether text is only what is around the match."`
	Before  []string `json:"before,omitempty" doc:"Lines before it that are not shown with another match."`
	After   []string `json:"after,omitempty" doc:"Lines after it."`
	Count   int      `json:"count,omitempty" doc:"How many lines match, in mode count."`
}

// grepping is a call that was found to make sense.
type grepping struct {
	grepIn
	target
	matcher *search.Matcher
	filter  *glob.Pattern // nil: every file
	not     bool          // those that the filter does not match
}

func (w *workspace) grepping(call *sdk.Call[config], in grepIn) (g grepping, err error) {
	g.grepIn = in
	g.matcher, err = search.Compile(search.Query{Pattern: in.Pattern, Literal: in.Literal, IgnoreCase: in.IgnoreCase, Multiline: in.Multiline})
	if err != nil {
		return g, badPattern("pattern", err)
	}
	if in.Glob != "" {
		pattern, not := strings.CutPrefix(in.Glob, "!")
		if !strings.Contains(pattern, "/") {
			pattern = "**/" + pattern
		}
		if g.filter, err = glob.Parse(pattern, nil); err != nil {
			return g, badPattern("glob", err)
		}
		g.not = not
	}
	g.target, err = w.target(call, "search", in.Path)
	return g, err
}

func (g *grepping) enter(rel string) bool { return g.filter == nil || g.not || g.filter.Enter(rel) }

func (g *grepping) wants(rel, name string) bool {
	return g.filter == nil || g.filter.Match(rel, name) != g.not
}

func grep(ctx context.Context, call *sdk.Call[config], in grepIn) (grepOut, error) {
	w := call.Config.files
	g, err := w.grepping(call, in)
	if err != nil {
		return grepOut{}, err
	}
	p := &page{grepping: g, call: call, room: w.maxResult, out: grepOut{Mode: in.Mode, Matches: []grepMatch{}}}
	start, err := walk.Open(w.files, g.resolved)
	switch {
	case isNoDirectory(err):
		err = p.file(ctx, w)
	case err == nil:
		err = p.walk(ctx, w, start)
	}
	if ctx.Err() != nil {
		call.Report("the search was cancelled after %s, in %s of which there were matches", count(int(p.files.Load()), "file", "files"), count(p.out.Files, "file", "files"))
	}
	if err != nil {
		return grepOut{}, w.explain(err, "search", g.target)
	}
	p.end()
	return p.out, nil
}

func (p *page) walk(ctx context.Context, w *workspace, start walk.Dir) error {
	met, err := walk.Run(ctx, start, p.resolved, walk.Options[hits]{
		Tree: w.tree(p.IncludeIgnored), Enter: p.enter, Keep: p.wants, Visit: p.visit, Give: p.give,
	})
	p.out.LeftOut.count(met)
	return err
}

// file searches the one file that the path names, ignored or not.
func (p *page) file(ctx context.Context, w *workspace) (err error) {
	f, err := w.files.Open(p.resolved)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // opened for reading only
	o := p.options()
	defer context.AfterFunc(ctx, func() { p.stopped.Store(true) })()
	o.Stopped = &p.stopped
	got, err := search.Search(f, o)
	if err != nil {
		return err
	}
	h := hits{searched: 1}
	h.add("", got)
	p.give(h)
	return ctx.Err()
}

func planGrep(call *sdk.Call[config], in grepIn) (sdk.Plan, error) {
	if _, err := call.Config.files.grepping(call, in); err != nil {
		return sdk.Plan{}, err
	}
	where := in.Path
	if in.Glob != "" {
		where = fmt.Sprintf("files like %s in %s", in.Glob, in.Path)
	}
	return sdk.Says("search %s for %s", where, in.Pattern), nil
}

func isNoDirectory(err error) bool { return reason(err) == syscall.ENOTDIR } //nolint:errorlint // it is bare
