// Package config derives a provider's config schema from a Go struct and decodes the kernel's answer into it.
package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"github.com/agentco/agent/sdk/internal/suggest"
)

// Type is a config struct read once. Fields take part when they have an hcl tag; the rest is the provider's own.
type Type struct {
	Schema     *configv1.ConfigSchema
	attributes []attribute
}

type attribute struct {
	spec   *configv1.ConfigAttribute
	index  []int
	object []attribute
}

// FieldError says which attribute does not fit, and why.
type FieldError struct {
	// Attribute is the path to the value, for example "proxy.url".
	Attribute string
	// Problem completes the sentence "X …", for example "is required".
	Problem string
}

func (e *FieldError) Error() string { return e.Attribute + " " + e.Problem }

// Of reads T, which must be a struct. It fails on types the protocol has no attribute for and on tags that
// contradict each other: faults of the program, found when a provider is built.
func Of(t reflect.Type) (*Type, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("config %s is not a struct", t)
	}
	attributes, err := read(t)
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", t, err)
	}
	return &Type{Schema: &configv1.ConfigSchema{Attributes: specs(attributes)}, attributes: attributes}, nil
}

func specs(attributes []attribute) []*configv1.ConfigAttribute {
	out := make([]*configv1.ConfigAttribute, len(attributes))
	for i := range attributes {
		out[i] = attributes[i].spec
	}
	return out
}

func read(t reflect.Type) ([]attribute, error) {
	var out []attribute
	for _, sf := range reflect.VisibleFields(t) {
		tag, tagged := sf.Tag.Lookup("hcl")
		if !tagged || tag == "-" {
			continue
		}
		if !sf.IsExported() {
			return nil, fmt.Errorf("field %s has an hcl tag but is not exported", sf.Name)
		}
		a, err := readAttribute(sf, tag)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", sf.Name, err)
		}
		out = append(out, a)
	}
	return out, nil
}

func readAttribute(sf reflect.StructField, tag string) (attribute, error) {
	name, options, _ := strings.Cut(tag, ",")
	a := attribute{index: sf.Index, spec: &configv1.ConfigAttribute{
		Name:        name,
		Description: sf.Tag.Get("doc"),
		Required:    options != "optional",
		Sensitive:   sf.Tag.Get("sensitive") == "true",
	}}
	if name == "" || (options != "" && options != "optional") {
		return a, fmt.Errorf("hcl tag %q is neither \"name\" nor \"name,optional\"", tag)
	}
	var err error
	if a.spec.Type, err = typeOf(sf.Type); err != nil {
		return a, err
	}
	if a.spec.Type == configv1.AttrType_ATTR_TYPE_OBJECT {
		if a.object, err = read(sf.Type); err != nil {
			return a, err
		}
		a.spec.ObjectAttributes = specs(a.object)
	}
	return a, a.readDefault(sf)
}

func (a *attribute) readDefault(sf reflect.StructField) error {
	text, ok := sf.Tag.Lookup("default")
	if !ok {
		return nil
	}
	if a.spec.Sensitive {
		return fmt.Errorf("a sensitive attribute cannot have a default")
	}
	if a.spec.Type == configv1.AttrType_ATTR_TYPE_STRING {
		quoted, err := json.Marshal(text)
		if err != nil {
			return err
		}
		text = string(quoted)
	}
	if err := json.Unmarshal([]byte(text), reflect.New(sf.Type).Interface()); err != nil {
		return fmt.Errorf("default tag %s does not fit: %w", text, err)
	}
	a.spec.DefaultJson, a.spec.Required = proto.String(text), false
	return nil
}

func typeOf(t reflect.Type) (configv1.AttrType, error) {
	switch t.Kind() {
	case reflect.String:
		return configv1.AttrType_ATTR_TYPE_STRING, nil
	case reflect.Bool:
		return configv1.AttrType_ATTR_TYPE_BOOL, nil
	case reflect.Int, reflect.Int64, reflect.Float64:
		return configv1.AttrType_ATTR_TYPE_NUMBER, nil
	case reflect.Struct:
		return configv1.AttrType_ATTR_TYPE_OBJECT, nil
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.String:
			return configv1.AttrType_ATTR_TYPE_LIST_STRING, nil
		case reflect.Int, reflect.Int64, reflect.Float64:
			return configv1.AttrType_ATTR_TYPE_LIST_NUMBER, nil
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.String {
			return configv1.AttrType_ATTR_TYPE_MAP_STRING, nil
		}
	}
	return 0, fmt.Errorf("%s has no attribute type: use string, bool, int, float64, lists of them, map[string]string or a struct", t)
}

// Decode fills the struct that into points to. The error is a *FieldError; the value of a sensitive attribute
// is never in it.
func (t *Type) Decode(s *structpb.Struct, into any) error {
	return decodeAll(t.attributes, s, reflect.ValueOf(into).Elem(), "")
}

func decodeAll(attributes []attribute, s *structpb.Struct, v reflect.Value, prefix string) error {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = a.spec.GetName()
	}
	for name := range s.GetFields() {
		if !slices.Contains(names, name) {
			problem := "is not an attribute of this provider"
			if best := suggest.Nearest(name, names); best != "" {
				problem += "; did you mean " + best + "?"
			}
			return &FieldError{prefix + name, problem}
		}
	}
	for _, a := range attributes {
		if err := a.decode(s.GetFields()[a.spec.GetName()], v.FieldByIndex(a.index), prefix); err != nil {
			return err
		}
	}
	return nil
}

func (a *attribute) decode(value *structpb.Value, v reflect.Value, prefix string) error {
	path := prefix + a.spec.GetName()
	if _, null := value.GetKind().(*structpb.Value_NullValue); null || value.GetKind() == nil {
		switch {
		case a.spec.DefaultJson != nil:
			return json.Unmarshal([]byte(a.spec.GetDefaultJson()), v.Addr().Interface())
		case a.spec.GetRequired():
			return &FieldError{path, "is required"}
		default:
			return nil
		}
	}
	wrong := &FieldError{path, "must be " + wanted(a.spec.GetType())}
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		if v.Kind() != reflect.String {
			return wrong
		}
		v.SetString(kind.StringValue)
	case *structpb.Value_BoolValue:
		if v.Kind() != reflect.Bool {
			return wrong
		}
		v.SetBool(kind.BoolValue)
	case *structpb.Value_NumberValue:
		return a.decodeNumber(kind.NumberValue, v, path, wrong)
	case *structpb.Value_ListValue:
		return a.decodeList(kind.ListValue.GetValues(), v, path, wrong)
	case *structpb.Value_StructValue:
		return a.decodeMembers(kind.StructValue, v, path, wrong)
	}
	return nil
}

func (a *attribute) decodeNumber(f float64, v reflect.Value, path string, wrong error) error {
	switch {
	case v.CanFloat():
		v.SetFloat(f)
	case v.CanInt() && f != math.Trunc(f):
		return &FieldError{path, "must be a whole number"}
	case v.CanInt() && (f < -(1<<53) || f > 1<<53):
		return &FieldError{path, "is out of range"}
	case v.CanInt():
		v.SetInt(int64(f))
	default:
		return wrong
	}
	return nil
}

func (a *attribute) decodeList(values []*structpb.Value, v reflect.Value, path string, wrong error) error {
	if v.Kind() != reflect.Slice {
		return wrong
	}
	list := reflect.MakeSlice(v.Type(), len(values), len(values))
	for i, value := range values {
		element := attribute{spec: &configv1.ConfigAttribute{Name: fmt.Sprintf("%s[%d]", path, i), Required: true, Type: elementOf(a.spec.GetType())}}
		if err := element.decode(value, list.Index(i), ""); err != nil {
			return err
		}
	}
	v.Set(list)
	return nil
}

func (a *attribute) decodeMembers(s *structpb.Struct, v reflect.Value, path string, wrong error) error {
	switch v.Kind() {
	case reflect.Struct:
		return decodeAll(a.object, s, v, path+".")
	case reflect.Map:
		m := make(map[string]string, len(s.GetFields()))
		for name, value := range s.GetFields() {
			text, ok := value.GetKind().(*structpb.Value_StringValue)
			if !ok {
				return &FieldError{path + "." + name, "must be a string"}
			}
			m[name] = text.StringValue
		}
		v.Set(reflect.ValueOf(m).Convert(v.Type()))
		return nil
	default:
		return wrong
	}
}

func elementOf(t configv1.AttrType) configv1.AttrType {
	if t == configv1.AttrType_ATTR_TYPE_LIST_NUMBER {
		return configv1.AttrType_ATTR_TYPE_NUMBER
	}
	return configv1.AttrType_ATTR_TYPE_STRING
}

func wanted(t configv1.AttrType) string {
	switch t {
	case configv1.AttrType_ATTR_TYPE_STRING:
		return "a string"
	case configv1.AttrType_ATTR_TYPE_NUMBER:
		return "a number"
	case configv1.AttrType_ATTR_TYPE_BOOL:
		return "true or false"
	case configv1.AttrType_ATTR_TYPE_LIST_STRING:
		return "a list of strings"
	case configv1.AttrType_ATTR_TYPE_LIST_NUMBER:
		return "a list of numbers"
	case configv1.AttrType_ATTR_TYPE_MAP_STRING:
		return "a map of strings"
	default:
		return "an object"
	}
}
