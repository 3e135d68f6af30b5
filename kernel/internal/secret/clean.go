package secret

import (
	"bytes"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
)

// Clean is m without the values of s: m itself when there are none in it, and else a copy.
func Clean[M proto.Message](s *Set, m M) M {
	if len(s.list()) == 0 {
		return m
	}
	return cleaned(cleaner{text: s.Text, bytes: s.Bytes}, m)
}

// Valid is m with its texts in UTF-8, without which it cannot be encoded: m itself when they are, and else a copy.
func Valid[M proto.Message](m M) M {
	return cleaned(cleaner{
		text:  func(t string) string { return strings.ToValidUTF8(t, "\uFFFD") },
		bytes: func(b []byte) []byte { return b },
	}, m)
}

func cleaned[M proto.Message](c cleaner, m M) M {
	if !m.ProtoReflect().IsValid() || !c.message(m.ProtoReflect()) {
		return m
	}
	copied := proto.Clone(m).(M)
	c.change = true
	c.message(copied.ProtoReflect())
	return copied
}

// cleaner walks a message. Its methods report whether something has to change, or was.
type cleaner struct {
	text   func(string) string
	bytes  func([]byte) []byte
	change bool
}

func (c cleaner) message(m protoreflect.Message) (dirty bool) {
	if payload, ok := m.Interface().(*structpb.Struct); ok && !c.change {
		return c.members(payload)
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
			dirty = c.entries(fd, v.Map()) || dirty
		case fd.IsList():
			dirty = c.elements(fd, v.List()) || dirty
		default:
			clean, changed := c.value(fd, v)
			if changed && c.change {
				m.Set(fd, clean)
			}
			dirty = dirty || changed
		}
		return c.change || !dirty
	})
	return dirty
}

// members is message for a payload that is only looked at, without reflection: it may have a hundred thousand parts.
func (c cleaner) members(s *structpb.Struct) bool {
	for name, value := range s.GetFields() {
		if c.text(name) != name || c.part(value) {
			return true
		}
	}
	return false
}

func (c cleaner) part(v *structpb.Value) bool {
	switch kind := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		return c.text(kind.StringValue) != kind.StringValue
	case *structpb.Value_StructValue:
		return c.members(kind.StructValue)
	case *structpb.Value_ListValue:
		return slices.ContainsFunc(kind.ListValue.GetValues(), c.part)
	}
	return false
}

func (c cleaner) elements(fd protoreflect.FieldDescriptor, l protoreflect.List) (dirty bool) {
	for i := range l.Len() {
		clean, changed := c.value(fd, l.Get(i))
		if changed && c.change {
			l.Set(i, clean)
		}
		dirty = dirty || changed
	}
	return dirty
}

func (c cleaner) entries(fd protoreflect.FieldDescriptor, entries protoreflect.Map) (dirty bool) {
	type entry struct {
		old, key protoreflect.MapKey
		value    protoreflect.Value
	}
	var renamed []entry
	entries.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		value, changed := c.value(fd.MapValue(), v)
		key, rename := c.value(fd.MapKey(), k.Value())
		switch {
		case rename:
			renamed = append(renamed, entry{k, key.MapKey(), value})
		case changed && c.change:
			entries.Set(k, value)
		}
		dirty = dirty || changed || rename
		return c.change || !dirty
	})
	if c.change {
		for _, e := range renamed {
			entries.Clear(e.old)
			entries.Set(e.key, e.value)
		}
	}
	return dirty
}

// value cleans one value. A message is changed in its place.
func (c cleaner) value(fd protoreflect.FieldDescriptor, v protoreflect.Value) (protoreflect.Value, bool) {
	switch fd.Kind() {
	case protoreflect.StringKind:
		if clean := c.text(v.String()); clean != v.String() {
			return protoreflect.ValueOfString(clean), true
		}
	case protoreflect.BytesKind:
		if clean := c.bytes(v.Bytes()); !bytes.Equal(clean, v.Bytes()) {
			return protoreflect.ValueOfBytes(clean), true
		}
	case protoreflect.MessageKind:
		return v, c.message(v.Message())
	}
	return v, false
}
