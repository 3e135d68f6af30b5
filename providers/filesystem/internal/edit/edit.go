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
	"slices"
	"strings"

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
// [*Ambiguous] or [*text.Unencodable]. Between two edits it looks whether ctx is
// done. raw is never changed.
func Apply(ctx context.Context, raw []byte, edits []Edit) (Result, error) {
	r := Result{Content: raw, Counts: make([]int, 0, len(edits))}
	for i, e := range edits {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		next, n, err := apply(r.Content, e)
		if err != nil {
			return Result{}, &Failure{Edit: i + 1, Of: len(edits), Err: err}
		}
		r.Content = next
		r.Counts = append(r.Counts, n)
	}
	return r, nil
}

func apply(raw []byte, e Edit) ([]byte, int, error) {
	if err := e.check(); err != nil {
		return nil, 0, err
	}
	v := text.NewView(raw)
	old := fold(e.Old)
	matches, err := find(v, old, e.All)
	if err != nil {
		return nil, 0, err
	}
	out := make([]byte, 0, len(raw)+len(matches)*max(len(e.New)-len(e.Old), 0))
	done := 0
	for _, at := range matches {
		s, err := replacement(v, at, at+len(old), e.New)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, raw[done:s.from]...)
		out = append(out, s.bytes...)
		done = s.to
	}
	return append(out, raw[done:]...), len(matches), nil
}

func (e Edit) check() error {
	switch {
	case e.Old == "":
		return &Malformed{Reason: "old_string is empty; give the text to replace, or use write_file to write a whole file"}
	case e.Old == e.New:
		return &Malformed{Reason: "old_string and new_string are the same; there is nothing to change"}
	}
	return nil
}

// find returns where old is in the text of v.
func find(v *text.View, old string, all bool) ([]int, error) {
	first := bytes.Index(v.Text, []byte(old))
	if first < 0 {
		return nil, &NoMatch{Near: nearest(v.Text, old)}
	}
	places := every(v.Text, old, first)
	if all {
		return places, nil
	}
	if len(places) == 1 { // in "aaa" it is not clear which "aa" is meant
		if next := bytes.Index(v.Text[first+1:], []byte(old)); next >= 0 {
			places = append(places, first+1+next)
		}
	}
	if len(places) > 1 {
		return nil, ambiguous(v, places)
	}
	return places, nil
}

// every returns the matches from first on, none of which overlap. Those that do
// could be as many as there are bytes, each as long as half the file.
func every(body []byte, old string, first int) []int {
	var places []int
	for at := first; ; {
		places = append(places, at)
		at += len(old)
		next := bytes.Index(body[at:], []byte(old))
		if next < 0 {
			return places
		}
		at += next
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
