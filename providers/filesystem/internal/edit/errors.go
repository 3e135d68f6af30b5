package edit

import (
	"fmt"
	"strconv"
	"strings"
)

// Failure says which of several edits could not be carried out.
type Failure struct {
	Edit, Of int // from 1
	Err      error
}

// Error says what is wrong.
func (e *Failure) Error() string {
	if e.Of == 1 {
		return e.Err.Error()
	}
	return fmt.Sprintf("edit %d of %d: %v", e.Edit, e.Of, e.Err)
}

// Unwrap gives the cause.
func (e *Failure) Unwrap() error { return e.Err }

// Malformed is an edit that makes no sense for any file.
type Malformed struct{ Reason string }

// Error says what is wrong.
func (e *Malformed) Error() string { return e.Reason }

// NoMatch is an edit whose old text is not in the file.
type NoMatch struct {
	Near *Near // nil when nothing is like it
}

// Error says what is wrong.
func (e *NoMatch) Error() string {
	if e.Near == nil {
		return "old_string was not found, and nothing in the file is like it"
	}
	return fmt.Sprintf("old_string was not found; %s, on line %d, is:\n%s", e.Near.Why, e.Near.Line, e.Near.Text)
}

// Ambiguous is an edit whose old text is in the file more than once.
type Ambiguous struct {
	Count int
	Lines []int // where the first ones begin
}

// shownLines is how many line numbers an error lists.
const shownLines = 20

// Error says what is wrong.
func (e *Ambiguous) Error() string {
	numbers := make([]string, len(e.Lines))
	for i, n := range e.Lines {
		numbers[i] = strconv.Itoa(n)
	}
	where := "line " + numbers[0]
	if len(numbers) > 1 {
		where = "lines " + strings.Join(numbers, ", ")
	}
	if e.Count > shownLines {
		where += " and more"
	}
	return fmt.Sprintf("old_string matches %d times (%s); add lines around it until it is unique, or set replace_all", e.Count, where)
}

// TooLarge is an edit whose result would be longer than files may be.
type TooLarge struct{ Limit int }

// Error says what is wrong.
func (e *TooLarge) Error() string {
	return fmt.Sprintf("the file would be larger than %d bytes; replace fewer matches, or with less", e.Limit)
}
