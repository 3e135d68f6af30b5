package schema

import (
	"encoding"
	"reflect"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/proto/codec"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// DecodeWritten is Decode for what Write gave, without the message in between. The texts that it fills in share one piece of memory.
func (t *Type) DecodeWritten(s *structpb.Struct, into any) error {
	v := reflect.ValueOf(into).Elem()
	if members := codec.EncodedOf(s); members != "" && !t.raw {
		if t.node.takeMembers(members, v) {
			return nil
		}
		v.SetZero()
	}
	opened, err := codec.Opened(s)
	if err != nil {
		return err
	}
	return t.Decode(opened, into)
}

// takeMembers fills a struct in from what was written of one. It is not ok when there is something that decoding has to see
// to.
func (n *node) takeMembers(members string, v reflect.Value) bool {
	for i := len(n.backwards) - 1; i >= 0; i-- {
		f := n.backwards[i]
		name, value, rest, ok := codec.NextMember(members)
		switch {
		case ok && name == f.name:
			members = rest
			if !f.node.take(value, v.FieldByIndex(f.index)) {
				return false
			}
		case !f.optional || f.fallback != nil:
			return false
		}
	}
	return members == ""
}

func (n *node) take(value codec.Encoded, v reflect.Value) bool {
	if n.pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch n.kind {
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		text, ok := value.Text()
		if ok && n.text {
			return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)) == nil
		}
		v.SetString(text)
		return ok
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		b, ok := value.Bool()
		v.SetBool(b)
		return ok
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		number, ok := value.Number()
		return ok && setNumber(number, n.integer, v)
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		members, ok := value.Object()
		return ok && !n.free && n.takeMembers(members, v)
	default:
		return n.takeList(value, v)
	}
}

func (n *node) takeList(value codec.Encoded, v reflect.Value) bool {
	elements, ok := value.List()
	if !ok {
		return false
	}
	size := 0
	for rest := elements; rest != ""; size++ {
		if _, rest, ok = codec.NextElement(rest); !ok {
			return false
		}
	}
	v.Set(reflect.MakeSlice(v.Type(), size, size))
	for i := range size {
		var element codec.Encoded
		element, elements, _ = codec.NextElement(elements)
		if !n.items.take(element, v.Index(i)) {
			return false
		}
	}
	return true
}
