package edit

import "unicode/utf8"

// commonHead returns how many bytes a and b, both UTF-8, begin with alike, in
// whole characters.
func commonHead(a []byte, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (inside(a, n) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// commonTail returns how many bytes a and b end with alike, in whole characters.
func commonTail(a []byte, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}

// inside reports whether a[n] goes on with a character begun before.
func inside(a []byte, n int) bool { return n < len(a) && !utf8.RuneStart(a[n]) }
