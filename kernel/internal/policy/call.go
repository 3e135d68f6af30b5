package policy

import (
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Call is what a decision depends on.
type Call struct {
	Provider  string
	Operation string
	Kind      toolv1.ToolKind
	Risk      toolv1.RiskClass
	Arguments *structpb.Struct
	Place
}

// Place is what paths are read against; all are absolute.
type Place struct {
	// Root is the folder of agent.hcl, which relative patterns begin at.
	Root string
	// Dir is the working directory, which relative arguments begin at.
	Dir string
	// Deciding are files that decide what runs, beside those of the root that agent.hcl and git have; it may be nil.
	Deciding *Guard
}
