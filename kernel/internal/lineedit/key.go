package lineedit

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// command is what a key does.
type command int

const (
	nothing command = iota
	insert
	paste
	enter
	newRow
	interrupt
	deleteOrEnd
	backspace
	deleteNext
	left
	right
	wordLeft
	wordRight
	home
	end
	cutToEnd
	cutToStart
	cutWordBack
	cutWord
	yank
	previous
	next
	search
	complete
	completeBack
	clearScreen
	escape
)

// key is one key, or all that was pasted at once.
type key struct {
	command command
	text    string // of insert and paste
}

// The sequences around what is pasted, and those that switch them on and off.
const (
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// controlC is the key of Ctrl-C where the terminal makes no signal of it.
const controlC = '\x03'

var controls = map[byte]command{
	0x01: home, 0x02: left, controlC: interrupt, 0x04: deleteOrEnd, 0x05: end, 0x06: right, 0x07: escape,
	0x08: backspace, 0x09: complete, 0x0a: enter, 0x0b: cutToEnd, 0x0c: clearScreen, 0x0d: enter, 0x0e: next,
	0x10: previous, 0x12: search, 0x15: cutToStart, 0x17: cutWordBack, 0x19: yank, 0x7f: backspace,
}

// sequences are what follows ESC.
var sequences = map[string]command{
	"[A": previous, "[B": next, "[C": right, "[D": left, "[H": home, "[F": end, "[Z": completeBack,
	"OA": previous, "OB": next, "OC": right, "OD": left, "OH": home, "OF": end,
	"[1~": home, "[7~": home, "[4~": end, "[8~": end, "[3~": deleteNext,
	"[1;5C": wordRight, "[1;5D": wordLeft, "[1;3C": wordRight, "[1;3D": wordLeft,
	"b": wordLeft, "f": wordRight, "d": cutWord, "\x7f": cutWordBack, "\b": cutWordBack, "\r": newRow, "\n": newRow,
}

// decode reads the first key of what was typed, and how many bytes it takes: none when the key is not all there. With
// late set what is not all there will not come any more.
func decode(b []byte, late bool) (k key, n int) {
	switch {
	case len(b) == 0:
		return key{}, 0
	case isPaste(b):
		return pasted(b)
	case b[0] == 0x1b:
		return sequence(b, late)
	case b[0] < ' ' || b[0] == 0x7f:
		return key{command: controls[b[0]]}, 1
	default:
		return typed(b, late)
	}
}

// typed is a run of characters.
func typed(b []byte, late bool) (key, int) {
	n := 0
	for n < len(b) && b[n] >= ' ' && b[n] != 0x7f {
		if !late && !utf8.FullRune(b[n:]) {
			break
		}
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	if n == 0 {
		return key{}, 0
	}
	return key{insert, strings.ToValidUTF8(string(b[:n]), "\uFFFD")}, n
}

func isPaste(b []byte) bool { return bytes.HasPrefix(b, []byte(pasteStart)) }

// pasted is everything up to the end of a paste. A line feed at its end would only be in the way.
func pasted(b []byte) (key, int) {
	stop := bytes.Index(b, []byte(pasteEnd))
	if stop < 0 {
		return key{}, 0
	}
	text := strings.ToValidUTF8(string(b[len(pasteStart):stop]), "\uFFFD")
	return key{paste, strings.TrimRight(lineFeeds.Replace(text), "\n")}, stop + len(pasteEnd)
}

var lineFeeds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// shorten puts something shorter in the place of a paste that is too long for a line, and whose end has not come: what
// that is does not matter, as long as it is too long as well.
func shorten(b []byte) []byte {
	const end = len(pasteEnd) - 1 // of it that may be here
	if !isPaste(b) || len(b) <= len(pasteStart)+2*lineLimit {
		return b
	}
	if _, n := pasted(b); n > 0 {
		return b
	}
	return slices.Concat([]byte(pasteStart), bytes.Repeat([]byte{'.'}, lineLimit+1), b[len(b)-end:])
}

// sequence is a key that begins with ESC. One that is not known does nothing.
func sequence(b []byte, late bool) (key, int) {
	if len(b) == 1 {
		if late {
			return key{command: escape}, 1
		}
		return key{}, 0
	}
	n := sequenceLength(b)
	switch {
	case n > 0:
		return key{command: sequences[string(b[1:n])]}, n
	case late:
		return key{command: nothing}, len(b)
	default:
		return key{}, 0
	}
}

// sequenceLength is how many bytes the sequence at the start of b takes; 0 when it is not all there.
func sequenceLength(b []byte) int {
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] < ' ' || b[i] > '?' { // neither parameter nor intermediate: the last
				return i + 1
			}
		}
		return 0
	case 'O':
		return min(3, len(b)/3*3)
	case 0x1b: // two of them: the first is a lone one
		return 1
	default:
		if !utf8.FullRune(b[1:]) {
			return 0
		}
		_, size := utf8.DecodeRune(b[1:])
		return 1 + size
	}
}
