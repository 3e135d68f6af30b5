// Package edit replaces text in a file and nothing else.
//
// An [Edit] is found in the file as people see it: decoded, with CR LF read as
// LF. It is carried out on the bytes: only those that differ between the old
// text and the new are exchanged, so that a byte-order mark, odd line ends and
// stray bytes of another encoding around them stay as they were.
//
// The new text is literal. Its line ends become those of the lines it replaces.
package edit

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/agentco/agent/providers/filesystem/internal/buffer"
	"github.com/agentco/agent/providers/filesystem/internal/text"
)

// Edit is one replacement.
type Edit struct {
	Old, New string
	// All replaces every match, from the left; without it there must be exactly
	// one.
	All bool
}

// Result is a file after its edits.
type Result struct {
	// Content is the caller's own.
	Content []byte
	// Counts is how many replacements each edit made.
	Counts []int
}

// Total is the number of replacements.
func (r Result) Total() int {
	n := 0
	for _, c := range r.Counts {
		n += c
	}
	return n
}

// Apply carries out edits in order, each on what the ones before it made. If
// one cannot be, the error says which and why: [*Malformed], [*NoMatch],
// [*Ambiguous], [*TooLarge] (than limit bytes) or [*text.Unencodable]; or that
// ctx is done. The bytes of the file are never changed.
func Apply(ctx context.Context, file *text.View, edits []Edit, limit int) (Result, error) {
	r := Result{Content: file.Raw(), Counts: make([]int, 0, len(edits))}
	for i, e := range edits {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if i > 0 {
			file = text.NewView(r.Content)
		}
		next, n, err := apply(ctx, file, e, limit)
		if err != nil {
			return Result{}, &Failure{Edit: i + 1, Of: len(edits), Err: err}
		}
		if i > 0 {
			buffer.Give(r.Content)
		}
		r.Content = next
		r.Counts = append(r.Counts, n)
	}
	return r, nil
}

// often is how many replacements are made between two looks at the context.
const often = 1 << 6

func apply(ctx context.Context, v *text.View, e Edit, limit int) ([]byte, int, error) {
	if err := e.check(); err != nil {
		return nil, 0, err
	}
	raw := v.Raw()
	old := e.sought(v)
	matches, err := find(v, old, e.All)
	if err != nil {
		return nil, 0, err
	}
	out := buffer.Take(len(raw) + len(e.New))
	done, n := 0, 0
	for at := range matches {
		s, err := replacement(v, at, at+len(old), e.New)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, raw[done:s.from]...)
		out = append(out, s.bytes...)
		done = s.to
		// A short text replaced by a long one everywhere may be more than memory holds.
		if len(out)+len(raw)-done > limit {
			return nil, 0, &TooLarge{Limit: limit}
		}
		if n++; n%often == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
	}
	return append(out, raw[done:]...), n, nil
}

func (e Edit) check() error {
	switch e.Old {
	case "":
		return &Malformed{Reason: "old_string is empty; give the text to replace, or use write_file to write a whole file"}
	case e.New:
		return &Malformed{Reason: "old_string and new_string are the same; there is nothing to change"}
	}
	return nil
}

// sought is what is looked for: a CR LF is a line end, which reads as LF, unless
// the text itself has a CR before one.
func (e Edit) sought(v *text.View) string {
	if strings.Contains(e.Old, "\r\n") && bytes.Contains(v.Text, []byte(e.Old)) {
		return e.Old
	}
	return fold(e.Old)
}

// find returns where old is in the text of v.
func find(v *text.View, old string, all bool) (iter.Seq[int], error) {
	first := bytes.Index(v.Text, []byte(old))
	if first < 0 {
		return nil, &NoMatch{Near: nearest(v.Text, old)}
	}
	matches := every(v.Text, old, first)
	if all {
		return matches, nil
	}
	var some []int
	count := 0
	for at := range matches {
		if count++; count <= shownLines {
			some = append(some, at)
		}
	}
	if count == 1 { // in "aaa" it is not clear which "aa" is meant
		// Only a match that overlaps the first has not been looked for.
		around := v.Text[first+1 : min(first+2*len(old)-1, len(v.Text))]
		if next := bytes.Index(around, []byte(old)); next >= 0 {
			some, count = append(some, first+1+next), 2
		}
	}
	if count > 1 {
		return nil, &Ambiguous{Count: count, Lines: lines(v, some)}
	}
	return slices.Values(some), nil
}

// every yields the matches from first on, none of which overlap. Those that do
// could be as many as there are bytes, each as long as half the file.
func every(body []byte, old string, first int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := first; yield(at); {
			at += len(old)
			next := bytes.Index(body[at:], []byte(old))
			if next < 0 {
				return
			}
			at += next
		}
	}
}

// span is bytes to be put in the place of raw[from:to].
type span struct {
	from, to int
	bytes    []byte
}

// replacement turns "Text[from:to] becomes new" into bytes.
func replacement(v *text.View, from, to int, new string) (span, error) {
	if v.Census.CRLF > 0 {
		new = fold(new)
	}
	head := commonHead(v.Text[from:to], new)
	tail := commonTail(v.Text[from+head:to], new[head:])
	from, to, new = from+head, to-tail, new[head:len(new)-tail]
	if v.Census.CRLF > 0 {
		new = withLineEnds(v, from, to, new)
	}
	encoded, err := v.Format.Encode(new, v.Census)
	return span{from: v.Offset(from), to: v.Offset(to), bytes: encoded}, err
}

// withLineEnds gives the line ends of new, all LF, the form of those they
// replace, one by one; what is left over follows the last of them, or the
// nearest line end where none is replaced.
func withLineEnds(v *text.View, from, to int, new string) string {
	if !strings.Contains(new, "\n") {
		return new
	}
	at := from - 1 // of the line end that was used last
	var out strings.Builder
	end := nearestLineEnd(v, to)
	for line := range strings.Lines(new) {
		body, ended := strings.CutSuffix(line, "\n")
		out.WriteString(body)
		if !ended {
			continue
		}
		if at < to {
			if next := bytes.IndexByte(v.Text[at+1:to], '\n'); next >= 0 {
				at += 1 + next
				end = v.LineEnd(at)
			} else {
				at = to
			}
		}
		out.WriteString(end)
	}
	return out.String()
}

// nearestLineEnd returns the form of the line end that follows Text[:at], or of
// the last one before.
func nearestLineEnd(v *text.View, at int) string {
	if next := bytes.IndexByte(v.Text[at:], '\n'); next >= 0 {
		return v.LineEnd(at + next)
	}
	if last := bytes.LastIndexByte(v.Text[:at], '\n'); last >= 0 {
		return v.LineEnd(last)
	}
	return "\n"
}

func fold(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// lines returns the numbers of the lines on which places are, once each.
func lines(v *text.View, places []int) []int {
	var numbers []int
	line, at := 1, 0
	for _, place := range places {
		line += bytes.Count(v.Text[at:place], []byte{'\n'})
		at = place
		numbers = append(numbers, line)
	}
	return slices.Compact(numbers)
}
