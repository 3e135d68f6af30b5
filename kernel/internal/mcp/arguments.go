package mcp

import (
	"encoding/json"
	"strings"

	"github.com/agentco/agent/kernel/internal/schema"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// typedArguments are the arguments of a prompt, which come as text, as the schema of the command wants them. An empty text
// is an argument that was left out: clients show a field for each. What does not fit, the kernel's own check says.
func typedArguments(s *schemav1.Schema, texts map[string]string) (*structpb.Struct, error) {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for name, text := range texts {
		if text == "" {
			continue
		}
		value, err := typed(s.GetProperties()[name], text)
		if err != nil {
			return nil, err
		}
		out.Fields[name] = value
	}
	return out, nil
}

func typed(s *schemav1.Schema, text string) (*structpb.Value, error) {
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		if n, ok, err := schema.ParseNumber(strings.TrimSpace(text)); ok {
			return structpb.NewNumberValue(n), err
		}
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		if word := strings.ToLower(strings.TrimSpace(text)); word == "true" || word == "false" {
			return structpb.NewBoolValue(word == "true"), nil
		}
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		return list(s, text)
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		if v := (&structpb.Value{}); json.Valid([]byte(text)) && v.UnmarshalJSON([]byte(text)) == nil {
			return v, nil
		}
	}
	return structpb.NewStringValue(text), nil
}

// list reads a JSON list, or one element that stands alone.
func list(s *schemav1.Schema, text string) (*structpb.Value, error) {
	if v := (&structpb.Value{}); strings.HasPrefix(strings.TrimSpace(text), "[") && v.UnmarshalJSON([]byte(text)) == nil {
		return v, nil
	}
	element, err := typed(s.GetItems(), text)
	return structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{element}}), err
}
