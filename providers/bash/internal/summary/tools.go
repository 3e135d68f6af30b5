package summary

// tools recognises what test tools say about their run. When a command runs several,
// the last to speak has the word.
type tools struct {
	goTest goTest
	pytest pytest
	jest   jest
	cargo  cargo

	speaker interface {
		verdict() (text string, failed bool)
	}
}

// line looks at one line of output. It sees every line that a command prints, so most
// must be dismissed by their first byte.
func (t *tools) line(line []byte) {
	if len(line) == 0 {
		return
	}
	switch line[0] {
	case 'F', 'o':
		if t.goTest.line(line) {
			t.speaker = &t.goTest
		}
	case 'T', ' ':
		if t.jest.line(line) {
			t.speaker = &t.jest
		}
	case 't':
		if t.cargo.line(line) {
			t.speaker = &t.cargo
		}
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
