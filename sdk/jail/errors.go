package jail

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Why a jail says no. Those that are refusals are [fs.ErrPermission] too.
var (
	// ErrEscape means that the name is, or leads, outside the roots.
	ErrEscape error = refusal("it is outside the allowed roots")
	// ErrDenied means that the deny list hides the name.
	ErrDenied error = refusal("the deny list of this provider hides it")
	// ErrReadOnly means that a write was tried in a read-only root.
	ErrReadOnly error = refusal("it is in a read-only root")
	// ErrRoot means that a root would be removed, moved or changed.
	ErrRoot error = refusal("it is an allowed root, or holds one")
	// ErrGone means that the name of a root leads to another directory than at the
	// start, or to none: what the jail holds open is not what people see there.
	ErrGone = errors.New("its allowed root is not there any more, having been moved, replaced or removed; restart the provider")
	// ErrUnstable means that the name kept changing its meaning while it was opened.
	ErrUnstable = errors.New("it keeps being replaced while it is opened")
	// ErrNUL means that the name holds a NUL byte.
	ErrNUL error = invalid("a path cannot contain a NUL byte")
)

// errDeniedPart is the [ErrDenied] of a tree that is not hidden itself.
var errDeniedPart error = deniedPart("it holds what the deny list of this provider hides")

type deniedPart string

func (d deniedPart) Error() string { return string(d) }

func (deniedPart) Is(target error) bool { return target == ErrDenied || target == fs.ErrPermission }

// Irregular is the error for opening what is neither a file nor a directory:
// a named pipe, a socket or a device. It is [fs.ErrInvalid].
type Irregular struct{ Mode fs.FileMode }

// Error says what is wrong.
func (e *Irregular) Error() string { return "it is " + e.Kind() + ", not a regular file" }

// Is makes an Irregular an [fs.ErrInvalid].
func (*Irregular) Is(target error) bool { return target == fs.ErrInvalid }

// Kind names what the thing is, with its article.
func (e *Irregular) Kind() string {
	switch {
	case e.Mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case e.Mode&fs.ModeSocket != 0:
		return "a socket"
	case e.Mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

type refusal string

func (r refusal) Error() string { return string(r) }

func (refusal) Is(target error) bool { return target == fs.ErrPermission }

type invalid string

func (i invalid) Error() string { return string(i) }

func (invalid) Is(target error) bool { return target == fs.ErrInvalid }

// failure is err as every method of a jail returns it: about the name the
// caller used, never about a path it has not seen.
func failure(op, name string, err error) error {
	if err == nil {
		return nil
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		err = link.Err
	}
	err = cause(err)
	if escapes(err) {
		err = ErrEscape
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// errSwapped means that what a path led to changed while it was followed.
var errSwapped = errors.New("swapped")

// settled returns errSwapped for the errors that a path known to be free of
// links and of files in the middle gives only when that is no longer so.
func settled(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) || escapes(cause(err)) {
		return errSwapped
	}
	return err
}

// escapes recognises the refusal of an [os.Root], for which package os has no name.
func escapes(err error) bool { return err != nil && err.Error() == "path escapes from parent" }

// hidesIrregular reports whether err is what the system says when a pipe without
// a reader or a socket is opened.
func hidesIrregular(err error) bool {
	return errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.EOPNOTSUPP)
}
