package config

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

const maxSchemaDepth = 16

// checkSchema checks what a provider says about its configuration, as it comes from outside.
func checkSchema(attrs []*configv1.ConfigAttribute, path string) error {
	return checkAttributes(attrs, path, 0)
}

func checkAttributes(attrs []*configv1.ConfigAttribute, path string, depth int) error {
	if depth > maxSchemaDepth {
		return fmt.Errorf("%s is nested more than %d levels deep", path, maxSchemaDepth)
	}
	var errs []error
	seen := map[string]bool{}
	for _, a := range attrs {
		name := path + a.GetName()
		switch {
		case a.GetName() == "":
			errs = append(errs, fmt.Errorf("an attribute of %q has no name", path))
		case !hclsyntax.ValidIdentifier(a.GetName()):
			errs = append(errs, fmt.Errorf("%q is no name that agent.hcl could hold", name))
		case seen[a.GetName()]:
			errs = append(errs, fmt.Errorf("%s is declared twice", name))
		default:
			errs = append(errs, checkAttribute(a, name, depth))
		}
		seen[a.GetName()] = true
	}
	return errors.Join(errs...)
}

func checkAttribute(a *configv1.ConfigAttribute, name string, depth int) error {
	isObject := a.GetType() == configv1.AttrType_ATTR_TYPE_OBJECT
	switch {
	case configv1.AttrType_name[int32(a.GetType())] == "" || a.GetType() == configv1.AttrType_ATTR_TYPE_UNSPECIFIED:
		return fmt.Errorf("%s has no known type (%d)", name, a.GetType())
	case isObject != (len(a.GetObjectAttributes()) > 0):
		return fmt.Errorf("%s: object_attributes go with the type OBJECT, and with no other", name)
	case a.GetSensitive() && a.DefaultJson != nil:
		return fmt.Errorf("%s is sensitive and has a default", name)
	case isObject && a.GetSensitive():
		return fmt.Errorf("%s: an object is not sensitive as a whole, its attributes are", name)
	}
	return errors.Join(checkDefault(a, name), checkAttributes(a.GetObjectAttributes(), name+".", depth+1))
}

func checkDefault(a *configv1.ConfigAttribute, name string) error {
	if a.DefaultJson == nil {
		return nil
	}
	v := &structpb.Value{}
	if err := json.Unmarshal([]byte(a.GetDefaultJson()), v); err != nil {
		return fmt.Errorf("%s: default_json does not parse: %w", name, err)
	}
	if !fits(a, v) {
		return fmt.Errorf("%s: default_json is not of the attribute's type", name)
	}
	return nil
}

// fits reports whether a default is of the type of its attribute.
func fits(a *configv1.ConfigAttribute, v *structpb.Value) bool {
	switch a.GetType() {
	case configv1.AttrType_ATTR_TYPE_STRING:
		return isString(v)
	case configv1.AttrType_ATTR_TYPE_NUMBER:
		return isNumber(v)
	case configv1.AttrType_ATTR_TYPE_BOOL:
		_, ok := v.GetKind().(*structpb.Value_BoolValue)
		return ok
	case configv1.AttrType_ATTR_TYPE_LIST_STRING:
		return isListOf(v, isString)
	case configv1.AttrType_ATTR_TYPE_LIST_NUMBER:
		return isListOf(v, isNumber)
	case configv1.AttrType_ATTR_TYPE_MAP_STRING:
		fields := v.GetStructValue()
		for _, e := range fields.GetFields() {
			if !isString(e) {
				return false
			}
		}
		return fields != nil
	default:
		return fitsObject(a, v.GetStructValue())
	}
}

func fitsObject(a *configv1.ConfigAttribute, s *structpb.Struct) bool {
	known := map[string]*configv1.ConfigAttribute{}
	for _, m := range a.GetObjectAttributes() {
		known[m.GetName()] = m
	}
	for name, v := range s.GetFields() {
		if known[name] == nil || !fits(known[name], v) {
			return false
		}
	}
	return s != nil
}

func isString(v *structpb.Value) bool {
	_, ok := v.GetKind().(*structpb.Value_StringValue)
	return ok
}

func isNumber(v *structpb.Value) bool {
	_, ok := v.GetKind().(*structpb.Value_NumberValue)
	return ok
}

func isListOf(v *structpb.Value, is func(*structpb.Value) bool) bool {
	l := v.GetListValue()
	for _, e := range l.GetValues() {
		if !is(e) {
			return false
		}
	}
	return l != nil
}
