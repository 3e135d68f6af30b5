package conformance

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// lacks says what a value lacks of what it must hold: an object may have more members than those that are wanted, and
// everything else must be equal. It is empty when nothing lacks.
func lacks(path string, wanted, got *structpb.Value) string {
	object := wanted.GetStructValue()
	if object == nil || got.GetStructValue() == nil {
		if proto.Equal(wanted, got) {
			return ""
		}
		if path == "" {
			path = "the payload"
		}
		return fmt.Sprintf("%s is %s, not %s", path, compact(got), compact(wanted))
	}
	for _, name := range slices.Sorted(maps.Keys(object.GetFields())) {
		at := name
		if path != "" {
			at = path + "." + name
		}
		member, ok := got.GetStructValue().GetFields()[name]
		if !ok {
			return at + " is missing"
		}
		if problem := lacks(at, object.GetFields()[name], member); problem != "" {
			return problem
		}
	}
	return ""
}

func compact(v *structpb.Value) string {
	if v == nil {
		return "nothing"
	}
	text, err := protojson.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if s := string(text); len(s) > 120 {
		return quote(s)
	}
	return string(text)
}
