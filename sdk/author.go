package sdk

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// apart calls a function of the provider's author on a goroutine of its own: one that ends its goroutine would leave whoever
// asked without an answer.
func apart[T any](what string, call func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		a := answer{err: errVanished}
		defer func() { answered <- a }()
		defer recovered(what, &a.err)
		a.value, a.err = call()
	}()
	a := <-answered
	return a.value, a.err
}

// errVanished stands for the error of a function until it has returned.
var errVanished = errors.New("it did not return")

// recovered makes an error of every end of a function but its return, in the function that defers it, and sees to it that
// the error it returned can be read.
func recovered(what string, err *error) {
	switch r := recover(); {
	case r != nil:
		*err = panicked(what, r)
	case *err == errVanished: //nolint:errorlint // nobody has wrapped it
		*err = vanished(what)
	case *err != nil:
		returned := *err
		*err = vanished(what + ": reading its error")
		*err = legible(what, returned)
	}
}

func vanished(what string) *Error {
	return (&Error{
		Category: CategoryUnknown,
		Message:  what + ": it ended its goroutine instead of returning, as runtime.Goexit and a test's FailNow do; this is a fault of the provider",
	}).With("cause", "runtime.Goexit")
}

func panicked(what string, r any) *Error {
	return (&Error{
		Category: CategoryUnknown,
		Message:  fmt.Sprintf("%s: panic: %v; this is a fault of the provider", what, r),
	}).With("cause", fmt.Sprint(r)).With("stack", string(debug.Stack()))
}

// legible is err, unless it panics when it is read, as a nil pointer does that was returned as an error. Whoever reads it
// later catches nothing, and the process would end.
func legible(what string, err error) (out error) {
	defer func() {
		if r := recover(); r != nil {
			out = panicked(fmt.Sprintf("%s: reading its error, a %T (nil in a variable of a pointer type is an error too)", what, err), r)
		}
	}()
	asError(err).proto()
	return err
}
