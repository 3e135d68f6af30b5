package paint

import (
	"strings"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Output paints the output of a command while it runs. The zero value paints for a pipe.
//
// For a terminal (Live) every line gets a gutter, │ for stdout and ┃ for stderr, so that what a command
// prints is never taken for words of the kernel; a carriage return starts the line anew, as progress bars
// want it. For a pipe there is no gutter, and a carriage return is a line feed: nothing is overwritten.
type Output struct {
	Live, Color bool

	stdout, stderr pen
	line           *pen // whose line is unfinished; nil at the start of a line
	out            strings.Builder
}

// pen writes one stream of an Output.
type pen struct {
	parser parser
	mark   string
	colour sgr
	active string // the colours in force, as sequences
	paper  *Output
}

// Chunk paints the next bytes of a stream.
func (o *Output) Chunk(stream toolv1.OutputStream, data []byte) string {
	o.init()
	p := &o.stdout
	if stream == toolv1.OutputStream_OUTPUT_STREAM_STDERR {
		p = &o.stderr
	}
	p.parser.feed(data, p)
	return o.take()
}

// Break closes an unfinished line, to make room for one of the kernel's. The streams go on where they were.
func (o *Output) Break() string {
	if o.line != nil {
		o.line.newline()
	}
	return o.take()
}

// End ends both streams and closes an unfinished line.
func (o *Output) End() string {
	o.init()
	o.stdout.parser.finish(&o.stdout)
	o.stderr.parser.finish(&o.stderr)
	last := o.Break()
	o.stdout.active, o.stderr.active = "", ""
	return last
}

// MidLine reports whether the last line painted is unfinished.
func (o *Output) MidLine() bool { return o.line != nil }

func (o *Output) init() {
	if o.stdout.paper == nil {
		o.stdout = pen{mark: "│ ", colour: dim, paper: o}
		o.stderr = pen{mark: "┃ ", colour: red, paper: o}
	}
}

func (o *Output) take() string {
	s := o.out.String()
	o.out.Reset()
	return s
}

// begin makes the current line this pen's.
func (p *pen) begin() {
	o := p.paper
	if o.line == p {
		return
	}
	if o.line != nil {
		o.line.newline()
	}
	o.line = p
	p.gutter()
}

func (p *pen) gutter() {
	o := p.paper
	if o.Live {
		own := Painter{}
		if o.Color {
			own.Format = Terminal
		}
		o.out.WriteString(own.style(p.colour, p.mark))
	}
	o.out.WriteString(p.active)
}

func (p *pen) text(s string) {
	p.begin()
	p.paper.out.WriteString(s)
}

func (p *pen) newline() {
	p.begin()
	p.reset()
	p.paper.out.WriteByte('\n')
	p.paper.line = nil
}

// reset ends the colours of the line, so that they do not reach into a gutter or another stream.
func (p *pen) reset() {
	if p.active != "" {
		p.paper.out.WriteString("\x1b[0m")
	}
}

func (p *pen) carriageReturn() {
	o := p.paper
	if o.line != p {
		return
	}
	if !o.Live {
		p.newline()
		return
	}
	p.reset()
	o.out.WriteString("\r\x1b[K")
	p.gutter()
}

// setColour passes a colour on, and remembers it for the lines that follow.
func (p *pen) setColour(params string) {
	if !p.paper.Color {
		return
	}
	const most = 256
	sequence := "\x1b[" + params + "m"
	first, _, more := strings.Cut(params, ";")
	fresh := strings.Trim(first, "0") == ""
	if p.paper.line == p && (fresh || len(p.active) > most) {
		p.reset()
	}
	switch {
	case fresh && !more:
		p.active = ""
		return
	case fresh || len(p.active) > most:
		p.active = sequence
	default:
		p.active += sequence
	}
	if p.paper.line == p {
		p.paper.out.WriteString(sequence)
	}
}
