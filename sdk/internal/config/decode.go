package config

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"github.com/agentco/agent/sdk/internal/suggest"
)

// decoder fills one config.
type decoder struct {
	dir    string
	opened []io.Closer
}

func (d *decoder) object(attributes []attribute, s *structpb.Struct, v reflect.Value, prefix string) error {
	if err := unknown(attributes, s, prefix); err != nil {
		return err
	}
	for i := range attributes {
		a := &attributes[i]
		if err := d.attribute(a, s.GetFields()[a.spec.GetName()], v.FieldByIndex(a.index), prefix); err != nil {
			return err
		}
	}
	return nil
}

// unknown reports a member that is no attribute.
func unknown(attributes []attribute, s *structpb.Struct, prefix string) error {
	names := make([]string, len(attributes))
	for i, a := range attributes {
		names[i] = a.spec.GetName()
	}
	for name := range s.GetFields() {
		if slices.Contains(names, name) {
			continue
		}
		problem := "is not an attribute of this provider"
		if best := suggest.Nearest(name, names); best != "" {
			problem += "; did you mean " + best + "?"
		}
		if name == "" {
			name = `""`
		}
		return &FieldError{prefix + name, problem}
	}
	return nil
}

func (d *decoder) attribute(a *attribute, value *structpb.Value, v reflect.Value, prefix string) error {
	path := prefix + a.spec.GetName()
	switch {
	case !isNull(value):
	case a.fallback != nil:
		value = a.fallback
	case a.spec.GetRequired():
		return &FieldError{path, "is required"}
	case a.form.object != nil && !a.form.pointer:
		return d.defaults(a.form.object, v, path+".")
	default:
		return nil
	}
	err := d.value(a.form, value, v, path)
	var wrong *formError
	if errors.As(err, &wrong) {
		if a.secret {
			return &FieldError{wrong.path, "does not have the right form; its value is not shown because it is sensitive"}
		}
		return &FieldError{wrong.path, wrong.problem}
	}
	return err
}

// defaults fills an object that was left out.
func (d *decoder) defaults(attributes []attribute, v reflect.Value, prefix string) error {
	for i := range attributes {
		a := &attributes[i]
		if a.fallback == nil && (a.spec.GetRequired() || a.form.object == nil) {
			continue
		}
		if err := d.attribute(a, nil, v.FieldByIndex(a.index), prefix); err != nil {
			return err
		}
	}
	return nil
}

// formError is a problem whose text may show the value.
type formError struct{ path, problem string }

func (e *formError) Error() string { return e.path + " " + e.problem }

func (d *decoder) value(f *form, value *structpb.Value, v reflect.Value, path string) error {
	if f.pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		if f.wire == configv1.AttrType_ATTR_TYPE_STRING {
			return d.text(f, kind.StringValue, v, path)
		}
	case *structpb.Value_BoolValue:
		if f.wire == configv1.AttrType_ATTR_TYPE_BOOL {
			v.SetBool(kind.BoolValue)
			return nil
		}
	case *structpb.Value_NumberValue:
		if f.wire == configv1.AttrType_ATTR_TYPE_NUMBER {
			return number(kind.NumberValue, v, path)
		}
	case *structpb.Value_ListValue:
		if f.wire == configv1.AttrType_ATTR_TYPE_LIST_STRING || f.wire == configv1.AttrType_ATTR_TYPE_LIST_NUMBER {
			return d.list(f, kind.ListValue.GetValues(), v, path)
		}
	case *structpb.Value_StructValue:
		switch f.wire {
		case configv1.AttrType_ATTR_TYPE_OBJECT:
			return d.object(f.object, kind.StructValue, v, path+".")
		case configv1.AttrType_ATTR_TYPE_MAP_STRING:
			return d.members(f, kind.StructValue, v, path)
		}
	}
	return &FieldError{path, "must be " + f.wanted()}
}

func (d *decoder) text(f *form, text string, v reflect.Value, path string) error {
	if f.text == nil {
		v.SetString(text)
		return nil
	}
	made, opened, err := f.text(d.dir, text)
	if err != nil {
		return &formError{path, err.Error()}
	}
	if opened != nil {
		d.opened = append(d.opened, opened)
	}
	v.Set(reflect.ValueOf(made))
	return nil
}

func number(f float64, v reflect.Value, path string) error {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return &FieldError{path, "must be a finite number"}
	case v.CanFloat():
		v.SetFloat(f)
	case f != math.Trunc(f):
		return &FieldError{path, "must be a whole number"}
	case math.Abs(f) > 1<<53:
		return &FieldError{path, "is out of range"}
	default:
		v.SetInt(int64(f))
	}
	return nil
}

func (d *decoder) list(f *form, values []*structpb.Value, v reflect.Value, path string) error {
	list := reflect.MakeSlice(v.Type(), len(values), len(values))
	for i, value := range values {
		if err := d.value(f.element, value, list.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	v.Set(list)
	return nil
}

func (d *decoder) members(f *form, s *structpb.Struct, v reflect.Value, path string) error {
	m := reflect.MakeMapWithSize(v.Type(), len(s.GetFields()))
	for name, value := range s.GetFields() {
		element := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(f.element, value, element, path+"."+name); err != nil {
			return err
		}
		m.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), element)
	}
	v.Set(m)
	return nil
}

func isNull(v *structpb.Value) bool {
	_, null := v.GetKind().(*structpb.Value_NullValue)
	return null || v.GetKind() == nil
}
