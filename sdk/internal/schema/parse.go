package schema

import (
	"fmt"
	"maps"
	"slices"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// deepest bounds the nesting of a schema that comes from elsewhere.
const deepest = 100

// Parse reads a schema that was made at run time. Nil is one that everything fits. The error says what no value could
// fit.
func Parse(s *schemav1.Schema) (*Type, error) {
	if s == nil {
		return &Type{raw: true}, nil
	}
	if s.GetType() != schemav1.SchemaType_SCHEMA_TYPE_OBJECT {
		return nil, fmt.Errorf("it is of type %s and must be an object", s.GetType())
	}
	n, err := parse(s, "", 0)
	if err != nil {
		return nil, err
	}
	return &Type{Schema: s, node: n, raw: true}, nil
}

func parse(s *schemav1.Schema, path string, level int) (n *node, err error) {
	if level > deepest {
		return nil, fmt.Errorf("it is nested more than %d levels deep", deepest)
	}
	n = &node{kind: s.GetType(), enum: s.GetEnumValues(), required: s.GetRequired()}
	switch n.kind {
	case schemav1.SchemaType_SCHEMA_TYPE_STRING, schemav1.SchemaType_SCHEMA_TYPE_NUMBER, schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
	case schemav1.SchemaType_SCHEMA_TYPE_ARRAY:
		if s.GetItems() != nil {
			n.items, err = parse(s.GetItems(), path+"[]", level+1)
		}
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		n.free = len(s.GetProperties()) == 0
		err = n.parseProperties(s, path, level)
	default:
		return nil, fmt.Errorf("%q has no type that the protocol knows (%d)", path, s.GetType())
	}
	if err == nil && len(n.enum) > 0 && n.kind != schemav1.SchemaType_SCHEMA_TYPE_STRING {
		err = fmt.Errorf("%q has values to choose from and is no string", path)
	}
	return n, err
}

func (n *node) parseProperties(s *schemav1.Schema, path string, level int) error {
	for _, name := range n.required {
		if s.GetProperties()[name] == nil {
			return fmt.Errorf("%q is required and not among its properties", join(path, name))
		}
	}
	n.byName = make(map[string]*field, len(s.GetProperties()))
	n.fields = make([]field, 0, len(s.GetProperties()))
	for _, name := range slices.Sorted(maps.Keys(s.GetProperties())) {
		member, err := parse(s.GetProperties()[name], join(path, name), level+1)
		if err != nil {
			return err
		}
		n.fields = append(n.fields, field{name: name, node: member, optional: !slices.Contains(n.required, name)})
		n.byName[name] = &n.fields[len(n.fields)-1]
	}
	return nil
}
