package config

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"time"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// Texts are the types that are a string on the wire and more than that in Go, each with what makes the one of the
// other. dir is where relative paths start. The text of an error completes the sentence "attribute …". What opened
// something also gives what closes it again.
type Texts map[reflect.Type]MakeText

// MakeText makes the value of a text, and what closes it when that is needed.
type MakeText func(dir, text string) (value any, opened io.Closer, err error)

// form is how one Go type stands on the wire.
type form struct {
	wire    configv1.AttrType
	pointer bool
	// text makes the value of a string; nil where the string is the value.
	text MakeText
	// opens says that text does more than reading: it cannot be tried on a default.
	opens   bool
	element *form       // of a list or map
	object  []attribute // of a struct
}

func (r reader) form(t reflect.Type) (*form, error) {
	if t.Kind() == reflect.Pointer {
		f, err := r.form(t.Elem())
		if err != nil {
			return nil, err
		}
		if f.pointer {
			return nil, unfit(t)
		}
		f.pointer = true
		return f, nil
	}
	if open := r.texts[t]; open != nil {
		return &form{wire: configv1.AttrType_ATTR_TYPE_STRING, text: open, opens: true}, nil
	}
	if t == reflect.TypeFor[time.Duration]() {
		return &form{wire: configv1.AttrType_ATTR_TYPE_STRING, text: duration}, nil
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return &form{wire: configv1.AttrType_ATTR_TYPE_STRING, text: unmarshaler(t)}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return &form{wire: configv1.AttrType_ATTR_TYPE_STRING}, nil
	case reflect.Bool:
		return &form{wire: configv1.AttrType_ATTR_TYPE_BOOL}, nil
	case reflect.Int, reflect.Int64, reflect.Float64:
		return &form{wire: configv1.AttrType_ATTR_TYPE_NUMBER}, nil
	case reflect.Struct:
		object, err := r.attributes(t)
		return &form{wire: configv1.AttrType_ATTR_TYPE_OBJECT, object: object}, err
	case reflect.Slice, reflect.Map:
		return r.collection(t)
	}
	return nil, unfit(t)
}

// collection is the form of a list or map, which the protocol has of plain things only.
func (r reader) collection(t reflect.Type) (*form, error) {
	element, err := r.form(t.Elem())
	if err != nil || element.pointer {
		return nil, unfit(t)
	}
	f := &form{element: element}
	switch isMap := t.Kind() == reflect.Map; {
	case isMap && t.Key().Kind() == reflect.String && element.wire == configv1.AttrType_ATTR_TYPE_STRING:
		f.wire = configv1.AttrType_ATTR_TYPE_MAP_STRING
	case !isMap && element.wire == configv1.AttrType_ATTR_TYPE_STRING:
		f.wire = configv1.AttrType_ATTR_TYPE_LIST_STRING
	case !isMap && element.wire == configv1.AttrType_ATTR_TYPE_NUMBER:
		f.wire = configv1.AttrType_ATTR_TYPE_LIST_NUMBER
	default:
		return nil, unfit(t)
	}
	return f, nil
}

func unfit(t reflect.Type) error {
	return fmt.Errorf("%s has no attribute type: use string, bool, int, float64, time.Duration, a text type, lists of them, maps of strings or a struct", t)
}

func duration(_, text string) (any, io.Closer, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, nil, fmt.Errorf("must be a duration such as \"30s\" or \"1h30m\", not %q", text)
	}
	return d, nil, nil
}

func unmarshaler(t reflect.Type) MakeText {
	return func(_, text string) (any, io.Closer, error) {
		v := reflect.New(t)
		if err := v.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
			return nil, nil, fmt.Errorf("is not right: %w", err)
		}
		return v.Elem().Interface(), nil, nil
	}
}

// wanted names what the form takes, for a person.
func (f *form) wanted() string {
	switch f.wire {
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
