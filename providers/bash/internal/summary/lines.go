package summary

import "bytes"

// lines cuts one stream into lines.
type lines struct {
	partial  []byte // the line that has not ended yet, as it stands, up to maxLine
	returned bool   // what comes next is written over it
	last     []byte // the last line that says anything
	telling  []byte // the last one that says what happened
	bare     []byte // the last one that is not blank; kept until there is a last
}

// write calls look for every line that ends in p and may matter. Its argument does not
// outlive the call.
func (l *lines) write(p []byte, look func([]byte)) {
	if end := bytes.IndexByte(p, '\n'); end >= 0 && (len(l.partial) > 0 || l.returned) {
		l.extend(p[:end])
		p = p[end+1:]
		l.end(look)
	}
	end := bytes.LastIndexByte(p, '\n') + 1
	l.block(p[:end], look)
	l.extend(p[end:])
}

// block handles whole lines. There may be millions of them and hardly ever one that
// matters, so all are searched at once before each is looked at.
func (l *lines) block(p []byte, look func([]byte)) {
	if mayMatter(p) {
		for rest := p; len(rest) > 0; {
			end := bytes.IndexByte(rest, '\n')
			look(drawn(rest[:end]))
			rest = rest[end+1:]
		}
	}
	last, bare := false, len(l.last) > 0
	for len(p) > 0 {
		start := bytes.LastIndexByte(p[:len(p)-1], '\n') + 1
		line := drawn(p[start : len(p)-1])
		p = p[:start]
		if !saysAnything(line) {
			if !bare && !isBlank(line) {
				l.bare, bare = append(l.bare[:0], line...), true
			}
			continue
		}
		if !last {
			l.last, last = append(l.last[:0], line...), true
		}
		if !saysLittle(line) {
			l.telling = append(l.telling[:0], line...)
			return
		}
	}
}

// take handles one line.
func (l *lines) take(line []byte, look func([]byte)) {
	look(line)
	if !saysAnything(line) {
		if len(l.last) == 0 && !isBlank(line) {
			l.bare = append(l.bare[:0], line...)
		}
		return
	}
	l.last = append(l.last[:0], line...)
	if !saysLittle(line) {
		l.telling = append(l.telling[:0], line...)
	}
}

// end treats what is left as a line.
func (l *lines) end(look func([]byte)) {
	if len(l.partial) > 0 {
		l.take(l.partial, look)
		l.partial = l.partial[:0]
	}
	l.returned = false
}

// extend adds to the line that has not ended. A carriage return is where it will be written
// over, if there is anything to write.
func (l *lines) extend(p []byte) {
	text := bytes.TrimRight(p, "\r")
	if len(text) > 0 && l.returned || bytes.IndexByte(text, '\r') >= 0 {
		l.partial = l.partial[:0]
	}
	l.returned = len(text) < len(p) || l.returned && len(p) == 0
	text = text[bytes.LastIndexByte(text, '\r')+1:]
	l.partial = append(l.partial, text[:min(len(text), maxLine-len(l.partial))]...)
}

// drawn is a line as it stands after its last carriage return: a progress bar is drawn over
// and over. No more than maxLine of it is looked at.
func drawn(line []byte) []byte {
	if bytes.IndexByte(line, '\r') >= 0 {
		line = bytes.TrimRight(line, "\r")
		line = line[bytes.LastIndexByte(line, '\r')+1:]
	}
	return line[:min(len(line), maxLine)]
}

// saysAnything reports whether a line is more than a rule, a bracket or a prompt.
func saysAnything(line []byte) bool {
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = withoutControls(line)
	}
	for _, c := range line {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 {
			return true
		}
	}
	return false
}

// isBlank reports whether there is nothing to see of a line.
func isBlank(line []byte) bool { return len(bytes.TrimSpace(withoutControls(line))) == 0 }

// trailers begin lines that come after what happened: where it did, what it ended with,
// where to read more.
var trailers = [][]byte{
	[]byte("at "), []byte("exit status "), []byte("Node.js v"), []byte("Try '"), []byte("note: "), []byte("help: "), []byte("stack backtrace:"),
	[]byte("For more information"), []byte("npm error A complete log"), []byte("goroutine "), []byte("created by "), []byte("main.main()"),
}

// saysLittle reports whether a line only follows the one that says what happened.
func saysLittle(line []byte) bool {
	text := bytes.TrimLeft(line, " \t")
	for _, t := range trailers {
		if bytes.HasPrefix(text, t) {
			return true
		}
	}
	if rest, ok := bytes.CutPrefix(line, []byte("npm error ")); ok {
		return bytes.IndexByte(rest, ' ') < 0
	}
	return len(text) < len(line) && isFrame(text)
}

// isFrame reports whether an indented line is part of a stack: "/src/main.go:5 +0x34" or
// "12: core::panicking::panic".
func isFrame(text []byte) bool {
	if bytes.HasPrefix(text, []byte("/")) && bytes.Contains(text, []byte(".go:")) {
		return true
	}
	number, _, found := bytes.Cut(text, []byte(": "))
	return found && len(number) > 0 && len(bytes.Trim(number, "0123456789")) == 0
}
