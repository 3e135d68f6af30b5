package host

import (
	"time"

	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// Info is what is known of a started provider.
type Info struct {
	// Name is the name in agent.hcl.
	Name string
	Path string
	// Producers identify the build, one for each category it serves.
	Producers []*commonv1.ProducerRef
	Config    *configv1.ConfigSchema
	Timings   Timings
}

// Timings is how long the parts of a start took.
type Timings struct {
	// Exec is until the process existed, Handshake from there until it had said where it listens.
	Exec, Handshake time.Duration
	// Schema is the connection and the questions what it serves, Configure the decoding of its block and the call.
	Schema, Configure time.Duration
}

// Total is the whole of it.
func (t Timings) Total() time.Duration { return t.Exec + t.Handshake + t.Schema + t.Configure }
