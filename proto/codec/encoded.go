package codec

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/types/known/structpb"
)

// Encoded is a google.protobuf.Value as [Marshal] encodes it, to be looked at without making one of it, which is most of
// what a large result takes. Of anything else its methods say that it is not what they are asked for.
type Encoded string

// EncodedOf are the members of a payload of a [Builder], to be taken one by one by [NextMember]; empty when it is none.
func EncodedOf(s *structpb.Struct) string { return string(encoded(s)) }

// NextMember takes the first member of an object, whose encoding is its members'. It is not ok at the end, where rest is
// empty, and when there is none, where it is not.
func NextMember(object string) (name string, value Encoded, rest string, ok bool) {
	entry, rest, ok := next(object, tagEntry)
	if !ok {
		return "", "", object, false
	}
	name, entry, ok = next(entry, tagKey)
	if !ok {
		return "", "", object, false
	}
	inner, ok := only(entry, tagValue)
	if !ok {
		return "", "", object, false
	}
	return name, Encoded(inner), rest, true
}

// NextElement takes the first element of a list, as NextMember does of an object.
func NextElement(list string) (value Encoded, rest string, ok bool) {
	element, rest, ok := next(list, tagItem)
	if !ok {
		return "", list, false
	}
	return Encoded(element), rest, true
}

// Text is a value that is one. The memory is that of the encoding.
func (e Encoded) Text() (string, bool) { return only(string(e), tagString) }

// Number is a value that is one.
func (e Encoded) Number() (float64, bool) {
	if len(e) != 9 || e[0] != tagNumber {
		return 0, false
	}
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(e[1:]))), true
}

// Bool is a value that is one.
func (e Encoded) Bool() (value, ok bool) {
	return e == trueText, e == trueText || e == falseText
}

// Null reports whether the value is that.
func (e Encoded) Null() bool { return e == nullText }

// Object are the members of a value that is one.
func (e Encoded) Object() (members string, ok bool) { return only(string(e), tagStruct) }

// List are the elements of a value that is one.
func (e Encoded) List() (elements string, ok bool) { return only(string(e), tagList) }

const (
	trueText  = Encoded(rune(tagBool)) + "\x01"
	falseText = Encoded(rune(tagBool)) + "\x00"
	nullText  = Encoded(rune(tagNull)) + "\x00"
)

// next takes the first field of a message, which must have this tag.
func next(message string, tag byte) (content, rest string, ok bool) {
	if len(message) == 0 || message[0] != tag {
		return "", message, false
	}
	return block(message[1:])
}
