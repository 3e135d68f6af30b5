package codec

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// Builder encodes a google.protobuf.Struct without making one, from its end to its beginning: of an object the member with
// the last name comes first, of a list the last element, and of a member its value before its name.
//
//	b := codec.NewBuilder()
//	end := b.Len()
//	b.Text("b.txt")
//	b.Member("path", end)
//	payload := b.Payload()
//
// Who has made one calls Payload or Discard.
type Builder struct{ w *writer }

// NewBuilder is an empty object that can be added to.
func NewBuilder() *Builder { return &Builder{newWriter()} }

// Len is how many bytes there are, by which what comes next is known later.
func (b *Builder) Len() int { return b.w.size() }

// Text is a value. It reports whether it is one: text in UTF-8.
func (b *Builder) Text(s string) bool { return b.w.text(tagString, s) }

// Number is a value.
func (b *Builder) Number(n float64) { b.w.number(n) }

// Bool is a value.
func (b *Builder) Bool(v bool) { b.w.small(tagBool, v) }

// Value is a value as it is. It reports whether it can be written here.
func (b *Builder) Value(v *structpb.Value) bool { return b.w.kind(v, 1) }

// List makes a value of the elements that were added since there were end bytes.
func (b *Builder) List(end int) { b.w.head(tagList, end) }

// Object makes a value of the members that were added since there were end bytes.
func (b *Builder) Object(end int) { b.w.head(tagStruct, end) }

// Element makes an element of the value that was added since there were end bytes.
func (b *Builder) Element(end int) { b.w.head(tagItem, end) }

// Member makes a member of the value that was added since there were end bytes. The name is text in UTF-8.
func (b *Builder) Member(name string, end int) {
	b.w.head(tagValue, end)
	b.w.text(tagKey, name)
	b.w.head(tagEntry, end)
}

// Discard ends the builder.
func (b *Builder) Discard() { b.w.discard() }

// Payload ends the builder. What it gives is encoded by every encoder of protobuf as the members that were added, and has
// none to look at: [Opened] has.
func (b *Builder) Payload() *structpb.Struct {
	defer b.w.discard()
	s := &structpb.Struct{}
	if b.Len() > 0 {
		s.ProtoReflect().SetUnknown(slices.Clone((*b.w.buf)[b.w.at:]))
	}
	return s
}

// encoded are the members of a payload of a Builder.
func encoded(s *structpb.Struct) []byte {
	if s == nil || len(s.Fields) > 0 {
		return nil
	}
	return s.ProtoReflect().GetUnknown()
}

// Opened is a payload with members to look at: s itself when it has no others.
func Opened(s *structpb.Struct) (*structpb.Struct, error) {
	content := encoded(s)
	if len(content) == 0 {
		return s, nil
	}
	var r reader
	if opened, ok := r.structure(string(content), 0); ok {
		return opened, nil
	}
	opened := &structpb.Struct{}
	return opened, proto.Unmarshal(content, opened)
}

// EncodedSize is how many bytes of a payload there are encoded already, which is all of one of a Builder.
func EncodedSize(s *structpb.Struct) int { return len(encoded(s)) }
