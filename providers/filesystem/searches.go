package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentco/agent/providers/filesystem/internal/glob"
	"github.com/agentco/agent/providers/filesystem/internal/ignore"
	"github.com/agentco/agent/providers/filesystem/internal/search"
	"github.com/agentco/agent/providers/filesystem/internal/walk"
	"github.com/agentco/agent/sdk"
)

// searches adds what finds files.
func searches(p *sdk.Provider[config]) {
	sdk.Tool(p, "glob", description("glob"), globFiles).
		ReadOnly().Timeout(2 * time.Minute).Preview(planGlob).Show(showGlob)
	sdk.Tool(p, "grep", description("grep"), grep).
		ReadOnly().Streaming().Timeout(5 * time.Minute).Preview(planGrep).Show(showGrep)
}

// passedOver is what a walk did not look at.
type passedOver struct {
	IgnoredFiles          int `json:"ignored_files,omitempty" doc:"Files that would have been looked at, but are ignored by git's rules."`
	IgnoredDirectories    int `json:"ignored_directories,omitempty" doc:"Directories that were not entered because git's rules ignore them."`
	Denied                int `json:"denied,omitempty" doc:"Names that the configuration denies."`
	UnreadableDirectories int `json:"unreadable_directories,omitempty"`
}

func (p *passedOver) count(c walk.Count) {
	p.IgnoredFiles, p.IgnoredDirectories = c.IgnoredFiles, c.IgnoredDirs
	p.Denied, p.UnreadableDirectories = c.Denied, c.Unread
}

// note says what may be missing from a result that is found wanting.
func (p *passedOver) note() string {
	if p.IgnoredFiles+p.IgnoredDirectories == 0 {
		return ""
	}
	return fmt.Sprintf(" Not looked at, being ignored by git's rules: %s, %s; set include_ignored to look there too.",
		count(p.IgnoredFiles, "file", "files"), count(p.IgnoredDirectories, "directory", "directories"))
}

// tree is what a search ignores.
func (w *workspace) tree(includeIgnored bool) *ignore.Tree {
	if includeIgnored {
		return nil
	}
	return w.ignores
}

// under is the path of what lies at rel in a directory, as a caller who wrote
// dir would write it.
func under(dir, rel string) string {
	switch {
	case rel == "":
		return dir
	case dir == "." || dir == "" || dir == "./":
		return rel
	}
	return strings.TrimSuffix(dir, "/") + "/" + rel
}

// isDir reports whether a name of a call is a directory.
func (w *workspace) isDir(call *sdk.Call[config], name string) bool {
	info, err := w.files.Stat(w.files.Abs(call.Dir, name))
	return err == nil && info.IsDir()
}

// badPattern is the error for a pattern that cannot be read.
func badPattern(argument string, err error) error {
	var g *glob.SyntaxError
	var r *search.SyntaxError
	switch {
	case errors.As(err, &g):
		return sdk.InvalidArgument(argument, "%w", g).With("column", g.Column)
	case errors.As(err, &r):
		return sdk.InvalidArgument(argument, "%w; the syntax is that of RE2, or set literal to look for the text itself", r).With("column", r.Column)
	}
	return err
}

// opens reports whether what is at t, a link, leads to an ordinary file.
func (w *workspace) opens(path string) (fs.FileInfo, bool) {
	info, err := w.files.Stat(path)
	return info, err == nil && info.Mode().IsRegular()
}

func join(dir, rel string) string { return filepath.Join(dir, filepath.FromSlash(rel)) }
