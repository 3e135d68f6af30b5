package conformance

import (
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
)

// canary stands for a secret that the scenario does not give.
const canary = "canary-5up3r-s3cret-8f1e"

// block is the provider block for a process: the scenario's, completed by defaults as a kernel does it, and by made-up
// values for what is required or secret. Whatever is sensitive in it is guarded from then on.
func (s *subject) block(p *place, schema *configv1.ConfigSchema) *structpb.Struct {
	out := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	if p.situation.Config != nil {
		out = proto.CloneOf(p.situation.Config)
	}
	m := maker{workdir: p.work}
	m.complete(out, schema.GetAttributes())
	for _, a := range schema.GetAttributes() {
		if a.GetSensitive() {
			s.guard(out.GetFields()[a.GetName()])
		}
	}
	return out
}

// guard guards every text in a value.
func (s *subject) guard(v *structpb.Value) {
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		s.wire.guard(kind.StringValue)
	case *structpb.Value_ListValue:
		for _, item := range kind.ListValue.GetValues() {
			s.guard(item)
		}
	case *structpb.Value_StructValue:
		for _, field := range kind.StructValue.GetFields() {
			s.guard(field)
		}
	}
}

// maker makes up values of attributes.
type maker struct{ workdir string }

// complete fills in what a block lacks.
func (m maker) complete(block *structpb.Struct, attributes []*configv1.ConfigAttribute) {
	if block.Fields == nil {
		block.Fields = map[string]*structpb.Value{}
	}
	for _, a := range attributes {
		given := block.GetFields()[a.GetName()]
		switch {
		case given.GetStructValue() != nil && a.GetType() == configv1.AttrType_ATTR_TYPE_OBJECT:
			m.complete(given.GetStructValue(), a.GetObjectAttributes())
		case given != nil:
		case a.DefaultJson != nil:
			v := &structpb.Value{}
			if protojson.Unmarshal([]byte(a.GetDefaultJson()), v) == nil {
				block.Fields[a.GetName()] = v
			}
		case a.GetRequired(), a.GetSensitive():
			block.Fields[a.GetName()] = m.value(a)
		}
	}
}

func (m maker) value(a *configv1.ConfigAttribute) *structpb.Value {
	text := structpb.NewStringValue(m.text(a))
	switch a.GetType() {
	case configv1.AttrType_ATTR_TYPE_NUMBER:
		return structpb.NewNumberValue(1)
	case configv1.AttrType_ATTR_TYPE_BOOL:
		return structpb.NewBoolValue(false)
	case configv1.AttrType_ATTR_TYPE_LIST_STRING:
		return structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{text}})
	case configv1.AttrType_ATTR_TYPE_LIST_NUMBER:
		return structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewNumberValue(1)}})
	case configv1.AttrType_ATTR_TYPE_MAP_STRING:
		return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{"conformance": text}})
	case configv1.AttrType_ATTR_TYPE_OBJECT:
		object := &structpb.Struct{}
		m.complete(object, a.GetObjectAttributes())
		return structpb.NewStructValue(object)
	default:
		return text
	}
}

// text guesses from the name what a text is for.
func (m maker) text(a *configv1.ConfigAttribute) string {
	name := strings.ToLower(a.GetName())
	switch {
	case a.GetSensitive():
		return canary
	case strings.Contains(name, "root"), strings.Contains(name, "dir"), strings.Contains(name, "path"), strings.Contains(name, "folder"):
		return m.workdir
	case strings.Contains(name, "url"), strings.Contains(name, "endpoint"):
		return "http://127.0.0.1:9/conformance"
	default:
		return "conformance"
	}
}

// misfit is a value that does not have an attribute's type, whatever conversion a provider is kind enough to try.
func misfit(a *configv1.ConfigAttribute) *structpb.Value {
	switch a.GetType() {
	case configv1.AttrType_ATTR_TYPE_STRING:
		return structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewNumberValue(7)}})
	case configv1.AttrType_ATTR_TYPE_UNSPECIFIED:
		return nil
	default:
		return structpb.NewStringValue("conformance")
	}
}
