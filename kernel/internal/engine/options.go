package engine

import (
	"log/slog"
	"time"

	"github.com/agentco/agent/kernel/internal/catalogue"
	"github.com/agentco/agent/kernel/internal/policy"
	"github.com/agentco/agent/kernel/internal/schedule"
	"github.com/agentco/agent/kernel/internal/secret"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Options is what an engine needs. Only Providers is needed for it to be of use.
type Options struct {
	Providers []ProviderSpec
	Policies  []policy.Rule
	// Catalogue remembers what providers offer. Nil: nothing is remembered.
	Catalogue *catalogue.Catalogue
	// Lazy leaves providers that the Catalogue knows to their first call, or to Start or Warm: until then Operations,
	// Lookup and Providers go by what is remembered. The others are started by Open all the same.
	Lazy bool
	// ProjectRoot is the working directory of the provider processes. Default: that of this process.
	ProjectRoot string
	// WorkingDir is what relative paths in arguments resolve against. Default: ProjectRoot.
	WorkingDir string
	// Retry says how often a call that failed for a passing reason is made again. Zero: never.
	Retry schedule.Retry
	// Secrets takes the values of sensitive attributes, which are in nothing that the engine says of a call. Whoever shows
	// something else, such as the log, has to use it, too. Default: a set of the engine's own.
	Secrets *secret.Set
	// Log receives what the kernel and the providers have to say. Default: nothing is logged.
	Log *slog.Logger
}

// ProviderSpec says how to start one provider.
type ProviderSpec struct {
	// Name as in agent.hcl.
	Name string
	// Path of the binary.
	Path string
	// Checksum is the sha256 that the binary must have, in lower-case hex; empty when any will do.
	Checksum string
	// Env is set in the provider's environment, beside the few variables every provider gets.
	Env map[string]string
	// Timeout is the deadline of a call when the caller sets none. Zero: the operation's own.
	Timeout time.Duration
	// Config turns the provider's schema into its configuration; nil configures it with an empty one. It is called
	// once, from a goroutine of its own, before any call. Its error is reported as it is, within a StartError.
	Config func(*configv1.ConfigSchema) (*structpb.Struct, error)
}
