package lineedit

import "io"

// line is a line as it is being edited.
type line struct {
	buffer
	editor  *Editor
	history *walk
	menu    *menu    // nil when there are no choices to show
	finding *finding // nil when nothing is searched
	cleared bool     // the screen is to be cleared
	full    bool     // the last key was left out, for want of room
	givenUp bool
}

// press does what a key does. It ends the line, or fails with io.EOF or ErrInterrupted.
func (l *line) press(k key) (end bool, err error) {
	l.full = false
	if l.finding != nil && l.find(k) {
		return false, nil
	}
	if l.menu != nil && l.choose(k) {
		return false, nil
	}
	switch k.command {
	case interrupt:
		l.givenUp = true
		return false, ErrInterrupted
	case deleteOrEnd:
		if l.text == "" {
			return false, io.EOF
		}
		l.cut(l.right())
	case enter:
		if unfinished := l.editor.Unfinished; unfinished != nil && unfinished(l.text) {
			l.at = len(l.text)
			l.insert("\n")
			return false, nil
		}
		return true, nil
	case complete, completeBack:
		l.complete()
	case search:
		l.finding = &finding{before: l.buffer, at: l.history.at}
	case clearScreen:
		l.cleared = true
	case previous, next:
		l.walk(k.command)
	default:
		l.edit(k)
	}
	return false, nil
}

// edit changes the text or moves the cursor.
func (l *line) edit(k key) {
	switch k.command {
	case insert, paste:
		l.full = !l.insert(k.text)
	case newRow:
		l.insert("\n")
	case backspace:
		l.cut(l.left())
	case deleteNext:
		l.cut(l.right())
	case left:
		l.at = l.left()
	case right:
		l.at = l.right()
	case wordLeft:
		l.at = l.wordLeft()
	case wordRight:
		l.at = l.wordRight()
	case home:
		l.at = l.rowStart()
	case end:
		l.at = l.rowEnd()
	case cutToEnd:
		l.keep(l.cut(l.rowEnd()))
	case cutToStart:
		l.keep(l.cut(l.rowStart()))
	case cutWordBack:
		l.keep(l.cut(l.blankLeft()))
	case cutWord:
		l.keep(l.cut(l.wordRight()))
	case yank:
		l.full = !l.insert(l.editor.yanked)
	}
}

// keep is what Ctrl-Y gives back.
func (l *line) keep(cut string) {
	if cut != "" {
		l.editor.yanked = cut
	}
}

// walk shows another line of the history.
func (l *line) walk(way command) {
	step := l.history.older
	if way == next {
		step = l.history.newer
	}
	if text, ok := step(l.text); ok {
		l.text, l.at = text, len(text)
	}
}
