package sdk

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// looseDepth bounds nesting: a map that holds itself has no end, and a receiver refuses messages that are far deeper.
const looseDepth = 100

// looseStruct encodes details and reports, which have to go out whatever is in them; a value that the wire has no form
// for becomes its text.
func looseStruct(m map[string]any) *structpb.Struct { return looseMap(reflect.ValueOf(m), 0) }

func looseMap(m reflect.Value, level int) *structpb.Struct {
	s := &structpb.Struct{Fields: make(map[string]*structpb.Value, m.Len())}
	for member := m.MapRange(); member.Next(); {
		key := member.Key().String()
		if member.Key().Kind() != reflect.String {
			key = fmt.Sprint(member.Key().Interface())
		}
		s.Fields[strings.ToValidUTF8(key, "\uFFFD")] = looseValue(member.Value().Interface(), level+1)
	}
	return s
}

func looseValue(value any, level int) *structpb.Value {
	if level > looseDepth {
		return structpb.NewStringValue("…")
	}
	switch v := value.(type) {
	case string:
		return structpb.NewStringValue(strings.ToValidUTF8(v, "\uFFFD"))
	case []byte:
		return looseValue(string(v), level)
	case error, fmt.Stringer:
		return looseText(v)
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Map:
		return structpb.NewStructValue(looseMap(v, level))
	case reflect.Slice, reflect.Array:
		list := &structpb.ListValue{Values: make([]*structpb.Value, v.Len())}
		for i := range list.Values {
			list.Values[i] = looseValue(v.Index(i).Interface(), level+1)
		}
		return structpb.NewListValue(list)
	case reflect.Struct, reflect.Pointer:
		return looseJSON(value)
	}
	return looseNumber(value)
}

// looseText is the text of what has one. A moment has one for machines too.
func looseText(value any) *structpb.Value {
	if _, ok := value.(json.Marshaler); ok {
		return looseJSON(value)
	}
	return structpb.NewStringValue(strings.ToValidUTF8(fmt.Sprint(value), "\uFFFD"))
}

// looseJSON is what encoding/json makes of a value. What that refuses may hold itself, and package fmt would never end with it.
func looseJSON(value any) *structpb.Value {
	out := &structpb.Value{}
	text, err := json.Marshal(value)
	if err == nil {
		err = protojson.Unmarshal(text, out)
	}
	if err != nil {
		return structpb.NewStringValue(strings.ToValidUTF8(fmt.Sprintf("%T: %v", value, err), "\uFFFD"))
	}
	return out
}

// looseNumber is a plain value. A number that JSON has no form for, or that float64 would round, keeps its digits.
func looseNumber(value any) *structpb.Value {
	out, err := structpb.NewValue(value)
	rounded := false
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		rounded = v.Int() > 1<<53 || v.Int() < -(1<<53)
	case v.CanUint():
		rounded = v.Uint() > 1<<53
	case v.CanFloat():
		rounded = math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)
	}
	if err != nil || rounded {
		return structpb.NewStringValue(strings.ToValidUTF8(fmt.Sprint(value), "\uFFFD"))
	}
	return out
}
