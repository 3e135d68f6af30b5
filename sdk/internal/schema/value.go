package schema

import "google.golang.org/protobuf/types/known/structpb"

// These are structpb.NewStringValue and its like with a value and its kind in one allocation instead of two: a result
// may have tens of thousands of them.

func stringValue(s string) *structpb.Value {
	v := &struct {
		structpb.Value
		kind structpb.Value_StringValue
	}{kind: structpb.Value_StringValue{StringValue: s}}
	v.Kind = &v.kind
	return &v.Value
}

func numberValue(f float64) *structpb.Value {
	v := &struct {
		structpb.Value
		kind structpb.Value_NumberValue
	}{kind: structpb.Value_NumberValue{NumberValue: f}}
	v.Kind = &v.kind
	return &v.Value
}

func boolValue(b bool) *structpb.Value {
	v := &struct {
		structpb.Value
		kind structpb.Value_BoolValue
	}{kind: structpb.Value_BoolValue{BoolValue: b}}
	v.Kind = &v.kind
	return &v.Value
}

func structValue(s *structpb.Struct) *structpb.Value {
	v := &struct {
		structpb.Value
		kind structpb.Value_StructValue
	}{kind: structpb.Value_StructValue{StructValue: s}}
	v.Kind = &v.kind
	return &v.Value
}
