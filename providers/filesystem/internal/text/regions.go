package text

import (
	"bytes"
	"hash/maphash"
	"iter"
)

// Region is a place in which two states of a file differ: whole lines, with no
// equal one around them.
type Region struct {
	From, To           Format
	Old, New           []byte // parts of the two; either may be empty, not both
	OldAbove, NewAbove int    // lines that lie above
	OldLines, NewLines int
}

// Regions returns the places in which two states of a file differ, from its
// beginning on. It takes time in proportion to their size and copies nothing;
// what it finds is right, but not always the least there is: where lines were
// moved by more than a few thousand, equal ones may be in a region too. That a
// line ends in LF or in CR LF is a difference only if strict says so.
func Regions(before, after []byte, strict bool) iter.Seq[Region] {
	from, to := Detect(before), Detect(after)
	return func(yield func(Region) bool) {
		p := &pair{from: from, to: to, strict: strict || from.Wide(), a: before[len(from.Mark()):], b: after[len(to.Mark()):], first: map[uint64]int{}, seed: maphash.MakeSeed()}
		if from != to && (from.Wide() || to.Wide()) {
			yield(p.region(len(p.a), len(p.b)))
			return
		}
		tail := from.tailLines(p.a, p.b, 0)
		p.a, p.b = p.a[:len(p.a)-tail], p.b[:len(p.b)-tail]
		for p.skipEqual() {
			if !yield(p.region(p.untilEqual())) {
				return
			}
		}
	}
}

// pair is what is left of two states while they are walked side by side.
type pair struct {
	from, to Format
	strict   bool
	a, b     []byte
	aAt, bAt int // lines that are behind

	// What is used again and again: a large file has as many regions as lines.
	old, fresh [][]byte
	first      map[uint64]int
	seed       maphash.Seed
}

// region takes so many bytes of each, which are whole lines.
func (p *pair) region(a, b int) Region {
	old, fresh := Part{Raw: p.a[:a]}, Part{Raw: p.b[:b]}
	old.cut(p.from, a)
	fresh.cut(p.to, b)
	r := Region{p.from, p.to, p.a[:a], p.b[:b], p.aAt, p.bAt, old.Lines, fresh.Lines}
	p.a, p.b, p.aAt, p.bAt = p.a[a:], p.b[b:], p.aAt+old.Lines, p.bAt+fresh.Lines
	return r
}

// skipEqual goes on to the first lines that differ. It reports whether there are any.
func (p *pair) skipEqual() bool {
	for len(p.a) > 0 && len(p.b) > 0 {
		n := commonHead(p.a, p.b)
		if n < len(p.a) || n < len(p.b) {
			n = p.from.lineStart(p.a, n)
		}
		if n > 0 {
			p.region(n, n)
			continue
		}
		a, b := p.from.nextLine(p.a, 0), p.from.nextLine(p.b, 0)
		if !p.equal(p.a[:a], p.b[:b]) {
			return true
		}
		p.region(a, b)
	}
	return len(p.a)+len(p.b) > 0
}

// equal reports whether two lines count as equal.
func (p *pair) equal(a, b []byte) bool {
	return bytes.Equal(p.key(a), p.key(b)) && bytes.HasSuffix(a, newline) == bytes.HasSuffix(b, newline)
}

var newline = []byte{'\n'}

// key is a line without its end, if it does not matter which that is.
func (p *pair) key(line []byte) []byte {
	if body, ended := bytes.CutSuffix(line, newline); ended && !p.strict {
		return bytes.TrimSuffix(body, []byte{'\r'})
	}
	return line
}

// The lines of both sides in which two that are equal are looked for: at first few.
const (
	nearLines = 8
	farLines  = 4096
)

// untilEqual returns how much lies before the next lines that are equal.
func (p *pair) untilEqual() (a, b int) {
	for {
		for most := nearLines; most <= farLines; most *= 8 {
			p.old, p.fresh = p.lines(p.old[:0], p.a[a:], most), p.lines(p.fresh[:0], p.b[b:], most)
			old, fresh := p.old, p.fresh
			if len(old) == 0 || len(fresh) == 0 {
				return len(p.a), len(p.b)
			}
			if i, j, ok := p.meet(old, fresh); ok {
				return a + size(old[:i]), b + size(fresh[:j])
			}
			if most == farLines {
				a, b = a+size(old), b+size(fresh)
			}
		}
	}
}

func (p *pair) lines(lines [][]byte, raw []byte, most int) [][]byte {
	for line := range p.from.Lines(raw) {
		if len(lines) == most {
			break
		}
		lines = append(lines, line)
	}
	return lines
}

func size(lines [][]byte) (n int) {
	for _, line := range lines {
		n += len(line)
	}
	return n
}

// telling is how long a line must be to be taken for the same one as another. Of
// shorter ones, as a bracket, the next has to be the same too.
const telling = 12

// meet finds the first lines that are equal: those with the fewest before them.
func (p *pair) meet(old, fresh [][]byte) (i, j int, ok bool) {
	clear(p.first)
	for at, line := range fresh {
		if sum := maphash.Bytes(p.seed, p.key(line)); p.tells(fresh, at) {
			if _, there := p.first[sum]; !there {
				p.first[sum] = at
			}
		}
	}
	for at, line := range old {
		if ok && at >= i+j {
			break
		}
		k, there := p.first[maphash.Bytes(p.seed, p.key(line))]
		if there && (!ok || at+k < i+j) && p.same(old, fresh, at, k) {
			i, j, ok = at, k, true
		}
	}
	return i, j, ok
}

func (p *pair) tells(lines [][]byte, at int) bool {
	return len(lines[at]) >= telling || at+1 < len(lines)
}

func (p *pair) same(old, fresh [][]byte, i, j int) bool {
	equal := func(i, j int) bool {
		return i < len(old) && j < len(fresh) && p.equal(old[i], fresh[j])
	}
	return equal(i, j) && (len(old[i]) >= telling || equal(i+1, j+1))
}

// Lines are the lines of raw with their ends.
func (f Format) Lines(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(raw) > 0 {
			n := f.nextLine(raw, 0)
			if !yield(raw[:n]) {
				return
			}
			raw = raw[n:]
		}
	}
}

// CharStart returns where the character begins that holds line[at].
func (f Format) CharStart(line []byte, at int) int {
	if at >= len(line) {
		return len(line)
	}
	if f.Wide() {
		if at -= at % 2; at >= 2 && at+1 < len(line) && f.order().Uint16(line[at:])>>10 == 0xdc00>>10 {
			at -= 2
		}
		return at
	}
	for back := range min(at, 3) + 1 {
		if start := at - back; line[start] < 0x80 || line[start] >= 0xc0 {
			if back == 0 || line[start] >= 0xc0 {
				return start
			}
			break
		}
	}
	return at
}

// Apart returns what two lines have in common at their beginning and at their
// end, in bytes; a character is in common whole or not at all.
func (f Format) Apart(a, b []byte) (head, tail int) {
	head = commonHead(a, b)
	head = min(f.CharStart(a, head), f.CharStart(b, head))
	tail = commonTail(a[head:], b[head:])
	for tail > 0 && (f.CharStart(a, len(a)-tail) != len(a)-tail || f.CharStart(b, len(b)-tail) != len(b)-tail) {
		tail--
	}
	return head, tail
}
