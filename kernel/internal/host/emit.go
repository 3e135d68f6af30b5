package host

import (
	"errors"

	kernelv1 "github.com/agentco/agent/proto/pluggableharness/kernel/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Emission is an event that a provider wants to have kept in a session.
type Emission struct {
	// Provider is the name in agent.hcl.
	Provider      string
	SessionID     string
	Kind          kernelv1.EventKind
	SchemaVersion string
	Payload       []byte
}

// Emit keeps an event, and returns when it is safe: its id, and its place in the session. The error is ErrNoSession or
// ErrNotKept where they fit.
type Emit func(Emission) (id string, sequence int64, err error)

var (
	// ErrNoSession says that no call of that session runs: an event belongs to a call.
	ErrNoSession = errors.New("no call of this session runs")
	// ErrNotKept says that nothing is kept of the session.
	ErrNotKept = errors.New("the kernel keeps no events of this session")
	// ErrSecret says that an event holds what must not be kept.
	ErrSecret = errors.New("the payload holds the value of a sensitive attribute")
)

// longestEmission bounds the payload of an event: it is kept for ever.
const longestEmission = 1 << 20

// emit has an event kept that is the provider's own. What only the kernel can know, that a call was made, decided about, or
// how it ended, is not for a provider to say.
func (c *callbacks) emit(r *kernelv1.EmitRequest) (*kernelv1.EmitResult, error) {
	switch r.GetKind() {
	case kernelv1.EventKind_EVENT_KIND_MESSAGE, kernelv1.EventKind_EVENT_KIND_CONTEXT_CONTRIBUTION, kernelv1.EventKind_EVENT_KIND_MEMORY_WRITE,
		kernelv1.EventKind_EVENT_KIND_MEMORY_UPDATE, kernelv1.EventKind_EVENT_KIND_MEMORY_DELETE, kernelv1.EventKind_EVENT_KIND_HOOK_ERROR:
	case kernelv1.EventKind_EVENT_KIND_TOOL_CALL, kernelv1.EventKind_EVENT_KIND_PLAN, kernelv1.EventKind_EVENT_KIND_APPLY:
		return nil, status.Errorf(codes.PermissionDenied, "%s is for the kernel to record", r.GetKind())
	default:
		return nil, status.Errorf(codes.InvalidArgument, "there is no kind of event %s", r.GetKind())
	}
	if n := len(r.GetPayload()); n > longestEmission {
		return nil, status.Errorf(codes.ResourceExhausted, "the payload has %d bytes and an event at most %d", n, longestEmission)
	}
	if r.GetSchemaVersion() == "" {
		return nil, status.Error(codes.InvalidArgument, "schema_version is missing: nobody could read the payload later")
	}
	if c.spec.Emit == nil {
		return nil, status.Error(codes.Unimplemented, ErrNotKept.Error())
	}
	id, sequence, err := c.spec.Emit(Emission{
		Provider: c.spec.Name, SessionID: r.GetSessionId(), Kind: r.GetKind(), SchemaVersion: r.GetSchemaVersion(), Payload: r.GetPayload(),
	})
	switch {
	case err == nil:
		return &kernelv1.EmitResult{Id: id, Sequence: sequence}, nil
	case errors.Is(err, ErrNoSession):
		return nil, status.Error(codes.NotFound, err.Error())
	case errors.Is(err, ErrNotKept):
		return nil, status.Error(codes.Unimplemented, err.Error())
	case errors.Is(err, ErrSecret):
		return nil, status.Error(codes.InvalidArgument, err.Error())
	default:
		return nil, status.Error(codes.Unavailable, err.Error())
	}
}
