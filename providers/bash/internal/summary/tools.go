package summary

import "bytes"

// tools recognises what test tools say about their run. When a command runs several,
// the last to speak has the word.
type tools struct {
	goTest goTest
	pytest pytest
	jest   jest
	cargo  cargo
	tsc    tsc

	faults
	speaker interface {
		verdict() (text string, failed bool)
	}
}

// hints are bytes of which every line that a tool may recognise has one.
const hints = ":\tTNE."

// mayMatter reports whether some line of p may be one that a tool recognises.
func mayMatter(p []byte) bool {
	for i := range len(hints) {
		if bytes.IndexByte(p, hints[i]) >= 0 {
			return true
		}
	}
	return false
}

// matters reports whether a tool may recognise a line. It is much faster than the tools.
func matters(line []byte) bool {
	switch line[0] {
	case '{':
		return bytes.Contains(line, []byte(`Action":"`))
	case 'F', 'o', '?':
		if bytes.IndexByte(line, '\t') >= 0 {
			return true
		}
	case ' ':
		return bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("Test"))
	case 'T', 'N', 't', 'E', 'f':
		for _, beginning := range beginnings {
			if bytes.HasPrefix(line, beginning) {
				return true
			}
		}
	case '=', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if mayBeTotals(line) {
			return true
		}
	}
	// "file:1:2: error: x", "panic: x", "make: *** x"
	space := bytes.IndexByte(line, ' ')
	return space > 0 && line[space-1] == ':' || bytes.Contains(line, []byte("TS"))
}

var beginnings = [][]byte{[]byte("Test"), []byte("No test"), []byte("test result: "), []byte("E   "), []byte("fatal error: ")}

// line looks at one line of output.
func (t *tools) line(line []byte) {
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = withoutControls(line)
	}
	if len(line) == 0 || !matters(line) {
		return
	}
	if line[0] != '{' {
		t.goTest.reason(line)
	}
	t.faults.line(line)
	if t.tsc.line(line) {
		t.speaker = &t.tsc
	}
	switch line[0] {
	case 'F', 'o', '{', '?':
		if t.goTest.line(line) {
			t.speaker = &t.goTest
		}
	case 'T', ' ', 'N':
		if t.jest.line(line) {
			t.speaker = &t.jest
		}
	case 't':
		if t.cargo.line(line) {
			t.speaker = &t.cargo
		}
	case 'E':
		t.pytest.reason(line)
	case '=', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if t.pytest.line(line) {
			t.speaker = &t.pytest
		}
	}
}

// verdict returns what the last tool said, and whether that was a failure.
func (t *tools) verdict() (text string, failed bool) {
	if t.speaker == nil {
		return "", false
	}
	return t.speaker.verdict()
}
