package sdk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/internal/config"
	"github.com/agentco/agent/sdk/internal/schema"
	"github.com/agentco/agent/sdk/jail"
)

// Category says what kind of failure an error is, and so what its caller can do. There is no category for a
// crash: only a kernel sees one.
type Category toolv1.ToolErrorCategory

// Categories.
const (
	CategoryInvalidArguments = Category(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS)
	CategoryNotFound         = Category(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND)
	CategoryPermissionDenied = Category(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED)
	CategoryExecutionFailed  = Category(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED)
	CategoryTimeout          = Category(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT)
	CategoryConflict         = Category(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT)
	CategoryCancelled        = Category(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED)
	CategoryUnknown          = Category(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN)
)

// crashed is the category that only a kernel may use.
const crashed = Category(toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED)

func (c Category) String() string {
	name := toolv1.ToolErrorCategory(c).String()
	return strings.ToLower(strings.TrimPrefix(name, "TOOL_ERROR_CATEGORY_"))
}

// Error is a failure with its category. Make one with [NotFound] and its sisters, or let the SDK make it from
// any other error: fs.ErrNotExist is not_found; fs.ErrPermission and an escape from a [Root] or an os.Root are
// permission_denied; a name that is malformed, or of the wrong kind of file, is invalid_arguments; a context's end is
// cancelled or timeout; everything else is unknown.
type Error struct {
	Category Category
	// Message is for a person: what was attempted, on what, what to do next.
	Message string
	// Retryable is true when the same call may succeed unchanged.
	Retryable bool
	// Details go to the caller as they are: strings, booleans, numbers, and slices and maps (with string keys) of them.
	Details map[string]any
	// Err is the cause, for errors.Is. Its text is not shown by itself.
	Err error
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// With is e with a detail more. It leaves e alone, so that an error can be a package's variable.
func (e *Error) With(key string, value any) *Error {
	copied := *e
	copied.Details = maps.Clone(e.Details)
	if copied.Details == nil {
		copied.Details = map[string]any{}
	}
	copied.Details[key] = value
	return &copied
}

// Retry is e, marked as worth trying again. It leaves e alone.
func (e *Error) Retry() *Error {
	copied := *e
	copied.Retryable = true
	return &copied
}

// InvalidArgument says that an argument makes no sense ([CategoryInvalidArguments]); the message starts with its name.
func InvalidArgument(argument, format string, args ...any) *Error {
	return newError(CategoryInvalidArguments, literal(argument)+": "+format, args).With("argument", argument)
}

// NotFound says that the target does not exist ([CategoryNotFound]).
func NotFound(format string, args ...any) *Error { return newError(CategoryNotFound, format, args) }

// Denied says that the system, a jail or a rule refused ([CategoryPermissionDenied]).
func Denied(format string, args ...any) *Error {
	return newError(CategoryPermissionDenied, format, args)
}

// Failed says that the operation ran and failed on its own terms ([CategoryExecutionFailed]).
func Failed(format string, args ...any) *Error {
	return newError(CategoryExecutionFailed, format, args)
}

// TimedOut says that a deadline of the provider passed ([CategoryTimeout]).
func TimedOut(format string, args ...any) *Error { return newError(CategoryTimeout, format, args) }

// Conflict says that a conflicting call ran beside this one ([CategoryConflict]).
func Conflict(format string, args ...any) *Error { return newError(CategoryConflict, format, args) }

// BadField says, from [Provider.Setup], that an attribute of the provider block is wrong.
func BadField(attribute, format string, args ...any) *Error {
	return newError(CategoryInvalidArguments, literal(attribute)+": "+format, args).With("field", attribute)
}

// newError formats like fmt.Errorf, so that %w keeps the cause, and several of them all causes.
func newError(c Category, format string, args []any) *Error {
	err := fmt.Errorf(format, args...)
	cause := errors.Unwrap(err)
	var several interface{ Unwrap() []error }
	if cause == nil && errors.As(err, &several) {
		cause = err
	}
	return &Error{Category: c, Message: err.Error(), Err: cause}
}

// literal is text as a format that gives just the text: the name of an argument may come from a caller.
func literal(text string) string { return strings.ReplaceAll(text, "%", "%%") }

// asError is any error with its category and a text for a person.
func asError(err error) *Error {
	e := categorised(err)
	e.Message = withPathsShown(e.Message, err)
	return e
}

// categorised gives any error its category, in a value that is the caller's.
func categorised(err error) *Error {
	var known *Error
	var argument *schema.ArgumentError
	var field *config.FieldError
	switch {
	case errors.As(err, &known):
		return known.wrapped(err)
	case errors.As(err, &argument):
		return (&Error{Category: CategoryInvalidArguments, Message: err.Error(), Err: err}).With("argument", argument.Argument)
	case errors.As(err, &field):
		return (&Error{Category: CategoryInvalidArguments, Message: err.Error(), Err: err}).With("field", field.Attribute)
	case errors.Is(err, context.Canceled):
		return &Error{Category: CategoryCancelled, Message: err.Error(), Err: err}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return &Error{Category: CategoryTimeout, Message: err.Error(), Err: err}
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Category: CategoryNotFound, Message: err.Error(), Err: err}
	case errors.Is(err, fs.ErrPermission), escapes(err):
		return &Error{Category: CategoryPermissionDenied, Message: err.Error(), Err: err}
	case misnamed(err):
		return &Error{Category: CategoryInvalidArguments, Message: err.Error(), Err: err}
	case errors.Is(err, ErrNoKernel):
		return &Error{Category: CategoryExecutionFailed, Message: err.Error(), Err: err}
	case errors.Is(err, jail.ErrUnstable):
		return &Error{Category: CategoryConflict, Message: err.Error(), Err: err, Retryable: true}
	default:
		return (&Error{Category: CategoryUnknown, Message: err.Error(), Err: err}).With("cause", fmt.Sprintf("%T: %v", err, err))
	}
}

// wrapped keeps the text of whatever was wrapped around e.
func (e *Error) wrapped(outer error) *Error {
	copied := *e
	copied.Message = outer.Error()
	return &copied
}

// escapes reports a path that left its os.Root. The error has no exported value to compare with, and is not
// fs.ErrPermission.
func escapes(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Err != nil && path.Err.Error() == "path escapes from parent"
}

// misnamed reports an error of a file operation that another name would not have.
func misnamed(err error) bool {
	reason, named := pathReason(err)
	if !named {
		return false
	}
	for _, kind := range []error{fs.ErrInvalid, syscall.EISDIR, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.ELOOP} {
		if errors.Is(reason, kind) {
			return true
		}
	}
	return false
}

// proto is e on the wire.
func (e *Error) proto() *toolv1.ToolError {
	category := e.Category
	if category < CategoryInvalidArguments || category > CategoryUnknown || category == crashed {
		category = CategoryUnknown
	}
	out := &toolv1.ToolError{
		Category:  toolv1.ToolErrorCategory(category),
		Message:   strings.ToValidUTF8(e.Message, "\uFFFD"),
		Retryable: e.Retryable,
	}
	if out.GetMessage() == "" {
		out.Message = "the provider gives no reason; what is known is in the category and the details"
	}
	details := maps.Clone(e.Details)
	if category == CategoryUnknown && details["cause"] == nil {
		if details == nil {
			details = map[string]any{}
		}
		details["cause"] = e.Message
		if e.Err != nil {
			details["cause"] = fmt.Sprintf("%T: %v", e.Err, e.Err)
		}
	}
	if len(details) > 0 {
		out.Details = looseStruct(details)
	}
	return out
}

// statusBytes is what the status of a unary call may have: it travels in headers, where clients take 8 KiB in all.
const statusBytes = 4 << 10

// statusOf is e as the status of a unary call, with itself in the details.
func statusOf(e *toolv1.ToolError) error {
	message := e.GetMessage()
	if len(message) > statusBytes/4 {
		message = strings.ToValidUTF8(message[:statusBytes/4], "") + "…"
	}
	s := status.New(codeOf(Category(e.GetCategory())), message)
	if detailed, err := s.WithDetails(e); err == nil {
		s = detailed
	}
	return s.Err()
}

func codeOf(c Category) codes.Code {
	switch c {
	case CategoryInvalidArguments:
		return codes.InvalidArgument
	case CategoryNotFound:
		return codes.NotFound
	case CategoryPermissionDenied:
		return codes.PermissionDenied
	case CategoryExecutionFailed:
		return codes.FailedPrecondition
	case CategoryTimeout:
		return codes.DeadlineExceeded
	case CategoryConflict:
		return codes.Aborted
	case CategoryCancelled:
		return codes.Canceled
	default:
		return codes.Unknown
	}
}
