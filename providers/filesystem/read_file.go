package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/agentco/agent/providers/filesystem/internal/text"
	"github.com/agentco/agent/sdk"
	"github.com/agentco/agent/sdk/render"
)

type readIn struct {
	Path   string `json:"path" doc:"File to read: absolute, or relative to the working directory."`
	Offset int    `json:"offset" default:"1" min:"1" doc:"First line to return, from 1."`
	Limit  int    `json:"limit" default:"2000" min:"1" doc:"How many lines to return at most."`
}

type readOut struct {
	Path       string `json:"path" doc:"The path as it was given."`
	Content    string `json:"content" doc:"The lines, decoded; CR LF is shown as LF, a byte-order mark is left out."`
	StartLine  int    `json:"start_line" doc:"Number of the first line in content."`
	EndLine    int    `json:"end_line" doc:"Number of the last line in content; less than start_line if there is none."`
	TotalLines *int   `json:"total_lines" doc:"Lines in the file; absent if it is larger than 8 MiB and goes on after content."`
	Truncated  bool   `json:"truncated" doc:"Whether the file goes on after content."`
	NextOffset int    `json:"next_offset,omitempty" doc:"The offset with which to go on."`
	Size       int    `json:"size" doc:"Bytes in the file."`
	SHA256     string `json:"sha256,omitempty" doc:"Hash of the whole file; absent if it is larger than 8 MiB."`
	Encoding   string `json:"encoding" doc:"Encoding of the lines: utf-8, utf-8-bom, utf-16le, utf-16be, windows-1252, or mixed."`
	LineEnding string `json:"line_ending" doc:"lf, crlf, mixed or none."`
	Note       string `json:"note,omitempty" doc:"What there is to know about the content: why it is empty, or how to go on."`
}

func readFile(ctx context.Context, call *sdk.Call[config], in readIn) (readOut, error) {
	w := call.Config.files
	return w.readPath(ctx, call, in, w.maxResult)
}

// readPath reads lines with at most so many bytes.
func (w *workspace) readPath(ctx context.Context, call *sdk.Call[config], in readIn, maxBytes int) (readOut, error) {
	t, f, err := w.opened(call, "read", in.Path)
	if err != nil {
		return readOut{}, err
	}
	defer f.Close() //nolint:errcheck // opened for reading only
	window := text.Window{First: in.Offset, Count: in.Limit, MaxBytes: maxBytes}
	out, err := w.read(ctx, call.SessionID, t, f, window)
	if err != nil {
		return readOut{}, w.explain(err, "read", t)
	}
	return out, nil
}

func (w *workspace) read(ctx context.Context, session string, t target, f afero.File, window text.Window) (out readOut, err error) {
	info, err := f.Stat()
	if err != nil {
		return out, err
	}
	if info.IsDir() {
		return out, &fs.PathError{Op: "read", Path: t.name, Err: syscall.EISDIR}
	}
	window.Whole, window.Length = info.Size() <= editLimit, info.Size()
	lines, whole, err := scan(ctx, f, info, t, window)
	if err != nil {
		return out, err
	}
	w.seen.Saw(session, t.resolved, stamp(info, whole.sha256))
	return report(t, lines, whole), nil
}

// extent is how much there is of a file. One that changes meanwhile has as much
// as was read of it, so that it is the size of what has the hash.
type extent struct {
	size   int64
	sha256 string // empty: it was not read to its end
}

// scan reads the window, and the whole file for its hash if the window says so.
func scan(ctx context.Context, f afero.File, info fs.FileInfo, t target, window text.Window) (text.Lines, extent, error) {
	window.Accept = func(head []byte) error {
		if kind := text.BinaryType(head); kind != "" {
			return notText(t, kind, info.Size())
		}
		return nil
	}
	body := io.Reader(f)
	if info.Size() > 0 { // a file that grows meanwhile is read as it was
		body = io.LimitReader(body, info.Size())
	}
	whole := func() extent { return extent{size: info.Size()} }
	switch {
	case window.Whole && 0 < info.Size() && info.Size() <= int64(window.MaxBytes):
		held, err := upTo(f, info.Size())
		if err != nil {
			return text.Lines{}, extent{}, err
		}
		sum := hashed(held)
		whole = func() extent { return extent{int64(len(held)), sum()} }
		if lines, ok := text.Whole(held, window); ok {
			return lines, whole(), nil
		}
		body = bytes.NewReader(held)
	case window.Whole:
		h := newHasher(body)
		body, whole = h, func() extent { return extent{h.size, h.sum()} }
	}
	lines, err := text.Scan(ctx, body, window)
	switch {
	case err != nil:
		return text.Lines{}, extent{}, err
	case lines.Census.Binary():
		return text.Lines{}, extent{}, notText(t, "", info.Size())
	}
	return lines, whole(), nil
}

// upTo reads a file to its end, or as far as size.
func upTo(f io.Reader, size int64) ([]byte, error) {
	body := make([]byte, size)
	n, err := io.ReadFull(f, body)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // it has become shorter
		err = nil
	}
	return body[:n], err
}

func report(t target, lines text.Lines, whole extent) readOut {
	out := readOut{
		Path: t.name, Content: lines.Text, StartLine: lines.First, EndLine: lines.Last, Truncated: lines.More || lines.Cut,
		Size: int(whole.size), SHA256: whole.sha256, Encoding: lines.Census.Encoding(lines.Format), LineEnding: lines.Census.LineEnding(),
		Note: readNote(lines),
	}
	if lines.Complete {
		out.TotalLines = &lines.Total
	}
	if lines.More {
		out.NextOffset = lines.Last + 1
	}
	return out
}

// readNote says what a reader of the content would else misunderstand.
func readNote(l text.Lines) string {
	var notes []string
	switch {
	case l.Complete && l.Total == 0:
		return "The file is empty."
	case l.Last < l.First:
		return fmt.Sprintf("The file has %s; offset %d is past its end.", count(l.Total, "line", "lines"), l.First)
	case l.Cut:
		notes = append(notes, fmt.Sprintf("Line %d is longer than a result may be; only its beginning is shown.", l.Last))
	}
	if l.More {
		of := "more"
		if l.Complete {
			of = fmt.Sprint(l.Total)
		}
		notes = append(notes, fmt.Sprintf("Lines %d-%d of %s; go on with offset %d.", l.First, l.Last, of, l.Last+1))
	}
	return strings.Join(notes, " ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func planRead(call *sdk.Call[config], in readIn) (sdk.Plan, error) {
	t, err := call.Config.files.target(call, "read", in.Path)
	if err != nil {
		return sdk.Plan{}, err
	}
	if in.Offset == 1 {
		return sdk.Reads(t.name), nil
	}
	return sdk.Says("read %s from line %d", t.name, in.Offset), nil
}

func showRead(out readOut) render.Node {
	where := out.Path
	if out.EndLine >= out.StartLine && out.Truncated {
		where = fmt.Sprintf("%s, lines %d-%d", out.Path, out.StartLine, out.EndLine)
	}
	nodes := []render.Node{render.Styled(render.Bold, where)}
	if out.Content != "" {
		nodes = append(nodes, render.Code(language(out.Path), out.Content))
	}
	if out.Note != "" {
		nodes = append(nodes, render.Styled(render.Dim, out.Note))
	}
	if out.SHA256 != "" {
		// Whoever changes the file in another session says with it what they have seen.
		nodes = append(nodes, render.Styled(render.Dim, "sha256 "+out.SHA256))
	}
	return render.Group(nodes...)
}

// language is how a painter may colour a file: the extension is a name that
// highlighters know.
func language(name string) string {
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
}
