// Package schema checks values against the JSON-Schema subset that operations describe their arguments and results
// with. It knows nothing of providers or transport, so that a command line, a gate and a host can all use it.
package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	"google.golang.org/protobuf/types/known/structpb"
)

// Problem is one place where a value does not fit its schema.
type Problem struct {
	// Path leads to the place, such as "edits[0].old_string"; empty for the whole value.
	Path string
	// Text says what is wrong and what would be right, without the path.
	Text string
}

// String is the problem as one line.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Text
	}
	return strconv.Quote(p.Path) + " " + p.Text
}

// Describe joins problems into one line.
func Describe(problems []Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}

// Arguments checks a set of arguments or a payload. A nil value is an empty object; a nil schema accepts anything.
func Arguments(s *schemav1.Schema, v *structpb.Struct) []Problem {
	if v == nil {
		v = &structpb.Struct{}
	}
	return Validate(s, structpb.NewStructValue(v))
}

// Validate checks one value and returns its problems, in a stable order; of very many the first, and how many more
// there are. A nil schema accepts anything that JSON can say.
func Validate(s *schemav1.Schema, v *structpb.Value) []Problem {
	if fits(s, v, 0) {
		return nil
	}
	return problems(s, v)
}

func problems(s *schemav1.Schema, v *structpb.Value) []Problem {
	var c check
	c.plain("", v, 0)
	if len(c.problems) == 0 {
		c.value("", s, v)
	}
	if c.more > 0 {
		c.problems = append(c.problems, Problem{Text: fmt.Sprintf("and %d more problems", c.more)})
	}
	return c.problems
}

// mostProblems is how many are spelled out: a list can have one at every element.
const mostProblems = 20

type check struct {
	problems []Problem
	more     int
}

func (c *check) add(path, format string, args ...any) {
	if len(c.problems) == mostProblems {
		c.more++
		return
	}
	c.problems = append(c.problems, Problem{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (c *check) value(path string, s *schemav1.Schema, v *structpb.Value) {
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_UNSPECIFIED:
		return
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		c.object(path, s, v)
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		c.array(path, s, v)
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		c.text(path, s, v)
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		if _, ok := v.GetKind().(*structpb.Value_NumberValue); !ok {
			c.add(path, "must be a number, not %s", typeOf(v))
		}
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		if _, ok := v.GetKind().(*structpb.Value_BoolValue); !ok {
			c.add(path, "must be true or false, not %s", typeOf(v))
		}
	default:
		c.add(path, "has a type this kernel does not know (%d)", s.GetType())
	}
}

func (c *check) object(path string, s *schemav1.Schema, v *structpb.Value) {
	object, ok := v.GetKind().(*structpb.Value_StructValue)
	if !ok {
		c.add(path, "must be an object, not %s", typeOf(v))
		return
	}
	fields := object.StructValue.GetFields()
	if len(s.GetProperties()) == 0 {
		return // it takes whatever comes
	}
	known := slices.Sorted(maps.Keys(s.GetProperties()))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		property, ok := s.GetProperties()[name]
		if !ok {
			c.add(join(path, name), "is not known%s", Hint(name, known))
			continue
		}
		c.value(join(path, name), property, fields[name])
	}
	for _, name := range s.GetRequired() {
		if _, ok := fields[name]; !ok {
			c.add(join(path, name), "is missing (%s, required)", TypeName(s.GetProperties()[name]))
		}
	}
}

func (c *check) array(path string, s *schemav1.Schema, v *structpb.Value) {
	list, ok := v.GetKind().(*structpb.Value_ListValue)
	if !ok {
		c.add(path, "must be a list, not %s", typeOf(v))
		return
	}
	for i, item := range list.ListValue.GetValues() {
		c.value(fmt.Sprintf("%s[%d]", path, i), s.GetItems(), item)
	}
}

func (c *check) text(path string, s *schemav1.Schema, v *structpb.Value) {
	text, ok := v.GetKind().(*structpb.Value_StringValue)
	if !ok {
		c.add(path, "must be a string, not %s", typeOf(v))
		return
	}
	if enum := s.GetEnumValues(); len(enum) > 0 && !slices.Contains(enum, text.StringValue) {
		c.add(path, "must be one of %s, not %q%s", strings.Join(enum, ", "), clip(text.StringValue), Hint(text.StringValue, enum))
	}
}

// TypeName is the type a schema asks for, as a person says it, such as "list of string".
func TypeName(s *schemav1.Schema) string {
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		return "object"
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		return "string"
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		return "number"
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		return "boolean"
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		return "list of " + TypeName(s.GetItems())
	default:
		return "any value"
	}
}

func typeOf(v *structpb.Value) string {
	switch v.GetKind().(type) {
	case *structpb.Value_StructValue:
		return "an object"
	case *structpb.Value_ListValue:
		return "a list"
	case *structpb.Value_StringValue:
		return "a string"
	case *structpb.Value_NumberValue:
		return "a number"
	case *structpb.Value_BoolValue:
		return "a boolean"
	default:
		return "null"
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// clip keeps a value that a message quotes short: arguments can be whole files.
func clip(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
