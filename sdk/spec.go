package sdk

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/sdk/internal/schema"
	"github.com/agentco/agent/sdk/internal/turn"
)

// spec is what is said of an operation on the wire, without its types.
type spec struct {
	command     bool
	name        string
	description string
	kind        toolv1.ToolKind
	risk        toolv1.RiskClass
	concurrency *toolv1.ConcurrencySpec
	streaming   bool
	idempotent  bool
	timeout     *durationpb.Duration
	ends        bool // terminates_turn
	in, out     *schema.Type
}

// fault says what is wrong with an operation that is about to be registered.
func (s *spec) fault() error {
	readOnly := s.risk == toolv1.RiskClass_RISK_CLASS_READ_ONLY
	switch {
	case !validName(s.name):
		return fmt.Errorf("operation name %q: use 1 to 64 of a-z A-Z 0-9 _ -", s.name)
	case s.description == "":
		return fmt.Errorf("operation %q has no description: it is all that a caller has to choose by", s.name)
	case s.kind < toolv1.ToolKind_TOOL_KIND_RESOURCE || s.kind > toolv1.ToolKind_TOOL_KIND_INTERACTIVE:
		return fmt.Errorf("operation %q has no kind that the protocol knows (%d)", s.name, s.kind)
	case s.risk < toolv1.RiskClass_RISK_CLASS_READ_ONLY || s.risk > toolv1.RiskClass_RISK_CLASS_CRITICAL:
		return fmt.Errorf("operation %q has no risk that the protocol knows (%d)", s.name, s.risk)
	case readOnly == (s.kind == toolv1.ToolKind_TOOL_KIND_RESOURCE):
		return fmt.Errorf("operation %q: the risk read_only belongs to data_source and interactive operations, and to all of them", s.name)
	case s.timeout != nil && !s.timeout.IsValid():
		return fmt.Errorf("operation %q has a default timeout that the protocol does not know: %w", s.name, s.timeout.CheckValid())
	case s.timeout != nil && s.timeout.AsDuration() <= 0:
		return fmt.Errorf("operation %q: a timeout of %s leaves no time", s.name, s.timeout.AsDuration())
	}
	return s.keyFault()
}

// size is how much of a message the operation takes when a kernel asks for all of them. The error says why it cannot be
// sent.
func (s *spec) size() (int, error) {
	var m proto.Message = s.tool()
	if s.command {
		m = s.slashCommand()
	}
	encoded, err := proto.Marshal(m)
	if err != nil {
		return 0, fmt.Errorf("operation %q cannot be described: %w", s.name, err)
	}
	return len(encoded), nil
}

func (s *spec) keyFault() error {
	for _, key := range s.concurrency.GetKeyFields() {
		if s.in.Schema.GetProperties()[key] == nil {
			return fmt.Errorf("no argument %q to be a concurrency key", key)
		}
	}
	return nil
}

// claim is what a call of these arguments needs of other calls.
func (s *spec) claim(arguments *structpb.Struct) turn.Claim {
	c := s.concurrency
	switch {
	case !c.GetSafe():
		return turn.Claim{Alone: true}
	case s.kind == toolv1.ToolKind_TOOL_KIND_INTERACTIVE:
		return turn.Claim{Key: "interactive"} // of any operation; keys of others hold a NUL
	case len(c.GetKeyFields()) == 0:
		return turn.Claim{}
	}
	return turn.Claim{Key: s.in.Key(s.name, arguments, c.GetKeyFields())}
}

func (s *spec) tool() *toolv1.ToolSchema {
	return &toolv1.ToolSchema{
		Name: s.name, Kind: s.kind, Risk: s.risk, Description: s.description,
		InputSchema: s.in.Schema, OutputSchema: s.out.Schema,
		Streaming: s.streaming, Concurrency: s.concurrency,
		DefaultTimeout: s.timeout, Idempotent: s.idempotent, TerminatesTurn: s.ends,
	}
}

func (s *spec) slashCommand() *slashcommandv1.SlashCommandSpec {
	return &slashcommandv1.SlashCommandSpec{
		Name: s.name, Description: s.description, InputSchema: s.in.Schema,
		Kind: s.kind, Risk: s.risk, Concurrency: s.concurrency,
		Streaming: s.streaming, DefaultTimeout: s.timeout, Idempotent: s.idempotent,
	}
}

// unargued keeps an error about a result from being taken for one about an argument.
func unargued(err error) error {
	var argument *schema.ArgumentError
	if errors.As(err, &argument) {
		return errors.New(argument.Argument + " " + argument.Problem)
	}
	return err
}
