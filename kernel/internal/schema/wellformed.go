package schema

import (
	"fmt"
	"maps"
	"slices"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// deepestSchema bounds the nesting of a schema, which is written by hand or comes from types.
const deepestSchema = 100

// WellFormed says what is wrong with the schema of arguments or of a result, which nothing could fit. Nil is fine.
func WellFormed(s *schemav1.Schema) error {
	if s != nil && s.GetType() != schemav1.SchemaType_SCHEMA_TYPE_OBJECT {
		return fmt.Errorf("it must be of type object, not %s", TypeName(s))
	}
	return wellFormed("", s, 0)
}

func wellFormed(path string, s *schemav1.Schema, level int) error {
	if level > deepestSchema {
		return fmt.Errorf("it is nested more than %d levels deep", deepestSchema)
	}
	if _, known := schemav1.SchemaType_name[int32(s.GetType())]; !known {
		return fmt.Errorf("%q has a type this kernel does not know (%d)", path, s.GetType())
	}
	for _, name := range s.GetRequired() {
		if s.GetProperties()[name] == nil {
			return fmt.Errorf("%q is required and not among its properties", join(path, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.GetProperties())) {
		if err := wellFormed(join(path, name), s.GetProperties()[name], level+1); err != nil {
			return err
		}
	}
	if s.GetItems() == nil {
		return nil
	}
	return wellFormed(path+"[]", s.GetItems(), level+1)
}
