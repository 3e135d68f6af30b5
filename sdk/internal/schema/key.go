package schema

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// Key is the same for calls of operation whose values of the named arguments are equal, and for no others. Arguments
// have been checked; one that is left out has the value of its default.
func (t *Type) Key(operation string, arguments *structpb.Struct, names []string) string {
	key := append([]byte(operation), 0)
	for _, name := range names {
		value := arguments.GetFields()[name]
		if isNull(value) && t.node.byName[name].fallback != nil {
			value = t.node.byName[name].fallback
		}
		if isNull(value) {
			value = structpb.NewNullValue()
		}
		// An encoded value has a length, so that two values cannot run into each other.
		encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(value)
		if err != nil {
			encoded = []byte(value.String()) // not UTF-8, which no message that arrived can be
		}
		key = append(key, byte(len(encoded)>>24), byte(len(encoded)>>16), byte(len(encoded)>>8), byte(len(encoded)))
		key = append(key, encoded...)
	}
	return string(key)
}
