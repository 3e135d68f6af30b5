package paint

import renderv1 "github.com/agentco/agent/proto/pluggableharness/render/v1"

// sgr is the parameters of a Select Graphic Rendition sequence; empty for none.
type sgr string

const (
	bold      sgr = "1"
	dim       sgr = "2"
	italic    sgr = "3"
	underline sgr = "4"
	red       sgr = "31"
	green     sgr = "32"
	yellow    sgr = "33"
	cyan      sgr = "36"
)

var styles = map[renderv1.TextStyle]sgr{
	renderv1.TextStyle_TEXT_STYLE_BOLD:    bold,
	renderv1.TextStyle_TEXT_STYLE_ITALIC:  italic,
	renderv1.TextStyle_TEXT_STYLE_CODE:    cyan,
	renderv1.TextStyle_TEXT_STYLE_DIM:     dim,
	renderv1.TextStyle_TEXT_STYLE_ERROR:   red,
	renderv1.TextStyle_TEXT_STYLE_WARNING: yellow,
	renderv1.TextStyle_TEXT_STYLE_SUCCESS: green,
}

// style colours one line on a terminal.
func (p Painter) style(s sgr, line string) string {
	if p.Format != Terminal || s == "" || line == "" {
		return line
	}
	return "\x1b[" + string(s) + "m" + line + "\x1b[0m"
}

func (p Painter) styled(s sgr, lines []string) []string {
	for i := range lines {
		lines[i] = p.style(s, lines[i])
	}
	return lines
}

// Bold makes a line of the kernel's own stand out.
func (p Painter) Bold(line string) string { return p.style(bold, line) }

// Dim makes a line step back.
func (p Painter) Dim(line string) string { return p.style(dim, line) }

// Error colours what failed.
func (p Painter) Error(line string) string { return p.style(red, line) }

// Warning colours what needs care.
func (p Painter) Warning(line string) string { return p.style(yellow, line) }

// Success colours what went well.
func (p Painter) Success(line string) string { return p.style(green, line) }
