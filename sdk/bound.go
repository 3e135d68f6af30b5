package sdk

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/proto/codec"
)

// framing is what a message takes around one value at most: with its name in a map three tags and lengths, and another
// for the value, or nine bytes if it is a number. An event takes less around its payload. Lengths that take more than
// four bytes are beyond every message by themselves.
const framing = 24

// atMost bounds the size of an event with this payload. [proto.Size] knows it exactly, but takes as long for a large
// payload as making it does.
func atMost(s *structpb.Struct) int {
	size := framing + codec.EncodedSize(s)
	for name, value := range s.GetFields() {
		size += len(name) + valueAtMost(value)
	}
	return size
}

func valueAtMost(value *structpb.Value) int {
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		return framing + len(kind.StringValue)
	case *structpb.Value_StructValue:
		return framing + atMost(kind.StructValue)
	case *structpb.Value_ListValue:
		size := framing
		for _, item := range kind.ListValue.GetValues() {
			size += valueAtMost(item)
		}
		return size
	}
	return framing
}
