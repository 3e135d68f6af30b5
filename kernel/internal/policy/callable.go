package policy

import (
	"maps"
	"slices"
	"strings"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Callable is an operation that there is, as far as matches can tell it from others.
type Callable struct {
	Provider, Operation string
	Kind                toolv1.ToolKind
	Risk                toolv1.RiskClass
	Input               *schemav1.Schema
}

// Among are the operations that a match is about by all that is not about arguments.
func (m Match) Among(all []Callable) []Callable {
	return slices.DeleteFunc(slices.Clone(all), func(c Callable) bool {
		about, _ := m.about(Call{Provider: c.Provider, Operation: c.Operation, Kind: c.Kind, Risk: c.Risk})
		return !about
	})
}

// TakesCommand reports whether calls of the operation may have what Match.Command is about.
func (c Callable) TakesCommand() bool {
	command, has := c.Input.GetProperties()["command"]
	return has && command.GetType() != schemav1.SchemaType_SCHEMA_TYPE_ARRAY && mayBeText(command)
}

// Takes reports whether calls of the operation may have a text that a glob of an argument of that name is about.
func (c Callable) Takes(argument string) bool {
	return takes(c.Input, argument) || namesAnywhere(c.Input, lastOf(argument))
}

// Texts are the names of all arguments that are text, the members of objects by dots, in their order.
func (c Callable) Texts() []string {
	return slices.Sorted(maps.Keys(texts(c.Input, "", map[string]bool{})))
}

func mayBeText(s *schemav1.Schema) bool {
	switch s.GetType() {
	case schemav1.SchemaType_SCHEMA_TYPE_STRING, schemav1.SchemaType_SCHEMA_TYPE_UNSPECIFIED:
		return true
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		return mayBeText(s.GetItems())
	default:
		return false
	}
}

// inner is what a list is of, or the schema itself.
func inner(s *schemav1.Schema) *schemav1.Schema {
	for s.GetType() == schemav1.SchemaType_SCHEMA_TYPE_ARRAY {
		s = s.GetItems()
	}
	return s
}

// takes is for a name as valuesOf reads it.
func takes(s *schemav1.Schema, name string) bool {
	if property, has := s.GetProperties()[name]; has {
		return mayBeText(property)
	}
	first, rest, nested := strings.Cut(name, ".")
	property, has := s.GetProperties()[first]
	if !nested || !has {
		return false
	}
	object := inner(property)
	return isOpen(object) || takes(object, rest)
}

// isOpen reports whether an object may have any members.
func isOpen(s *schemav1.Schema) bool {
	return len(s.GetProperties()) == 0 &&
		(s.GetType() == schemav1.SchemaType_SCHEMA_TYPE_OBJECT || s.GetType() == schemav1.SchemaType_SCHEMA_TYPE_UNSPECIFIED)
}

// namesAnywhere is for a name as anywhere finds it.
func namesAnywhere(s *schemav1.Schema, name string) bool {
	for key, property := range s.GetProperties() {
		if means(key, name) && mayBeText(property) || namesAnywhere(inner(property), name) {
			return true
		}
	}
	return false
}

func texts(s *schemav1.Schema, prefix string, found map[string]bool) map[string]bool {
	for key, property := range s.GetProperties() {
		if mayBeText(property) {
			found[prefix+key] = true
		}
		texts(inner(property), prefix+key+".", found)
	}
	return found
}
