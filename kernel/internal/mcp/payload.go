package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/agentco/agent/kernel/internal/schema"
	"google.golang.org/protobuf/types/known/structpb"
)

// decoded reads the arguments of a call; none is an empty object. Whole numbers that the wire's double would change are
// refused: rounded, an id is that of something else.
func decoded(text json.RawMessage) (*structpb.Struct, error) {
	if len(text) == 0 || string(text) == "null" {
		return &structpb.Struct{}, nil
	}
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("arguments must be a JSON object: %w", err)
	}
	if err := schema.CheckNumbers(text); err != nil {
		return nil, err
	}
	return s, nil
}
