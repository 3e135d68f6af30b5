package conformance

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// failure is an error that the provider gave, with where.
type failure struct {
	where string
	*toolv1.ToolError
}

// failures are the errors of all calls, and those in the details of failing unary RPCs.
func (s *subject) failures() (all []failure) {
	for _, call := range s.session().transcripts() {
		for _, e := range call.events {
			if e.GetError() != nil {
				all = append(all, failure{call.String(), e.GetError()})
			}
		}
	}
	for _, u := range s.unary() {
		for _, e := range errorsIn(u.err) {
			all = append(all, failure{u.where, e})
		}
	}
	return all
}

// eachFailure looks at every error.
func eachFailure(look func(*tally, failure)) check {
	return func(s *subject) finding {
		return lived(func(session) finding {
			var t tally
			for _, f := range s.failures() {
				t.count++
				look(&t, f)
			}
			return t.of("errors")
		})(s)
	}
}

func errorCategory(t *tally, f failure) {
	if f.GetCategory() < toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS || f.GetCategory() > toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN {
		t.add("that of %s has the category %s", f.where, f.GetCategory())
	}
}

func errorCrashed(t *tally, f failure) {
	if f.GetCategory() == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED {
		t.add("%s says so", f.where)
	}
}

func errorCancelled(t *tally, f failure) {
	if f.GetCategory() == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED {
		t.add("%s does", f.where)
	}
}

func errorMessage(t *tally, f failure) {
	if strings.TrimSpace(f.GetMessage()) == "" {
		t.add("that of %s has none", f.where)
	}
}

func errorCause(l *tally, f failure) {
	if f.GetCategory() == toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN && len(f.GetDetails().GetFields()) == 0 {
		l.add("%s says %s without any", f.where, quote(f.GetMessage()))
	}
}

func errorRetryable(t *tally, f failure) {
	switch f.GetCategory() {
	case toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED:
		if f.GetRetryable() {
			t.add("the %s of %s is", errorName(f.ToolError), f.where)
		}
	}
}

// unary is a failing Configure, Preview or Render.
type unary struct {
	where string
	err   error
}

// unary gives every failing one that the provider has.
func (s *subject) unary() (out []unary) {
	for _, r := range s.refusals() {
		if r.err != nil {
			out = append(out, unary{"Configure with " + faultName(r.fault) + " " + r.attribute, r.err})
		}
	}
	for _, shown := range s.session().shows() {
		// Deadlines and deaths are other rules' affairs.
		if code := status.Code(shown.err); shown.err != nil && code != codes.Unimplemented && code != codes.Unavailable && (code != codes.DeadlineExceeded || len(errorsIn(shown.err)) > 0) {
			out = append(out, unary{shown.label, shown.err})
		}
	}
	return out
}

func unaryDetails(s *subject) finding {
	return lived(func(session) finding {
		var t tally
		for _, u := range s.unary() {
			t.count++
			if n := len(errorsIn(u.err)); n != 1 {
				t.add("%s has %d: %s: %s", u.where, n, status.Code(u.err), quote(message(u.err)))
			}
		}
		return t.of("failures")
	})(s)
}

// codesOf is the table of status codes.
var codesOf = map[toolv1.ToolErrorCategory]codes.Code{
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS:    codes.InvalidArgument,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND:            codes.NotFound,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED:    codes.PermissionDenied,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED:     codes.FailedPrecondition,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_TIMEOUT:              codes.DeadlineExceeded,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CONCURRENCY_CONFLICT: codes.Aborted,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED:            codes.Canceled,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PROCESS_CRASHED:      codes.Unavailable,
	toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_UNKNOWN:              codes.Unknown,
}

func unaryCode(s *subject) finding {
	return lived(func(session) finding {
		var t tally
		for _, u := range s.unary() {
			for _, e := range errorsIn(u.err) {
				t.count++
				if want, ok := codesOf[e.GetCategory()]; ok && want != status.Code(u.err) {
					t.add("%s: %s has the code %s, not %s", u.where, errorName(e), status.Code(u.err), want)
				}
			}
		}
		return t.of("failures")
	})(s)
}
