package schema

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"
)

// mostLevels bounds the nesting of a value. Protobuf refuses messages more than ten thousand deep, and one level of a
// value is up to three of them.
const mostLevels = 1000

// plain refuses what has no place in JSON or cannot go over the wire, whatever the schema says: the messages can hold
// more than either.
func (c *check) plain(path string, v *structpb.Value, level int) {
	if level > mostLevels {
		c.add("", "is nested more than %d levels deep", mostLevels)
		return
	}
	switch kind := v.GetKind().(type) {
	case nil:
		c.add(path, "has no value, not even null")
	case *structpb.Value_NumberValue:
		if math.IsNaN(kind.NumberValue) || math.IsInf(kind.NumberValue, 0) {
			c.add(path, "must be a finite number")
		}
	case *structpb.Value_StringValue:
		if !utf8.ValidString(kind.StringValue) {
			c.add(path, "must be text in UTF-8")
		}
	case *structpb.Value_ListValue:
		for i, item := range kind.ListValue.GetValues() {
			c.plain(fmt.Sprintf("%s[%d]", path, i), item, level+1)
		}
	case *structpb.Value_StructValue:
		for _, name := range slices.Sorted(maps.Keys(kind.StructValue.GetFields())) {
			if !utf8.ValidString(name) {
				c.add(join(path, name), "must have a name in UTF-8")
			}
			c.plain(join(path, name), kind.StructValue.GetFields()[name], level+1)
		}
	}
}
