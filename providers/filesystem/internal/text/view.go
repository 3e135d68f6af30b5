package text

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unicode/utf8"
)

// View is a file as text: decoded, without its byte-order mark, every CR LF as
// LF. It remembers which bytes each part of the text stands for.
type View struct {
	Text   []byte // not to be changed: it may be the file itself
	Format Format
	Census Census

	raw   []byte
	base  int    // where the text begins in raw, after the mark
	marks []mark // nil: text and raw run side by side
}

// mark says that text[text:] stands for raw[raw:].
type mark struct{ text, raw int }

// spacing is how much text lies between two marks: the way from a mark to a
// place in the text is walked, so close marks cost memory and far ones time.
const spacing = 256

// NewView decodes the whole of raw, which the view keeps.
func NewView(raw []byte) *View {
	format := Detect(raw)
	return format.view(raw, len(format.Mark()))
}

// View decodes a part of a file of this format, without its mark.
func (f Format) View(part []byte) *View { return f.view(part, 0) }

func (f Format) view(raw []byte, base int) *View {
	v := &View{Format: f, raw: raw, base: base}
	body := raw[base:]
	switch multi := !ascii(body); {
	case v.Format.Wide(), bytes.IndexByte(body, '\r') >= 0, multi && !utf8.Valid(body):
		v.decode(body)
	default:
		v.Text = body
		v.Census.tally(body, multi)
	}
	return v
}

// Raw returns the file itself. It is not to be changed.
func (v *View) Raw() []byte { return v.raw }

func (v *View) decode(body []byte) {
	v.Text = make([]byte, 0, v.Format.decodedLen(body))
	for at := 0; at < len(body); {
		v.marks = append(v.marks, mark{text: len(v.Text), raw: v.base + at})
		for end := len(v.Text) + spacing; len(v.Text) < end && at < len(body); {
			r, size := v.Format.step(body[at:], &v.Census)
			v.Text = utf8.AppendRune(v.Text, r)
			at += size
		}
	}
	v.Census.Bytes = len(body)
}

// decodedLen is how long the text of body will be: growing a large text would
// take twice its room.
func (f Format) decodedLen(body []byte) (n int) {
	for at := 0; at < len(body); {
		r, size := f.step(body[at:], &Census{})
		n += utf8.RuneLen(r)
		at += size
	}
	return n
}

// tally counts what is in valid UTF-8 without CR; multi says whether it has
// characters of several bytes.
func (c *Census) tally(body []byte, multi bool) {
	c.Bytes = len(body)
	c.LF = bytes.Count(body, []byte{'\n'})
	c.NUL = bytes.Count(body, []byte{0})
	if multi {
		c.Multi = 1 // more than none is all that matters
	}
}

func ascii(body []byte) bool {
	for ; len(body) >= 8; body = body[8:] {
		if binary.LittleEndian.Uint64(body)&highs != 0 {
			return false
		}
	}
	for _, b := range body {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Offset returns where in the file the character at Text[at:] begins; at may be
// the length of the text.
func (v *View) Offset(at int) int {
	if v.marks == nil {
		return v.base + at
	}
	n := sort.Search(len(v.marks), func(i int) bool { return v.marks[i].text > at })
	m := v.marks[n-1]
	for text, raw := m.text, m.raw; ; {
		if text >= at {
			return raw
		}
		r, size := v.Format.step(v.raw[raw:], &Census{})
		text += utf8.RuneLen(r)
		raw += size
	}
}

// LineEnd returns the bytes of the line end at Text[at], which is an LF, as
// characters: LF or CR LF.
func (v *View) LineEnd(at int) string {
	unit := 1
	if v.Format.Wide() {
		unit = 2
	}
	if v.Offset(at+1)-v.Offset(at) > unit {
		return "\r\n"
	}
	return "\n"
}
