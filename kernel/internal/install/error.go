package install

import (
	"fmt"
	"slices"
)

// Kind is the one category an Error is in. Its text is stable: scripts see it.
type Kind string

// The kinds.
const (
	// UnsafeArchive holds what no release needs: ways out of its folder, links, devices, more than fits.
	UnsafeArchive Kind = "unsafe-archive"
	// InvalidArchive cannot be read to its end.
	InvalidArchive Kind = "invalid-archive"
	// NoBinary is an archive without a program named like the provider, or with more than one.
	NoBinary Kind = "no-binary"
	// PlatformNotLocked is a provider that is locked for other platforms only.
	PlatformNotLocked Kind = "platform-not-locked"
	// ChecksumMismatch is a file that is not the one that was locked.
	ChecksumMismatch Kind = "checksum-mismatch"
	// NotInstalled is a provider that the cache does not have.
	NotInstalled Kind = "not-installed"
	// NotExecutable is a program that this machine refuses to execute.
	NotExecutable Kind = "not-executable"
	// CacheFailed is a cache that cannot be read or written.
	CacheFailed Kind = "cache-failed"
)

// Error is what the functions of this package fail with.
type Error struct {
	Code Kind
	// Attempted is what was to be done, On the file or folder it was done with.
	Attempted, On string
	Reason        string
	Err           error
}

func (e *Error) Error() string { return fmt.Sprintf("cannot %s (%s): %s", e.Attempted, e.On, e.Reason) }

func (e *Error) Unwrap() error { return e.Err }

// ofArchive reports whether the archive is at fault, and will be the next time, too.
func (e *Error) ofArchive() bool {
	return slices.Contains([]Kind{UnsafeArchive, InvalidArchive, NoBinary, ChecksumMismatch}, e.Code)
}

// Kind is the category as text.
func (e *Error) Kind() string { return string(e.Code) }
