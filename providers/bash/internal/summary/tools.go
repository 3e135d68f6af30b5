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

// marks are in every line that a tool may recognise, save those of pytest: see mayMatter.
var marks = [][]byte{
	[]byte("FAIL\t"), []byte("ok  \t"), []byte(`"Action":"pass"`), []byte(`"Action":"fail"`), []byte("test result: "), []byte("Test"),
	[]byte("[no test"), []byte("panic: "), []byte("E   "), []byte("No test"), []byte("error"), []byte("*** "), []byte(".go:"),
}

// mayMatter reports whether some line of p may be one that a tool recognises.
func mayMatter(p []byte) bool {
	for _, mark := range marks {
		if bytes.Contains(p, mark) {
			return true
		}
	}
	const in = " in " // and then the time that pytest took
	for {
		i := bytes.Index(p, []byte(in))
		if i < 0 || i+len(in) >= len(p) {
			return false
		}
		if p = p[i+len(in):]; p[0] >= '0' && p[0] <= '9' {
			return true
		}
	}
}

// line looks at one line of output.
func (t *tools) line(line []byte) {
	if bytes.IndexByte(line, 0x1b) >= 0 {
		line = withoutControls(line)
	}
	if len(line) == 0 {
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
