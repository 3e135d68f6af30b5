package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentco/agent/kernel/internal/schema"
	"google.golang.org/protobuf/types/known/structpb"
)

// encoded is a value as JSON: names in order, lists that are empty as [], and nothing escaped that need not be. Payloads
// can be megabytes of text, which protojson is slow with.
func encoded(s *structpb.Struct) []byte {
	return appendStruct(nil, s)
}

func appendStruct(out []byte, s *structpb.Struct) []byte {
	out = append(out, '{')
	for i, name := range slices.Sorted(maps.Keys(s.GetFields())) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(out, name), ':')
		out = appendValue(out, s.GetFields()[name])
	}
	return append(out, '}')
}

func appendValue(out []byte, v *structpb.Value) []byte {
	switch v := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		return appendStruct(out, v.StructValue)
	case *structpb.Value_ListValue:
		out = append(out, '[')
		for i, item := range v.ListValue.GetValues() {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendValue(out, item)
		}
		return append(out, ']')
	case *structpb.Value_StringValue:
		return appendText(out, v.StringValue)
	case *structpb.Value_NumberValue:
		return appendNumber(out, v.NumberValue)
	case *structpb.Value_BoolValue:
		return strconv.AppendBool(out, v.BoolValue)
	default:
		return append(out, "null"...)
	}
}

// appendNumber writes a number as encoding/json does. One that JSON has no words for, the host has refused before.
func appendNumber(out []byte, n float64) []byte {
	text, err := json.Marshal(n)
	if err != nil {
		return append(out, "null"...)
	}
	return append(out, text...)
}

const hexDigits = "0123456789abcdef"

func appendText(out []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	out = append(slices.Grow(out, len(s)+len(s)/16+2), '"')
	for {
		n := plainPrefix(s)
		out = append(out, s[:n]...)
		if s = s[n:]; s == "" {
			return append(out, '"')
		}
		c := s[0]
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\t':
			out = append(out, '\\', 't')
		case '\r':
			out = append(out, '\\', 'r')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
		}
		s = s[1:]
	}
}

// plainPrefix is how much of a text stands in JSON as it is.
func plainPrefix(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

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
