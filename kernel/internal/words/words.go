// Package words splits what a person types at a prompt into words, quoted as in a shell. Nothing is expanded: a $, a *
// or a | is itself.
package words

import (
	"fmt"
	"strings"
)

// Word is one word.
type Word struct {
	// Text is the word without its quotes.
	Text string
	// From and To are its bytes in what was typed.
	From, To int
	// Quoted is set when any of it stood in quotes or behind a backslash.
	Quoted bool
}

// Line is the words of one command; it is never empty.
type Line []Word

// Error says where what was typed cannot be split.
type Error struct {
	// At is the byte of the text that is wrong.
	At int
	// Unfinished is set when more text would put it right.
	Unfinished bool
	message    string
}

func (e *Error) Error() string { return e.message }

// Split splits a text into lines and words. Lines end at a line feed that is not quoted; one behind a backslash is
// nothing. A # at the beginning of a word begins a comment. The error is an *Error, beside the lines before it.
func Split(text string) ([]Line, error) {
	s := splitter{text: text}
	for s.next() {
	}
	if s.err != nil {
		return s.lines, s.err
	}
	s.endLine()
	return s.lines, nil
}

// Complete reports whether a text needs no more rows: no quote is open, and no row is to go on after a backslash.
func Complete(text string) bool {
	var r Rows
	return r.Add(text)
}

// Partial is a text as far as it is typed.
type Partial struct {
	// Words are those of the last line that are complete.
	Words Line
	// Word is the one at the end of the text; empty when the text ends between words.
	Word Word
	// Quote is the quote that is still open in it: ', " or 0.
	Quote byte
}

// Unfinished takes a text that ends anywhere apart. ok is false in a comment, where there are no words.
func Unfinished(text string) (p Partial, ok bool) {
	s := splitter{text: text}
	for s.next() {
	}
	if s.comment {
		return Partial{}, false
	}
	p.Word = Word{From: len(text), To: len(text)}
	if s.inWord {
		p.Word, p.Quote = s.word(), s.quote
	}
	p.Words = s.line
	return p, true
}

// splitter goes through a text.
type splitter struct {
	text  string
	at    int
	lines []Line
	line  Line

	inWord  bool
	from    int
	current strings.Builder
	quoted  bool
	quote   byte // that is open
	comment bool // the text ended in one
	err     *Error
}

// next takes the next piece of the text; false at its end.
func (s *splitter) next() bool {
	if s.at == len(s.text) {
		return false
	}
	switch c := s.text[s.at]; {
	case c == '\n':
		s.endLine()
		s.at++
	case c == ' ' || c == '\t' || c == '\r':
		s.endWord()
		s.at++
	case c == '#' && !s.inWord:
		rest := strings.IndexByte(s.text[s.at:], '\n')
		s.comment = rest < 0
		if s.comment {
			s.at = len(s.text)
		} else {
			s.at += rest
		}
	case c == '\'' || c == '"':
		return s.inQuotes(c)
	case c == '\\':
		return s.escaped()
	default:
		s.begin()
		s.current.WriteByte(c)
		s.at++
	}
	return true
}

// begin begins a word if none is open.
func (s *splitter) begin() {
	if !s.inWord {
		s.inWord, s.from, s.quoted = true, s.at, false
		s.current.Reset()
	}
}

func (s *splitter) word() Word {
	return Word{Text: s.current.String(), From: s.from, To: s.at, Quoted: s.quoted}
}

func (s *splitter) endWord() {
	if s.inWord {
		s.line = append(s.line, s.word())
		s.inWord = false
	}
}

func (s *splitter) endLine() {
	s.endWord()
	if len(s.line) > 0 {
		s.lines = append(s.lines, s.line)
		s.line = nil
	}
}

// inQuotes reads up to the closing quote. Between double quotes a backslash takes its meaning from " \ $ ` and a line feed.
func (s *splitter) inQuotes(quote byte) bool {
	s.begin()
	open := s.at
	s.quote, s.quoted = quote, true
	for s.at++; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		if c == quote {
			s.quote = 0
			s.at++
			return true
		}
		if quote == '"' && c == '\\' && s.at+1 < len(s.text) && strings.IndexByte("\"\\$`\n", s.text[s.at+1]) >= 0 {
			s.at++
			if c = s.text[s.at]; c == '\n' {
				continue
			}
		}
		s.current.WriteByte(c)
	}
	s.err = &Error{At: open, Unfinished: true, message: fmt.Sprintf("the quote %c is not closed", quote)}
	return false
}

// escaped reads what stands behind a backslash.
func (s *splitter) escaped() bool {
	if s.at+1 == len(s.text) {
		s.begin()
		s.quoted = true
		s.err = &Error{At: s.at, Unfinished: true, message: `there is nothing behind the \`}
		s.at++
		return false
	}
	if s.text[s.at+1] != '\n' {
		s.begin()
		s.quoted = true
		s.current.WriteByte(s.text[s.at+1])
	}
	s.at += 2
	return true
}
