package config

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// Severity tells what stops a load from what does not.
type Severity string

// The two severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is one problem of a file, for a person: what is wrong, where, and what to do.
// It never holds the value of an environment variable or of a sensitive attribute.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail,omitempty"`
	File     string   `json:"file"`
	// Range is what of the file is meant; zero when the problem is the file as a whole.
	Range Range `json:"range,omitzero"`
	// Source is the line with the problem, Width how many characters of it from its start on are meant; none
	// when the line is shown without its secret.
	Source string `json:"source,omitempty"`
	Width  int    `json:"-"`
	// Suggestion is the word that was probably meant in place of one that is wrong; it may be empty.
	Suggestion string `json:"suggestion,omitempty"`
}

// Range is a part of a file: all from Start on that is before End.
type Range struct {
	Start Point `json:"start"`
	End   Point `json:"end"`
}

// Point is a place in a file. Lines and columns count from 1, and a column is a character; bytes count from 0.
type Point struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Position is FILE:LINE:COLUMN.
func (d Diagnostic) Position() string {
	if d.Range.Start.Line == 0 {
		return d.File
	}
	return fmt.Sprintf("%s:%d:%d", d.File, d.Range.Start.Line, d.Range.Start.Column)
}

// Diagnostics are the problems of one file. As an error they read one a line.
type Diagnostics []Diagnostic

func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Position() + ": " + d.Summary
		if d.Detail != "" {
			lines[i] += ". " + d.Detail
		}
	}
	return strings.Join(lines, "\n")
}

// errorsOnly is nil when there is nothing but warnings, so that callers can return it as an error.
func (ds Diagnostics) errorsOnly() error {
	for _, d := range ds {
		if d.Severity == Error {
			return ds
		}
	}
	return nil
}

// masked marks a diagnostic whose source line holds what must not be shown.
type masked struct{}

// What is not written by a person can have any number of problems on lines of any length.
const (
	maxProblems = 100
	maxLine     = 1000
)

// render turns the parser's diagnostics into ours, in the order of the file and with the source line of each.
func (f *file) render(diags hcl.Diagnostics) Diagnostics {
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int { return cmp.Compare(startOf(a), startOf(b)) })
	out := make(Diagnostics, 0, min(len(diags), maxProblems+1))
	for i, d := range diags {
		if i == maxProblems {
			return append(out, f.more(diags[i:]))
		}
		out = append(out, f.diagnostic(d))
	}
	return out
}

// more stands for the diagnostics that are not shown.
func (f *file) more(diags hcl.Diagnostics) Diagnostic {
	d := Diagnostic{Severity: Warning, Summary: fmt.Sprintf("%d more problems", len(diags)), Detail: "Solve the ones above first.", File: f.name}
	if diags.HasErrors() {
		d.Severity = Error
	}
	return d
}

func startOf(d *hcl.Diagnostic) int {
	if d.Subject == nil {
		return -1
	}
	return d.Subject.Start.Byte
}

func (f *file) diagnostic(d *hcl.Diagnostic) Diagnostic {
	out := Diagnostic{Severity: Error, Summary: strings.TrimSuffix(d.Summary, "."), Detail: d.Detail, File: f.name}
	if d.Severity == hcl.DiagWarning {
		out.Severity = Warning
	}
	if m := suggested().FindStringSubmatch(out.Summary + "\n" + out.Detail); m != nil {
		out.Suggestion, _ = strconv.Unquote(m[1])
	}
	if d.Subject == nil || d.Subject.Start.Line == 0 {
		return out
	}
	out.Range = Range{f.point(d.Subject.Start.Byte), f.point(max(d.Subject.Start.Byte, d.Subject.End.Byte))}
	line, offset := f.lineAt(d.Subject.Start.Byte)
	marked := cut(line[len(cut(line, d.Subject.Start.Byte-offset)):], d.Subject.End.Byte-d.Subject.Start.Byte)
	out.Width = max(1, utf8.RuneCount(marked))
	if _, hide := d.Extra.(masked); hide {
		line, out.Width = mask(line), 0
	}
	if len(line) > maxLine {
		out.Width = 0
		return out
	}
	out.Source = strings.ToValidUTF8(string(line), "\uFFFD")
	return out
}

// suggested finds what a text suggests: the parser's own diagnostics say it in words alone, so all are read alike.
var suggested = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[Dd]id you mean ("(?:[^"\\]|\\.)+")\?`) })

// point is the place of a byte, with the byte order mark counted again.
func (f *file) point(at int) Point {
	at = min(max(at, 0), len(f.src))
	line, start := f.lineAt(at)
	return Point{
		Line:   bytes.Count(f.src[:start], []byte("\n")) + 1,
		Column: utf8.RuneCount(cut(line, at-start)) + 1,
		Byte:   at + f.mark,
	}
}

// mask is what of a line stands before its first value.
func mask(line []byte) []byte {
	if end := bytes.IndexAny(line, "=:"); end >= 0 {
		return append(bytes.Clone(line[:end+1]), " …"...)
	}
	return []byte("…")
}

// lineAt returns the line around a byte, without its ending, and where it starts.
func (f *file) lineAt(at int) (line []byte, start int) {
	at = min(max(at, 0), len(f.src))
	start = bytes.LastIndexByte(f.src[:at], '\n') + 1
	line = f.src[start:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return bytes.TrimSuffix(line, []byte("\r")), start
}

// cut is b[:n], with n brought into range.
func cut(b []byte, n int) []byte { return b[:min(max(n, 0), len(b))] }

func position(r hcl.Range) string {
	return fmt.Sprintf("%s:%d:%d", r.Filename, r.Start.Line, r.Start.Column)
}

func errorAt(at hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Subject: &at}
}

func warningAt(at hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	d := errorAt(at, summary, detail, args...)
	d.Severity = hcl.DiagWarning
	return d
}
