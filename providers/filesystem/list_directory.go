package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/agentco/agent/providers/filesystem/internal/ignore"
	"github.com/agentco/agent/providers/filesystem/internal/walk"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/jail"
	"github.com/agentco/agent/sdk/render"
)

type listIn struct {
	Path  string `json:"path" default:"." doc:"Directory to list: absolute, or relative to the working directory."`
	Depth int    `json:"depth" default:"1" min:"1" doc:"How many levels to go down. Links to directories are shown, not followed; what git ignores is shown, not looked into."`
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
	l := lister{
		ctx: ctx, files: w.files, tree: w.ignores, limit: in.Limit, out: listOut{Path: in.Path, Entries: []entry{}},
		modes: latest[fs.FileMode]{write: mode}, times: latest[int64]{write: modified},
	}
	if err := l.walk(t, in.Depth); err != nil {
		if isNoDirectory(err) {
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
	tree    *ignore.Tree
	limit   int
	odd     int    // names that are not UTF-8
	left    int    // entries left out, in directories that were read
	pending int    // directories not looked into because the limit was reached
	ignored int    // directories not looked into because git ignores them
	open    int    // directories
	length  int    // roughly, of the entries in a message
	found   []seen // in the directory at hand
	modes   latest[fs.FileMode]
	times   latest[int64]
	out     listOut
}

// A message carries a little less than 4 MiB: longest is how much of it entries
// may take, and framed what one takes besides its texts.
const (
	longest = 3 << 20
	framed  = 200
)

func (l *lister) full() bool { return len(l.out.Entries) >= l.limit || l.length >= longest }

// makeRoom makes room for n entries, and if it has to for about as many more as
// there are: those of a whole tree come by and by.
func (l *lister) makeRoom(n int) {
	if have := len(l.out.Entries); cap(l.out.Entries)-have < n {
		l.out.Entries = slices.Grow(l.out.Entries, max(n, min(have, l.limit-have)))
	}
}

func (l *lister) add(e entry) {
	l.out.Entries = append(l.out.Entries, e)
	l.length += framed + len(e.Name) + len(e.Path) + len(e.LinkTarget)
}

// level is a directory to be listed.
type level struct {
	in    *opened // the directory that name is in; nil: it is opened by its path
	name  string
	path  string
	shown string // the path as the caller writes it
	rules *ignore.Rules
}

// opened is a directory that those in it are still to be opened from.
type opened struct {
	walk.Dir
	users int
}

// mostOpen is how many directories wait for those in them to be listed.
const mostOpen = 256

func (l *lister) release(d *opened) {
	if d.users--; d.users == 0 {
		l.open--
		_ = d.Close() // it was only read
	}
}

// walk lists level by level, so that a large directory does not crowd out what
// lies beside it.
func (l *lister) walk(t target, depth int) error {
	top := level{path: t.resolved, shown: t.name}
	if depth > 1 {
		top.rules = l.tree.Above(t.resolved)
	}
	levels, err := l.list(top, depth > 1)
	for n := 2; err == nil && n <= depth && len(levels) > 0; n++ {
		var next []level
		for _, at := range levels {
			below, err := l.list(at, n < depth)
			if err != nil {
				l.out.Unread++
			}
			next = append(next, below...)
		}
		levels = next
	}
	for _, at := range levels {
		if at.in != nil {
			l.release(at.in)
		}
	}
	return errors.Join(err, l.ctx.Err())
}

func (l *lister) enter(at level) (walk.Dir, error) {
	if at.in == nil {
		return walk.Open(l.files, at.path)
	}
	defer l.release(at.in)
	return at.in.Dir.Dir(at.name)
}

// list adds the entries of one directory and returns, if they are to be listed
// too, the directories among them.
func (l *lister) list(at level, deeper bool) (below []level, err error) {
	if at.in != nil && l.full() {
		l.release(at.in)
		l.pending++
		return nil, nil
	}
	opening, err := l.enter(at)
	if err != nil {
		return nil, err
	}
	l.open++
	dir := &opened{Dir: opening, users: 1}
	defer l.release(dir)
	entries, _, err := dir.Entries()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b jail.Entry) int { return strings.Compare(a.Name, b.Name) })
	if deeper {
		at.rules = walk.Rules(l.tree, at.rules, dir.Dir, at.path, entries)
	}
	seen := l.look(dir, entries)
	l.makeRoom(len(seen))
	for i, e := range entries {
		if l.ctx.Err() != nil {
			break
		}
		if i == len(seen) || l.full() {
			l.left += len(entries) - i
			break
		}
		if l.entry(at, e.Name, seen[i]) && deeper {
			below = l.further(below, dir, at, e.Name)
		}
	}
	return below, nil
}

// further adds a directory that is to be listed later.
func (l *lister) further(below []level, dir *opened, at level, name string) []level {
	if name == ".git" || at.rules.Ignored(at.path, name, true) {
		l.ignored++
		return below
	}
	next := level{name: name, path: filepath.Join(at.path, name), shown: under(at.shown, name), rules: at.rules}
	if l.open <= mostOpen {
		next.in = dir
		dir.users++
	}
	return append(below, next)
}

// entry adds one entry and reports whether it is a directory.
func (l *lister) entry(at level, name string, s seen) bool {
	e := entry{Name: name, Path: under(at.shown, name), Type: "unknown", LinkTarget: valid(s.link)}
	if !utf8.ValidString(name) {
		l.odd++
		e.Name, e.Path = valid(e.Name), valid(e.Path)
	}
	switch {
	case missing(s.err):
		return false // it went away meanwhile
	case s.err == nil:
		e.Type, e.Size = kind(s.Mode), int(s.Size)
		e.Mode, e.Modified = l.modes.of(s.Mode), l.times.of(s.ModTime.Unix())
	}
	l.add(e)
	return e.Type == "directory"
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
	if mode&fs.ModeSetuid != 0 {
		bits |= 0o4000
	}
	if mode&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	if mode&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	return bits
}

// mode is a mode in four digits.
func mode(m fs.FileMode) string {
	bits := octal(m)
	return string([]byte{'0' + byte(bits>>9), '0' + byte(bits>>6&7), '0' + byte(bits>>3&7), '0' + byte(bits&7)})
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
	if l.ignored > 0 {
		notes = append(notes, count(l.ignored, "directory was", "directories were")+" not looked into, being .git or ignored by git; list one to see what is in it.")
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

// showList names what is there as seen from the directory above it: to repeat that in each row would be half of a long
// listing.
func showList(out listOut) render.Node {
	above := under(out.Path, "x")
	above = above[:len(above)-1]
	rows := make([][]string, len(out.Entries))
	for i, e := range out.Entries {
		name := strings.TrimPrefix(e.Path, above)
		if e.LinkTarget != "" {
			name += " -> " + e.LinkTarget
		}
		rows[i] = []string{name, e.Type, strconv.Itoa(e.Size), e.Mode, e.Modified}
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
