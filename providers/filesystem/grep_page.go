package main

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/agentco/agent/providers/filesystem/internal/search"
	"github.com/agentco/agent/providers/filesystem/internal/walk"
	"github.com/agentco/agent/sdk"
)

// page is a search under way, which shows a part of what it finds and counts
// the rest.
type page struct {
	grepping
	call    *sdk.Call[config]
	out     grepOut
	room    int // bytes of text that still fit
	stopped atomic.Bool

	files atomic.Int64 // read so far
	seen  atomic.Int64 // matches met in order, shown or not
	full  atomic.Bool
}

// hits is what was found in some files.
type hits struct {
	files                           []fileHits
	searched, binary, large, unread int
}

type fileHits struct {
	path string // from where the search began; "" is that itself
	search.File
}

func (h *hits) add(path string, f search.File) {
	switch {
	case f.Binary:
		h.binary++
	case f.TooLarge:
		h.large++
	case f.Matches > 0:
		h.files = append(h.files, fileHits{path, f})
	}
}

// options are what is wanted of the next file. How many matches come before it
// may not be known yet, but at least so many do.
func (p *page) options() search.Options {
	o := search.Options{Matcher: p.matcher, Count: p.Mode == "count", Lines: p.Mode == "content", Stopped: &p.stopped}
	if o.Lines {
		seen := int(p.seen.Load())
		o.Before, o.After, o.Room = p.Before, p.After, p.call.Config.files.maxResult
		o.Skip = max(0, p.Offset-seen)
		if !p.full.Load() {
			o.Keep = max(0, p.Offset+p.Limit-seen)
		}
	}
	return o
}

// visit searches the files of a batch.
func (p *page) visit(b walk.Batch) (h hits, size int) {
	for _, e := range b.Files {
		if b.Stopped.Load() {
			break
		}
		if !walk.Regular(e) {
			continue // what a link leads to has a name of its own
		}
		f, err := b.Dir.Open(e.Name)
		if missing(err) {
			continue
		}
		if err != nil {
			h.unread++
			continue
		}
		o := p.options()
		o.Stopped = b.Stopped
		got, err := search.Search(f, o)
		if closed := f.Close(); err != nil || closed != nil {
			h.unread++
			continue
		}
		h.searched++
		h.add(walk.Join(b.Rel, e.Name), got)
		for _, l := range got.Lines {
			size += len(l.Text)
		}
	}
	p.call.Progress(int(p.files.Add(int64(h.searched))), 0)
	return h, size
}

// give takes what was found, in order.
func (p *page) give(h hits) {
	p.out.Searched += h.searched
	p.out.LeftOut.Binary += h.binary
	p.out.LeftOut.TooLarge += h.large
	p.out.LeftOut.UnreadableFiles += h.unread
	before := len(p.out.Matches)
	for _, f := range h.files {
		p.out.Files++
		if p.Mode == "content" {
			p.lines(f)
			continue
		}
		m := grepMatch{Path: valid(under(p.name, f.path))}
		if p.Mode == "count" {
			m.Count = f.Matches
		}
		p.add(m, len(m.Path))
	}
	if shown := p.out.Matches[before:]; len(shown) > 0 {
		// Whoever does not see it will see the result.
		_ = p.call.Partial(struct {
			Matches []grepMatch `json:"matches"`
		}{shown})
	}
}

func (p *page) lines(f fileHits) {
	path := valid(under(p.name, f.path))
	for _, l := range f.Lines {
		m := grepMatch{Path: path, Line: l.Number, EndLine: l.End, Text: &l.Text, Clipped: l.Clipped, Before: l.Before, After: l.After}
		size := len(path) + len(l.Text)
		for _, around := range append(l.Before, l.After...) {
			size += len(around)
		}
		p.add(m, size)
	}
	if rest := f.Matches - len(f.Lines); rest > 0 {
		// They were not kept because the page ends before them.
		if int(p.seen.Add(int64(rest))) > p.Offset {
			p.full.Store(true)
		}
	}
}

// add shows a match if it is on the page.
func (p *page) add(m grepMatch, size int) {
	at := int(p.seen.Add(1)) - 1
	switch {
	case at < p.Offset || p.full.Load():
		return
	case len(p.out.Matches) == p.Limit || size > p.room && len(p.out.Matches) > 0:
		p.full.Store(true)
		return
	}
	p.room -= size
	p.out.Matches = append(p.out.Matches, m)
}

// end says what there was in all and how to go on.
func (p *page) end() {
	p.out.Total = int(p.seen.Load())
	next := p.Offset + len(p.out.Matches)
	p.out.Complete = next >= p.out.Total
	var notes []string
	switch {
	case p.out.Total == 0:
		notes = append(notes, fmt.Sprintf("No match in %s.", count(p.out.Searched, "file", "files"))+p.out.LeftOut.note())
		if n := p.out.LeftOut.Binary; n > 0 {
			notes = append(notes, count(n, "file is", "files are")+" no text.")
		}
	case len(p.out.Matches) == 0:
		notes = append(notes, fmt.Sprintf("There are %d matches; offset %d is behind the last.", p.out.Total, p.Offset))
	case !p.out.Complete:
		p.out.NextOffset = next
		notes = append(notes, fmt.Sprintf("Matches %d-%d of %d; go on with offset %d, or narrow the search.", p.Offset+1, next, p.out.Total, next))
	}
	p.out.Note = strings.Join(notes, " ")
}
