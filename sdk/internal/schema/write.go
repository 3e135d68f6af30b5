package schema

import (
	"cmp"
	"reflect"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/proto/codec"
	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

// Write is Encode without the message in between: what it gives is only to be sent, see [codec.Builder]. A result of many
// parts takes a fraction of the time and of the memory.
func (t *Type) Write(from any) (*structpb.Struct, error) {
	v := reflect.ValueOf(from)
	if t.raw || v.Kind() != reflect.Struct {
		return t.Encode(from)
	}
	b := codec.NewBuilder()
	if !t.node.writeMembers(b, v) {
		b.Discard()
		return t.Encode(from) // which says what is wrong, if anything is
	}
	return b.Payload(), nil
}

// longText is a text that is not written here: in a message it is copied once less.
const longText = 64 << 10

// backwards are fields in the order in which a Builder takes them.
func backwards(fields []field) []*field {
	all := make([]*field, len(fields))
	for i := range fields {
		all[i] = &fields[i]
	}
	slices.SortFunc(all, func(a, b *field) int { return cmp.Compare(b.name, a.name) })
	return all
}

// writeMembers adds the members of a struct. It is not ok when something does not fit.
func (n *node) writeMembers(b *codec.Builder, v reflect.Value) bool {
	for _, f := range n.backwards {
		member := v.FieldByIndex(f.index)
		if f.optional && member.IsZero() {
			continue
		}
		end := b.Len()
		if !f.node.write(b, member) {
			return false
		}
		b.Member(f.name, end)
	}
	return true
}

func (n *node) write(b *codec.Builder, v reflect.Value) bool {
	if n.pointer {
		if v.IsNil() {
			return false
		}
		v = v.Elem()
	}
	switch n.kind {
	case schemav1.SchemaType_SCHEMA_TYPE_STRING:
		if v.Kind() == reflect.String && v.Len() > longText {
			return false
		}
		text, err := n.stringOf(v)
		return err == nil && b.Text(text)
	case schemav1.SchemaType_SCHEMA_TYPE_BOOLEAN:
		b.Bool(v.Bool())
		return true
	case schemav1.SchemaType_SCHEMA_TYPE_NUMBER:
		number, err := numberOf(v)
		if err == nil {
			b.Number(number)
		}
		return err == nil
	case schemav1.SchemaType_SCHEMA_TYPE_OBJECT:
		return n.writeObject(b, v)
	default:
		return n.writeList(b, v)
	}
}

func (n *node) writeObject(b *codec.Builder, v reflect.Value) bool {
	if n.free {
		value, err := encodeFree(v)
		return err == nil && b.Value(value)
	}
	end := b.Len()
	if !n.writeMembers(b, v) {
		return false
	}
	b.Object(end)
	return true
}

func (n *node) writeList(b *codec.Builder, v reflect.Value) bool {
	list := b.Len()
	for i := v.Len() - 1; i >= 0; i-- {
		end := b.Len()
		if !n.items.write(b, v.Index(i)) {
			return false
		}
		b.Element(end)
	}
	b.List(list)
	return true
}
