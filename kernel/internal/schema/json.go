package schema

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"
)

// AppendJSON appends a value as JSON: names in order, lists that are empty as [], and nothing escaped that need not be.
// Payloads can be megabytes, which protojson is slow with.
func AppendJSON(out []byte, s *structpb.Struct) []byte {
	var few [16]string
	names := few[:0]
	for name := range s.GetFields() {
		names = append(names, name)
	}
	slices.Sort(names)
	out = append(out, '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendText(out, name), ':')
		out = appendValue(out, s.GetFields()[name])
	}
	return append(out, '}')
}

func appendValue(out []byte, v *structpb.Value) []byte {
	switch v := v.GetKind().(type) {
	case *structpb.Value_StructValue:
		return AppendJSON(out, v.StructValue)
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
		return AppendText(out, v.StringValue)
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
	if whole := int64(n); float64(whole) == n && math.Abs(n) < 1<<53 && (whole != 0 || !math.Signbit(n)) {
		return strconv.AppendInt(out, whole, 10)
	}
	text, err := json.Marshal(n)
	if err != nil {
		return append(out, "null"...)
	}
	return append(out, text...)
}

const hexDigits = "0123456789abcdef"

// AppendText appends a text as JSON, with U+FFFD for what is no UTF-8.
func AppendText(out []byte, s string) []byte {
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
