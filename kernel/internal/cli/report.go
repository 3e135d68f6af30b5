package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/agentco/agent/kernel/internal/config"
	"github.com/agentco/agent/kernel/internal/paint"
)

// report shows why a command failed: to a person on stderr, to a program on stdout.
func (a *app) report(err error) {
	var call *callError
	switch {
	case err == nil, a.silent, errors.Is(err, errNobodyReads), errors.As(err, &call): // a call has shown its outcome
	case a.flags.json && a.display.OutError() != nil:
		a.showError(err) // stdout, where it belongs, is what failed
	case a.flags.json && a.answersWithOutcome:
		a.writeJSON(failureLine(err))
	case a.flags.json:
		a.writeJSON(map[string]any{"error": describe(err)})
	case exitCode(err) == exitCancelled: // it is known why, and that it is no error
		nothing := "nothing was called"
		if errors.As(err, new(*unchangedError)) {
			nothing = "nothing was changed"
		}
		a.display.Note(a.display.ErrPainter().Warning("cancelled: ") + nothing)
	default:
		for _, e := range flatten(err) {
			a.showError(e)
		}
	}
}

func (a *app) showError(err error) {
	var files config.Diagnostics
	if errors.As(err, &files) {
		for _, d := range files {
			a.showDiagnostic(d)
		}
		return
	}
	a.display.Note(a.display.ErrPainter().Error("error: ") + paint.Text(err.Error()))
}

// flatten takes errors apart that were joined.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}

// showDiagnostic shows a problem of a file with the line it is about.
func (a *app) showDiagnostic(d config.Diagnostic) {
	p := a.display.ErrPainter()
	head := p.Error("error: ")
	if d.Severity == config.Warning {
		head = p.Warning("warning: ")
	}
	lines := []string{head + p.Bold(paint.Line(d.Summary)), "  " + paint.Line(d.Position())}
	if d.Source != "" {
		number := strconv.Itoa(d.Range.Start.Line)
		lines = append(lines, p.Dim("  "+number+" │ ")+paint.Line(d.Source))
		if d.Width > 0 {
			lines = append(lines, p.Dim("  "+strings.Repeat(" ", len(number))+" │ ")+underline(d, p))
		}
	}
	if d.Detail != "" {
		lines = append(lines, "  "+strings.ReplaceAll(paint.Text(d.Detail), "\n", "\n  "))
	}
	a.display.Note(strings.Join(lines, "\n"))
}

// underline marks the characters a diagnostic is about, in columns of the terminal.
func underline(d config.Diagnostic, p paint.Painter) string {
	source := []rune(d.Source)
	from := min(d.Range.Start.Column-1, len(source))
	to := min(from+d.Width, len(source))
	before, marked := paint.Line(string(source[:from])), paint.Line(string(source[from:to]))
	return strings.Repeat(" ", paint.Width(before)) + p.Error(strings.Repeat("^", max(1, paint.Width(marked))))
}
