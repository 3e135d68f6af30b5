// Package refusal is how the rooms of release-tools say no.
//
// A refusal carries a stable kind ("tag-exists"), the class that decides how the caller reacts, and a message that
// names the thing and the next step. Everything that is not a refusal is a fault nobody foresaw.
package refusal

import "fmt"

// Class says whose turn it is after a refusal.
type Class int

// The classes, one for each error category a refusal can end in.
const (
	Failed   Class = iota // the request is sound, the state of the repository or file does not allow it
	Invalid               // an argument makes no sense
	NotFound              // the thing asked for does not exist
	Denied                // a boundary or the operating system refused
)

// Error is one refusal.
type Error struct {
	Kind     string // stable, kebab-case: what went wrong
	Class    Class
	Argument string // the argument at fault, for Invalid
	Message  string
	Err      error // the cause, if another error led here
}

// Error returns the message for a person.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New refuses because of the state of the repository or the file. A %w among the verbs becomes the cause.
func New(kind, format string, args ...any) *Error { return build(Failed, kind, format, args) }

// Missing refuses because the thing asked for does not exist.
func Missing(kind, format string, args ...any) *Error { return build(NotFound, kind, format, args) }

// Deny refuses because a boundary or the operating system does.
func Deny(kind, format string, args ...any) *Error { return build(Denied, kind, format, args) }

// Argument refuses the argument with that name.
func Argument(name, kind, format string, args ...any) *Error {
	e := build(Invalid, kind, format, args)
	e.Argument = name
	return e
}

func build(class Class, kind, format string, args []any) *Error {
	err := fmt.Errorf(format, args...)
	e := &Error{Kind: kind, Class: class, Message: err.Error()}
	if u, ok := err.(interface{ Unwrap() error }); ok {
		e.Err = u.Unwrap()
	}
	return e
}
