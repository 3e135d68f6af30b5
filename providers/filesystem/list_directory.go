package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/agentco/agent/providers/filesystem/internal/atomicfile"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type listIn struct {
	Path  string `json:"path" default:"." doc:"Directory to list: absolute, or relative to the working directory."`
	Depth int    `json:"depth" default:"1" min:"1" doc:"How many levels to go down. Links to directories are shown, not followed."`
	Limit int    `json:"limit" default:"1000" min:"1" max:"10000" doc:"How many entries to return at most."`
}

type listOut struct {
	Path      string  `json:"path" doc:"The path as it was given."`
	Entries   []entry `json:"entries" doc:"Upper levels first, each directory by name."`
	Truncated bool    `json:"truncated" doc:"Whether there are more entries than limit, or than one result can carry."`
	Unread    int     `json:"unread" doc:"Directories below path that could not be read."`
	Note      string  `json:"note,omitempty" doc:"What was left out, and how to see it."`
}

type entry struct {
	Name       string `json:"name"`
	Path       string `json:"path" doc:"For use in other calls."`
	Type       string `json:"type" enum:"file,directory,link,pipe,socket,device,unknown"`
	Size       int    `json:"size"`
	Mode       string `json:"mode" doc:"Permissions in octal."`
	Modified   string `json:"modified" doc:"RFC 3339."`
	LinkTarget string `json:"link_target,omitempty"`
}

func listDirectory(ctx context.Context, call *sdk.Call[config], in listIn) (listOut, error) {
	w := call.Config.files
	t, err := w.target(call, "list", in.Path)
	if err != nil {
		return listOut{}, err
	}
	l := lister{ctx: ctx, files: w.files, limit: in.Limit, out: listOut{Path: in.Path, Entries: []entry{}}}
	if err := l.walk(t, in.Depth); err != nil {
		if info, statErr := w.files.Stat(t.resolved); statErr == nil && !info.IsDir() {
			return listOut{}, sdk.InvalidArgument("path", "cannot list %s: it is not a directory; use read_file for files", t.name)
		}
		return listOut{}, w.explain(err, "list", t)
	}
	l.note()
	return l.out, nil
}

// lister is a listing under way.
type lister struct {
	ctx     context.Context
	files   files
	limit   int
	odd     int // names that are not UTF-8
	left    int // entries left out, in directories that were read
	pending int // directories not looked into because the limit was reached
	length  int // roughly, of the entries in a message
	out     listOut
}

// A message carries a little less than 4 MiB: longest is how much of it entries
// may take, and framed what one takes besides its texts.
const (
	longest = 3 << 20
	framed  = 200
)

func (l *lister) full() bool { return len(l.out.Entries) >= l.limit || l.length >= longest }

func (l *lister) add(e entry) {
	l.out.Entries = append(l.out.Entries, e)
	l.length += framed + len(e.Name) + len(e.Path) + len(e.LinkTarget)
}

// level is a directory to be listed: the path to open, and as it is shown.
type level struct{ path, shown string }

// walk lists level by level, so that a large directory does not crowd out what
// lies beside it.
func (l *lister) walk(t target, depth int) error {
	levels := []level{{path: t.resolved, shown: t.name}}
	for n := 0; n < depth && len(levels) > 0; n++ {
		var next []level
		for _, at := range levels {
			if l.full() && n > 0 {
				l.pending++
				continue
			}
			below, err := l.list(at)
			if n == 0 && err != nil {
				return err
			}
			if l.ctx.Err() != nil {
				return l.ctx.Err()
			}
			if err != nil {
				l.out.Unread++
			}
			next = append(next, below...)
		}
		levels = next
	}
	return nil
}

// list adds the entries of one directory and returns the directories among them.
func (l *lister) list(at level) (below []level, err error) {
	dir, release, err := atomicfile.Pin(l.files, at.path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	names, err := namesIn(dir, at.path)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if l.full() {
			l.left += len(names) - i
			break
		}
		if l.ctx.Err() != nil {
			return nil, l.ctx.Err()
		}
		e, ok := l.entry(dir, at, name)
		if !ok {
			continue // it went away meanwhile
		}
		l.add(e)
		if e.Type == "directory" {
			below = append(below, level{path: filepath.Join(at.path, name), shown: filepath.Join(at.shown, name)})
		}
	}
	return below, nil
}

func namesIn(files afero.Fs, path string) ([]string, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, errors.Join(err, f.Close())
}

func (l *lister) entry(dir afero.Fs, at level, name string) (entry, bool) {
	path := filepath.Join(at.path, name)
	info, err := lstat(dir, path)
	if missing(err) {
		return entry{}, false
	}
	if !utf8.ValidString(name) {
		l.odd++
	}
	e := entry{Name: valid(name), Path: valid(filepath.Join(at.shown, name)), Type: "unknown"}
	if err != nil {
		return e, true
	}
	e.Type, e.Size = kind(info.Mode()), int(info.Size())
	e.Mode = fmt.Sprintf("%04o", octal(info.Mode()))
	e.Modified = info.ModTime().UTC().Format(time.RFC3339)
	if r, ok := dir.(afero.LinkReader); ok && e.Type == "link" {
		if to, err := r.ReadlinkIfPossible(path); err == nil {
			e.LinkTarget = valid(to)
		}
	}
	return e, true
}

func lstat(files afero.Fs, path string) (fs.FileInfo, error) {
	if l, ok := files.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(path)
		return info, err
	}
	return files.Stat(path)
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "unknown"
}

// octal is a mode as chmod takes it.
func octal(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for flag, bit := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return bits
}

// valid makes a name fit for the wire, which carries only UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (l *lister) note() {
	var notes []string
	l.out.Truncated = l.left > 0 || l.pending > 0
	if l.left > 0 {
		or := ", or raise limit"
		if l.length >= longest {
			or = ": one result carries no more"
		}
		notes = append(notes, fmt.Sprintf("%d more were left out; list a directory further down%s.", l.left, or))
	}
	if l.pending > 0 {
		notes = append(notes, fmt.Sprintf("%d directories were not looked into.", l.pending))
	}
	if l.out.Unread > 0 {
		notes = append(notes, fmt.Sprintf("%d directories could not be read.", l.out.Unread))
	}
	if l.odd > 0 {
		notes = append(notes, fmt.Sprintf("%d names are not UTF-8 and cannot be used in calls.", l.odd))
	}
	if len(l.out.Entries) == 0 {
		notes = append(notes, "The directory is empty.")
	}
	l.out.Note = strings.Join(notes, " ")
}

func planList(call *sdk.Call[config], in listIn) (sdk.Plan, error) {
	if _, err := call.Config.files.target(call, "list", in.Path); err != nil {
		return sdk.Plan{}, err
	}
	return sdk.Says("list %s", in.Path), nil
}

func showList(out listOut) render.Node {
	rows := make([][]string, len(out.Entries))
	for i, e := range out.Entries {
		name := e.Path
		if e.LinkTarget != "" {
			name += " -> " + e.LinkTarget
		}
		rows[i] = []string{name, e.Type, fmt.Sprint(e.Size), e.Mode, e.Modified}
	}
	nodes := []render.Node{render.Styled(render.Bold, out.Path)}
	if len(rows) > 0 {
		nodes = append(nodes, render.Table([]string{"name", "type", "size", "mode", "modified"}, rows...))
	}
	if out.Note != "" {
		nodes = append(nodes, render.Styled(render.Dim, out.Note))
	}
	return render.Group(nodes...)
}
