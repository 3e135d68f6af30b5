package summary

import "bytes"

// lines cuts one stream into lines.
type lines struct {
	partial []byte // the line that has not ended yet, up to maxLine
	last    []byte // the last line that says anything
}

// write calls line for every line that ends in p. Its argument does not outlive the call.
func (l *lines) write(p []byte, line func([]byte)) {
	var last []byte
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			break
		}
		current := p[:end]
		p = p[end+1:]
		if len(l.partial) > 0 {
			l.extend(current)
			current = append([]byte{}, l.partial...)
			l.partial = l.partial[:0]
		}
		current = current[:min(len(current), maxLine)]
		line(current)
		if saysAnything(current) {
			last = current
		}
	}
	if last != nil {
		l.last = append(l.last[:0], last...)
	}
	l.extend(p)
}

// end treats what is left as a line.
func (l *lines) end(line func([]byte)) {
	if len(l.partial) > 0 {
		l.write([]byte("\n"), line)
	}
}

func (l *lines) extend(p []byte) {
	l.partial = append(l.partial, p[:min(len(p), maxLine-len(l.partial))]...)
}

// saysAnything reports whether a line is more than a rule, a bracket or a prompt.
func saysAnything(line []byte) bool {
	for _, c := range line {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 {
			return true
		}
	}
	return false
}
