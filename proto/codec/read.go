package codec

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/structpb"
)

// The tags of google.protobuf.Struct, its entries, Value and ListValue.
const (
	tagEntry  = 1<<3 | byte(protowire.BytesType)
	tagKey    = 1<<3 | byte(protowire.BytesType)
	tagValue  = 2<<3 | byte(protowire.BytesType)
	tagNull   = 1<<3 | byte(protowire.VarintType)
	tagNumber = 2<<3 | byte(protowire.Fixed64Type)
	tagString = 3<<3 | byte(protowire.BytesType)
	tagBool   = 4<<3 | byte(protowire.VarintType)
	tagStruct = 5<<3 | byte(protowire.BytesType)
	tagList   = 6<<3 | byte(protowire.BytesType)
	tagItem   = 1<<3 | byte(protowire.BytesType)
)

// deepest is how far values may be nested here. Beyond it the standard decoder decides, which has a bound of its own.
const deepest = 200

// reader decodes a Struct whose encoding is as encoders write it: fields in their order, each once, none unknown, texts in
// UTF-8. Everything else it leaves to the standard decoder by not being ok: it may be right all the same.
type reader struct {
	texts   []textValue
	numbers []numberValue
	// unordered is set when an object had its members in another order than that of their names.
	unordered bool
}

// A value and its kind in one allocation, and many of them in one.
type (
	textValue struct {
		structpb.Value
		kind structpb.Value_StringValue
	}
	numberValue struct {
		structpb.Value
		kind structpb.Value_NumberValue
	}
	structValue struct {
		structpb.Value
		kind structpb.Value_StructValue
		of   structpb.Struct
	}
	listValue struct {
		structpb.Value
		kind structpb.Value_ListValue
		of   structpb.ListValue
	}
)

// member is an entry of an object: how it came, and what it is.
type member struct {
	encoded string
	key     string
	value   *structpb.Value
}

func (r *reader) structure(s string, level int) (*structpb.Struct, bool) {
	out := &structpb.Struct{}
	return out, r.fill(out, s, level, nil)
}

// fill reads the members of an object. last, unless it is nil, are those of the object before it in a list, and become
// those of this one: a long list says much again and again, and one value may stand in many places.
func (r *reader) fill(out *structpb.Struct, s string, level int, last *[]member) bool {
	n, ok := count(s, tagEntry)
	if !ok || level > deepest {
		return false
	}
	if n == 0 {
		return true
	}
	out.Fields = make(map[string]*structpb.Value, n)
	before := ""
	for i := 0; len(s) > 0; i++ {
		m := member{}
		m.encoded, s, _ = block(s[1:])
		if last != nil && i < len(*last) && (*last)[i].encoded == m.encoded {
			m = (*last)[i]
		} else if m.key, m.value, ok = r.entry(m.encoded, level); !ok {
			return false
		}
		out.Fields[m.key] = m.value
		r.unordered = r.unordered || i > 0 && m.key < before
		before = m.key
		switch {
		case last == nil || i == mostMembers:
			last = nil
		case i < len(*last):
			(*last)[i] = m
		default:
			*last = append(*last, m)
		}
	}
	return len(out.Fields) == n // else a key came twice
}

// mostMembers is how many members of an object are compared with those of the next one.
const mostMembers = 32

func (r *reader) entry(s string, level int) (key string, value *structpb.Value, ok bool) {
	if len(s) == 0 || s[0] != tagKey {
		return "", nil, false
	}
	key, s, ok = block(s[1:])
	if !ok || !utf8.ValidString(key) {
		return "", nil, false
	}
	s, ok = only(s, tagValue)
	if !ok {
		return "", nil, false
	}
	value, ok = r.value(s, level+1, nil)
	return key, value, ok
}

func (r *reader) value(s string, level int, last *[]member) (*structpb.Value, bool) {
	if len(s) < 2 {
		return nil, false
	}
	switch tag := s[0]; tag {
	case tagString:
		text, rest, ok := block(s[1:])
		return r.text(text), ok && rest == "" && utf8.ValidString(text)
	case tagNumber:
		if len(s) != 9 {
			return nil, false
		}
		return r.number(math.Float64frombits(binary.LittleEndian.Uint64([]byte(s[1:])))), true
	case tagBool:
		return structpb.NewBoolValue(s[1] == 1), len(s) == 2 && s[1] <= 1
	case tagNull:
		return structpb.NewNullValue(), len(s) == 2 && s[1] == 0
	case tagStruct:
		inner, rest, ok := block(s[1:])
		if !ok || rest != "" {
			return nil, false
		}
		v := &structValue{}
		v.Kind, v.kind.StructValue = &v.kind, &v.of
		return &v.Value, r.fill(&v.of, inner, level, last)
	case tagList:
		inner, rest, ok := block(s[1:])
		if !ok || rest != "" {
			return nil, false
		}
		return r.list(inner, level)
	}
	return nil, false
}

func (r *reader) list(s string, level int) (*structpb.Value, bool) {
	n, ok := count(s, tagItem)
	if !ok || level > deepest {
		return nil, false
	}
	v := &listValue{}
	v.Kind, v.kind.ListValue = &v.kind, &v.of
	if n == 0 {
		return &v.Value, true
	}
	v.of.Values = make([]*structpb.Value, n)
	var last []member
	for i := range v.of.Values {
		var item string
		item, s, _ = block(s[1:])
		if v.of.Values[i], ok = r.value(item, level+1, &last); !ok {
			return nil, false
		}
	}
	return &v.Value, true
}

func (r *reader) text(text string) *structpb.Value {
	if len(r.texts) == cap(r.texts) {
		r.texts = make([]textValue, 0, more(cap(r.texts)))
	}
	r.texts = r.texts[:len(r.texts)+1]
	v := &r.texts[len(r.texts)-1]
	v.Kind, v.kind.StringValue = &v.kind, text
	return &v.Value
}

func (r *reader) number(n float64) *structpb.Value {
	if len(r.numbers) == cap(r.numbers) {
		r.numbers = make([]numberValue, 0, more(cap(r.numbers)))
	}
	r.numbers = r.numbers[:len(r.numbers)+1]
	v := &r.numbers[len(r.numbers)-1]
	v.Kind, v.kind.NumberValue = &v.kind, n
	return &v.Value
}

// more is how many values are allocated at once next: few for a small result, and never so many that the rest of a large
// one is held for the sake of a few.
func more(last int) int { return min(max(2*last, 1), 32) }

// count is how many fields a message has that has only one, repeated.
func count(s string, tag byte) (n int, ok bool) {
	for len(s) > 0 {
		if s[0] != tag {
			return 0, false
		}
		if _, s, ok = block(s[1:]); !ok {
			return 0, false
		}
		n++
	}
	return n, true
}

// block takes a length and so many bytes from the front of s.
func block(s string) (content, rest string, ok bool) {
	if len(s) > 0 && s[0] < 0x80 { // as most are
		end := 1 + int(s[0])
		if end > len(s) {
			return "", "", false
		}
		return s[1:end], s[end:], true
	}
	var length uint64
	for i := 0; i < len(s) && i < 5; i++ {
		length |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			if s[i] == 0 {
				return "", "", false // longer than it need be
			}
			s = s[i+1:]
			if length > uint64(len(s)) {
				return "", "", false
			}
			return s[:length], s[length:], true
		}
	}
	return "", "", false
}
