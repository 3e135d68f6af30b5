package config

import (
	"encoding/json"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// readDefault takes the default tag: JSON, or the plain text of what is a string on the wire.
func (a *attribute) readDefault(sf reflect.StructField) error {
	text, ok := sf.Tag.Lookup("default")
	if !ok {
		return nil
	}
	if a.secret {
		return fmt.Errorf("a sensitive attribute cannot have a default")
	}
	if a.form.wire == configv1.AttrType_ATTR_TYPE_STRING {
		quoted, err := json.Marshal(text)
		if err != nil {
			return err
		}
		text = string(quoted)
	}
	value := &structpb.Value{}
	if err := protojson.Unmarshal([]byte(text), value); err != nil {
		return fmt.Errorf("default tag %s is not JSON, as a default is for everything but a string", text)
	}
	if !a.form.opening() {
		probe := reflect.New(sf.Type).Elem()
		if err := (&decoder{}).value(a.form, value, probe, a.spec.GetName()); err != nil {
			return fmt.Errorf("default tag %s does not fit: %w", text, err)
		}
	}
	a.fallback = value
	a.spec.DefaultJson, a.spec.Required = proto.String(text), false
	return nil
}

// opening reports whether decoding has effects, which a default must not have before it is used.
func (f *form) opening() bool {
	if f.opens || f.element != nil && f.element.opening() {
		return true
	}
	for _, member := range f.object {
		if member.form.opening() {
			return true
		}
	}
	return false
}
