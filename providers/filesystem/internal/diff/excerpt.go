package diff

import (
	"fmt"
	"iter"
	"strings"

	"github.com/agentco/agent/providers/filesystem/internal/text"
)

// Excerpt returns as much of a diff as limit bytes hold, when the whole one is
// too long. It shows no context. Lines are cut inside, around what the old one and
// the new one do not have in common; then regions at the end are left out.
// Each header says what the whole region is, also where less of it is shown, and
// the last line, which begins like the one about a missing newline, tells how
// much is hidden. No line is longer than longest bytes, except by its marks.
//
// Whatever the limit, the first change is shown: for it a very small one is
// passed by a few hundred bytes.
func Excerpt(path string, regions iter.Seq[text.Region], raw bool, limit, longest int) string {
	e := &excerpt{limit: limit, raw: raw}
	from, to := labels(path)
	e.head = fmt.Sprintf("--- %s\n+++ %s\n", from, to)
	for r := range regions {
		if len(e.regions)*len("@@ -1 +1 @@\n-\n") < limit || len(e.regions) == 0 {
			e.regions = append(e.regions, r)
		}
		e.lines += r.OldLines + r.NewLines
		e.bytes += len(r.Old) + len(r.New)
	}
	for _, most := range []int{2048, 512, 240, 96} {
		if out, whole := e.build(min(most, longest)); whole || most == 96 {
			return out
		}
	}
	return ""
}

type excerpt struct {
	head         string
	regions      []text.Region
	raw          bool // line ends are what changed
	limit        int
	lines, bytes int // of all regions
}

const (
	footRoom  = 96  // what the last line takes at most
	leastRoom = 160 // what a change takes at least
	shortest  = 24  // how much of a line is shown at least
	// mostAround is how much of a long line is shown on each side of what differs: in
	// more of it the difference would be hard to find.
	mostAround = 80
)

// built is an excerpt that is being made.
type built struct {
	strings.Builder
	lines, bytes, cut int // that are shown; lines that are cut
}

// build makes the excerpt with lines of so many bytes. whole says that no line is
// left out.
func (e *excerpt) build(longest int) (out string, whole bool) {
	b := &built{}
	b.WriteString(e.head)
	room := max(e.limit-len(e.head)-footRoom, leastRoom)
	for i, r := range e.regions {
		header := fmt.Sprintf("@@ -%s +%s @@\n", lineRange(r.OldAbove, r.OldLines), lineRange(r.NewAbove, r.NewLines))
		room -= len(header)
		if i > 0 && room < leastRoom/2 {
			break
		}
		b.WriteString(header)
		left, all := e.region(b, r, room, longest)
		if room = left; !all {
			break
		}
	}
	b.WriteString(e.foot(b))
	return b.String(), b.lines == e.lines
}

// region shows one region, or as many of its first lines as there is room for: half of it
// for the old ones, unless the new ones need less.
func (e *excerpt) region(b *built, r text.Region, room, longest int) (left int, all bool) {
	share := room
	if len(r.Old) > 0 && len(r.New) > 0 {
		share = room / 2
	}
	old, oldSize := e.side("-", r, room, longest)
	fresh, newSize := e.side("+", r, room, longest)
	all = len(old) == r.OldLines && len(fresh) == r.NewLines && oldSize+newSize <= room
	if !all && longest > shortest && max(sizeOf(old[:min(1, len(old))]), sizeOf(fresh[:min(1, len(fresh))])) > share {
		return e.region(b, r, room, max(longest/2, shortest))
	}
	if !all {
		old = within(old, max(share, room-newSize))
		fresh = within(fresh, room-sizeOf(old))
	}
	for _, l := range append(old, fresh...) {
		room -= len(l.text)
		b.WriteString(l.text)
		b.lines++
		b.bytes += l.bytes
		if l.cut {
			b.cut++
		}
	}
	return room, all
}

// shownLine is a line of a diff, with what it shows of the file.
type shownLine struct {
	text  string
	bytes int
	cut   bool
}

// within are the first lines that so much holds, one at least.
func within(lines []shownLine, room int) []shownLine {
	for i, l := range lines {
		if room -= len(l.text); room < 0 {
			return lines[:max(i, 1)]
		}
	}
	return lines
}

func sizeOf(lines []shownLine) (n int) {
	for _, l := range lines {
		n += len(l.text)
	}
	return n
}

// side are the lines of one side, as far as room goes and one further.
func (e *excerpt) side(op string, r text.Region, room, longest int) (lines []shownLine, size int) {
	mine, other, format := r.Old, r.New, r.From
	if op == "+" {
		mine, other, format = r.New, r.Old, r.To
	}
	next, stop := iter.Pull(format.Lines(other))
	defer stop()
	for line := range format.Lines(mine) {
		beside, _ := next()
		if r.From != r.To {
			beside = nil
		}
		l := e.line(op, line, beside, format, longest)
		if lines, size = append(lines, l), size+len(l.text); size > room {
			break
		}
	}
	return lines, size
}

// line shows a line, cut around what differs from the one beside it.
func (e *excerpt) line(op string, line, beside []byte, f text.Format, longest int) shownLine {
	var b strings.Builder
	b.WriteString(op)
	at, shown := 0, 0
	for _, part := range parts(line, beside, f, longest) {
		if part.from > at {
			fmt.Fprintf(&b, "…[%s]…", amount(part.from-at))
		}
		b.WriteString(e.decoded(f, line[part.from:part.to]))
		at, shown = part.to, shown+part.to-part.from
	}
	if at < len(line) {
		fmt.Fprintf(&b, "…[%s]…", amount(len(line)-at))
	}
	text := b.String()
	switch {
	case at < len(line):
		text += "\n"
	case !strings.HasSuffix(text, "\n"):
		text += "\n\\ No newline at end of file\n"
	}
	return shownLine{text, shown, shown < len(line)}
}

func (e *excerpt) decoded(f text.Format, raw []byte) string {
	if e.raw && !f.Wide() {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	return string(f.View(raw).Text)
}

type part struct{ from, to int }

// parts are what is shown of a line: all of it, or what differs and something
// around it, or the beginning and the end of what differs.
func parts(line, beside []byte, f text.Format, longest int) []part {
	if len(line) <= longest {
		return []part{{0, len(line)}}
	}
	head, tail := 0, 0
	if beside != nil {
		head, tail = f.Apart(line, beside)
	}
	differs := len(line) - tail - head
	if around := (longest - differs) / 2; around >= longest/8 {
		around = min(around, mostAround)
		// What one side cannot use goes to the other.
		from := max(head-around, 0)
		to := min(len(line)-tail+around+max(around-head, 0), len(line))
		from = max(from-max(around-tail, 0), 0)
		return []part{{f.CharStart(line, from), f.CharStart(line, to)}}
	}
	around, half := min(longest/8, mostAround), longest*3/8
	return []part{
		{f.CharStart(line, max(head-around, 0)), f.CharStart(line, head+half)},
		{f.CharStart(line, len(line)-tail-half), f.CharStart(line, min(len(line)-tail+around, len(line)))},
	}
}

// foot is the last line: how much is hidden.
func (e *excerpt) foot(b *built) string {
	said := fmt.Sprintf("%d of %d changed lines shown", b.lines, e.lines)
	if b.cut > 0 {
		said += fmt.Sprintf(" (%d cut)", b.cut)
	}
	if hidden := e.bytes - b.bytes; hidden > 0 {
		return note + said + ", " + amount(hidden) + " hidden\n"
	}
	return note + said + ", without the lines around them\n"
}

// amount says how much is left out.
func amount(bytes int) string {
	if bytes < 1<<10 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

// note begins a line of a diff that is about it.
const note = "\\ "

// Remark returns what the last line of a diff says of it, or "".
func Remark(unified string) string {
	last := strings.TrimSuffix(unified, "\n")
	last = last[strings.LastIndexByte(last, '\n')+1:]
	if said, ok := strings.CutPrefix(last, note); ok && !strings.HasPrefix(said, "No newline") {
		return said
	}
	return ""
}

// OfForm is a diff of two states that say the same: only how changes.
func OfForm(path, was, is string) string {
	from, to := labels(path)
	return fmt.Sprintf("--- %s\n+++ %s\n%sOnly the form of the text changes: %s becomes %s\n", from, to, note, was, is)
}

// LongestLine is the length of the longest line.
func LongestLine(unified string) (longest int) {
	for line := range strings.Lines(unified) {
		longest = max(longest, len(line))
	}
	return longest
}
