package registry

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Code is the one category an Error is in.
type Code string

// The codes. Their text is stable: scripts see it in --json.
const (
	Cancelled         Code = "cancelled"           // by the caller's context
	Unreachable       Code = "unreachable"         // no connection, or one that was cut again and again
	ServerFailed      Code = "server-failed"       // 5xx, after several attempts
	RateLimited       Code = "rate-limited"        // see Error.RetryAt
	AccessDenied      Code = "access-denied"       // 401, 403, or a token that cannot be one
	NotFound          Code = "not-found"           // the repository, or a file of a release
	InvalidAnswer     Code = "invalid-answer"      // what a server said is not what its API promises
	UnknownForge      Code = "unknown-forge"       // a host that speaks none of the APIs
	NoMatchingVersion Code = "no-matching-version" // releases, but none that will do
	NoChecksum        Code = "no-checksum"         // no checksums file, or the archive is not in it
	ChecksumsInvalid  Code = "checksums-invalid"   // the checksums file contradicts itself, or is none
	ChecksumMismatch  Code = "checksum-mismatch"   // what was fetched is not what is listed
	NoAsset           Code = "no-asset"            // no archive for the platform
	NoSignature       Code = "no-signature"        // a public key is given, and no signature is there
	SignatureInvalid  Code = "signature-invalid"   // a signature, but not one of this file by this key
	MirrorFailed      Code = "mirror-failed"       // a mirror that is configured cannot answer
	TooLarge          Code = "too-large"           // beyond any sensible size
	LocalFile         Code = "local-file"          // the file to write to, or that of a mirror's folder
)

// Error is what any function of this package fails with.
type Error struct {
	Code Code
	// Attempted is what was to be done, as in "list the releases of github.com/o/r".
	Attempted string
	// On is the address or path it was done with; without query, since that may hold a secret.
	On     string
	Reason string
	// Advice is what to do next; empty when there is nothing more to say.
	Advice string
	// RetryAt is when a rate limit ends; zero when that is not known.
	RetryAt time.Time
	Err     error

	retry  bool // another attempt may succeed
	resume bool // this one brought something before it failed
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("cannot " + e.Attempted)
	if e.On != "" {
		b.WriteString(" (" + e.On + ")")
	}
	b.WriteString(": " + e.Reason)
	if e.Advice != "" {
		b.WriteString(". " + e.Advice)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf is the code of an error of this package; empty for any other error.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// cancelled tells the caller's own cancellation apart from failures.
func cancelled(ctx context.Context, attempted, on string) *Error {
	if ctx.Err() == nil {
		return nil
	}
	return &Error{Code: Cancelled, Attempted: attempted, On: on, Reason: "it was cancelled", Err: ctx.Err()}
}
