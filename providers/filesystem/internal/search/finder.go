package search

import (
	"bytes"
	"strings"
)

// finder finds the first of some texts in a block, or with none of them the
// beginning of it. It may stop where there is no match, but never passes one.
type finder struct{ needles []needle }

// needle is one text to be found, by its rarest byte.
type needle struct {
	text []byte
	rare int // which byte
	fold bool
}

// newFinder makes texts of l that can be found in any encoding and case: a
// character beyond ASCII is another byte in old encodings, a line end may be two
// bytes, and k and s have a third form in Unicode.
func newFinder(l literals) finder {
	var f finder
	for _, t := range l.texts {
		n := needle{text: []byte(longestPlain(t, l.fold)), fold: l.fold}
		if len(n.text) == 0 {
			return finder{}
		}
		for i, c := range n.text {
			if rarity(c) > rarity(n.text[n.rare]) {
				n.rare = i
			}
		}
		f.needles = append(f.needles, n)
	}
	return f
}

func longestPlain(t string, fold bool) (longest string) {
	for run := range strings.FieldsFuncSeq(t, func(r rune) bool {
		return r >= 0x80 || r == '\n' || fold && (r == 'k' || r == 's')
	}) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest
}

// only reports whether the finder finds just this text.
func (f finder) only(text string) bool {
	return len(f.needles) == 1 && !f.needles[0].fold && string(f.needles[0].text) == text
}

// common are bytes of source code and prose, the most frequent first.
const common = " etanroisldcupmfhgby_.,()0/\t-w1v\"=k2:;TSAC3xERI'N4*PDO5LFM8{}6[]7B9jGqU>#z<WHVK\\|&!$XYJQZ`@+?%^~"

var rank = func() (r [256]int) {
	for i := range r {
		r[i] = len(common)
	}
	for i := range len(common) {
		r[common[i]] = i
	}
	r['\n'], r[0] = 0, 0
	return r
}()

func rarity(c byte) int { return rank[c] }

// search looks through one block. It remembers how far each needle was looked
// for, so that many needles cost no more than one look each.
type search struct {
	finder
	block []byte
	next  [mostTexts]int
}

func (s *search) reset(block []byte) {
	s.block = block
	for i := range s.needles {
		s.next[i] = -1
	}
}

// from is where the first text at or behind at begins, or -1.
func (s *search) from(at int) int {
	if len(s.needles) == 0 {
		return at
	}
	first := len(s.block)
	for i := range s.needles {
		if s.next[i] < at {
			s.next[i] = len(s.block)
			if found := s.needles[i].index(s.block[at:]); found >= 0 {
				s.next[i] = at + found
			}
		}
		first = min(first, s.next[i])
	}
	if first == len(s.block) {
		return -1
	}
	return first
}

// index is where the text first is in block, or -1.
func (n *needle) index(block []byte) int {
	if n.fold {
		return n.indexFold(block)
	}
	c := n.text[n.rare]
	for at, misses := n.rare, 0; at < len(block); misses++ {
		i := bytes.IndexByte(block[at:], c)
		if i < 0 {
			return -1
		}
		start := at + i - n.rare
		if bytes.HasPrefix(block[start:], n.text) {
			return start
		}
		if at += i + 1; misses > 4+at/32 { // it is not rare here
			start++
			if i := bytes.Index(block[start:], n.text); i >= 0 {
				return start + i
			}
			return -1
		}
	}
	return -1
}

func (n *needle) indexFold(block []byte) int {
	c := n.text[n.rare]
	small, large := byteFinder{c: c, at: -1}, byteFinder{c: upper(c), at: -1}
	for at := n.rare; at < len(block); at++ {
		if at = min(small.from(block, at), large.from(block, at)); at >= len(block) {
			return -1
		}
		if start := at - n.rare; hasPrefixFold(block[start:], n.text) {
			return start
		}
	}
	return -1
}

// byteFinder finds one byte again and again.
type byteFinder struct {
	c  byte
	at int
}

func (f *byteFinder) from(block []byte, at int) int {
	if f.at < at {
		f.at = len(block)
		if i := bytes.IndexByte(block[at:], f.c); i >= 0 {
			f.at = at + i
		}
	}
	return f.at
}

// hasPrefixFold compares with a text in small ASCII letters.
func hasPrefixFold(block, small []byte) bool {
	if len(block) < len(small) {
		return false
	}
	for i, c := range small {
		if b := block[i]; b != c && b != upper(c) {
			return false
		}
	}
	return true
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}
