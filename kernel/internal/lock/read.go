package lock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/agentco/agent/kernel/internal/config"
)

// maxBytes bounds the file: far above what a thousand providers need.
const maxBytes = 4 << 20

// InvalidError is a lock file that cannot be used.
type InvalidError struct {
	// Newer is set when a newer agent wrote the file; nothing else of it was read then.
	Newer    bool
	Problems config.Diagnostics
}

func (e *InvalidError) Error() string { return e.Problems.Error() }
func (e *InvalidError) Unwrap() error { return e.Problems }

// Kind is lock-invalid, or lock-too-new.
func (e *InvalidError) Kind() string {
	if e.Newer {
		return "lock-too-new"
	}
	return "lock-invalid"
}

// Read reads the lock file at path; shown is the name that problems give it. A file that is not there locks nothing.
// The error is an *InvalidError, or that of reading.
func Read(path, shown string) (*File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err == nil && !info.Mode().IsRegular() { // to open a named pipe would be to wait for its writer
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the lock file: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the lock file: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the lock file: %w", err)
	}
	return Parse(src, shown)
}

// Parse is Read for the bytes of a file.
func Parse(src []byte, shown string) (*File, error) {
	p := &parser{name: shown, src: bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), file: &File{}}
	p.run()
	if len(p.problems) > 0 {
		return nil, &InvalidError{Newer: p.newer, Problems: p.problems}
	}
	return p.file, nil
}

// parser reads one file and collects what is wrong with it.
type parser struct {
	name     string
	src      []byte
	file     *File
	newer    bool
	problems config.Diagnostics
}

func (p *parser) run() {
	if len(p.src) > maxBytes {
		p.fail(hcl.Range{}, "The lock file is too large", "It has at most %d bytes.", maxBytes)
		return
	}
	tokens, _ := hclsyntax.LexConfig(p.src, p.name, hcl.InitialPos)
	// The order matters: a newer file may hold what looks like nonsense here.
	if !p.checkVersion(tokens) || !p.checkMarkers() || !p.checkTokens(tokens) {
		return
	}
	parsed, diags := hclsyntax.ParseConfig(p.src, p.name, hcl.InitialPos)
	for _, d := range diags {
		at := hcl.Range{}
		if d.Subject != nil {
			at = *d.Subject
		}
		p.fail(at, d.Summary, "%s", d.Detail)
	}
	if body, ok := parsed.Body.(*hclsyntax.Body); ok && !diags.HasErrors() {
		p.body(body)
	}
}

// fail notes a problem with the line it is on.
func (p *parser) fail(at hcl.Range, summary, detail string, args ...any) {
	d := config.Diagnostic{Severity: config.Error, Summary: summary, Detail: fmt.Sprintf(detail, args...), File: p.name}
	if at.Start.Line > 0 {
		d.Range = config.Range{Start: point(at.Start), End: point(at.End)}
		d.Source, d.Width = p.lineText(at)
	}
	p.problems = append(p.problems, d)
}

func point(p hcl.Pos) config.Point { return config.Point{Line: p.Line, Column: p.Column, Byte: p.Byte} }

// lineText is the line of a range, and how many characters of it the range covers; nothing when it is too long to show.
func (p *parser) lineText(at hcl.Range) (text string, width int) {
	const longest = 300
	start := bytes.LastIndexByte(p.src[:min(at.Start.Byte, len(p.src))], '\n') + 1
	line, _, _ := bytes.Cut(p.src[start:], []byte("\n"))
	if len(line) > longest {
		return "", 0
	}
	width = 1
	if at.End.Line == at.Start.Line {
		width = max(1, at.End.Column-at.Start.Column)
	}
	return string(bytes.ToValidUTF8(bytes.TrimSuffix(line, []byte("\r")), []byte("\uFFFD"))), width
}
