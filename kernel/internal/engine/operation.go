package engine

import "github.com/agentco/agent/kernel/internal/host"

// What a face of the kernel needs to know of a provider, without knowing how it is run.
type (
	// Operation is a tool or a slash command. Its zero value is no operation.
	Operation = host.Operation
	// Info is what is known of a started provider.
	Info = host.Info
	// StartError is why a provider could not be started.
	StartError = host.StartError
	// Report is what had already happened when a call was cancelled.
	Report = host.Report
	// Timings is how long the parts of a start took.
	Timings = host.Timings
)

// Stages of a start, as in StartError.
const (
	StageLaunch    = host.StageLaunch
	StageHandshake = host.StageHandshake
	StageSchema    = host.StageSchema
	StageConfig    = host.StageConfig
	StageConfigure = host.StageConfigure
)
