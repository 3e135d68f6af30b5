package text

import "bytes"

// Part is some whole lines of a file.
type Part struct {
	Raw []byte
	// Lines is how many lines the part has, with those that Raw leaves out.
	Lines int
	// Cut says that Raw is only the beginning of the part.
	Cut bool
}

// Difference returns the lines in which two states of a file differ, with some
// lines of context around them, and how many lines lie above. Neither part is
// longer than limit bytes. Nothing is copied.
func Difference(before, after []byte, context, limit int) (was, is Part, above int) {
	from, to := Detect(before), Detect(after)
	head := len(from.Mark())
	was.Raw, is.Raw = before[head:], after[len(to.Mark()):]
	if from == to {
		n := from.lineStart(was.Raw, commonHead(was.Raw, is.Raw))
		for range context {
			n = from.lineStart(was.Raw, n-1)
		}
		above = from.lineEnds(was.Raw[:n])
		was.Raw, is.Raw = was.Raw[n:], is.Raw[n:]
		tail := from.tailLines(was.Raw, is.Raw, context)
		was.Raw, is.Raw = was.Raw[:len(was.Raw)-tail], is.Raw[:len(is.Raw)-tail]
	}
	was.cut(from, limit)
	is.cut(to, limit)
	return was, is, above
}

// tailLines returns the length of the whole lines that both end with, less
// those that are context.
func (f Format) tailLines(a, b []byte, context int) int {
	if f.Wide() && (len(a)-len(b))%2 != 0 {
		return 0 // half a character too many: nothing is where it seems
	}
	at := len(a) - commonTail(a, b) // a line begins here or later
	if f.lineStart(a, at) != at || f.lineStart(b, len(b)-len(a)+at) != len(b)-len(a)+at {
		at = f.nextLine(a, at)
	}
	for range context {
		at = f.nextLine(a, at)
	}
	return len(a) - at
}

func (p *Part) cut(f Format, limit int) {
	p.Lines = f.lineEnds(p.Raw)
	if len(p.Raw) > 0 && f.lineStart(p.Raw, len(p.Raw)) != len(p.Raw) {
		p.Lines++
	}
	if len(p.Raw) > limit {
		end := limit - limit%2
		if !f.Wide() {
			end = len(wholeRunes(p.Raw[:end]))
		}
		p.Raw, p.Cut = p.Raw[:end], true
	}
}

// stride is how much is compared at once.
const stride = 4 << 10

func commonHead(a, b []byte) int {
	most := min(len(a), len(b))
	n := 0
	for n+stride <= most && bytes.Equal(a[n:n+stride], b[n:n+stride]) {
		n += stride
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}

func commonTail(a, b []byte) int {
	most := min(len(a), len(b))
	a, b = a[len(a)-most:], b[len(b)-most:]
	at := most
	for at >= stride && bytes.Equal(a[at-stride:at], b[at-stride:at]) {
		at -= stride
	}
	for at > 0 && a[at-1] == b[at-1] {
		at--
	}
	return most - at
}

// lineEnds counts the line ends in raw, which begins at a character.
func (f Format) lineEnds(raw []byte) int {
	if !f.Wide() {
		return bytes.Count(raw, []byte{'\n'})
	}
	n := 0
	for at := 0; at+1 < len(raw); at += 2 {
		if f.order().Uint16(raw[at:]) == '\n' {
			n++
		}
	}
	return n
}

// lineStart returns where the line begins that holds raw[at], or that ends
// there.
func (f Format) lineStart(raw []byte, at int) int {
	at = max(at, 0)
	if !f.Wide() {
		return bytes.LastIndexByte(raw[:at], '\n') + 1
	}
	for at -= at % 2; at >= 2 && f.order().Uint16(raw[at-2:]) != '\n'; {
		at -= 2
	}
	return at
}

// nextLine returns where the line after the one that holds raw[at] begins.
func (f Format) nextLine(raw []byte, at int) int {
	if !f.Wide() {
		if n := bytes.IndexByte(raw[at:], '\n'); n >= 0 {
			return at + n + 1
		}
		return len(raw)
	}
	for at -= at % 2; at+1 < len(raw); at += 2 {
		if f.order().Uint16(raw[at:]) == '\n' {
			return at + 2
		}
	}
	return len(raw)
}
