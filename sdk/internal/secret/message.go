package secret

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Clean is m as it may be sent: without the values of s, its texts UTF-8, and without numbers that JSON has no form for.
// It is m itself when nothing has to change, and else a copy: a provider may still hold m.
func Clean[M proto.Message](s *Set, m M) M {
	if !(cleaner{set: s}).message(m.ProtoReflect()) {
		return m
	}
	copied := proto.Clone(m).(M)
	cleaner{set: s, change: true}.message(copied.ProtoReflect())
	return copied
}

// cleaner walks a message. Its methods report whether something has to change, or was.
type cleaner struct {
	set    *Set
	change bool
}

func (c cleaner) message(m protoreflect.Message) (dirty bool) {
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
	return c.number(m) || dirty
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
		if text := v.String(); !utf8.ValidString(text) || c.set.In([]byte(text)) {
			return protoreflect.ValueOfString(strings.ToValidUTF8(c.set.Text(text), "\uFFFD")), true
		}
	case protoreflect.BytesKind:
		if c.set.In(v.Bytes()) {
			return protoreflect.ValueOfBytes(c.set.Bytes(v.Bytes())), true
		}
	case protoreflect.MessageKind:
		return v, c.message(v.Message())
	}
	return v, false
}

// number makes a text of a google.protobuf.Value that is a number without a form in JSON.
func (c cleaner) number(m protoreflect.Message) bool {
	if m.Descriptor().FullName() != "google.protobuf.Value" {
		return false
	}
	fields := m.Descriptor().Fields()
	fd := fields.ByName("number_value")
	if !m.Has(fd) || !math.IsNaN(m.Get(fd).Float()) && !math.IsInf(m.Get(fd).Float(), 0) {
		return false
	}
	if c.change {
		m.Set(fields.ByName("string_value"), protoreflect.ValueOfString(fmt.Sprint(m.Get(fd).Float())))
	}
	return true
}
