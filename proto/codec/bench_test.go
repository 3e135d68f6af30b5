package codec

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// listing is a result of so many entries, as a directory has them.
func listing(entries int) *structpb.Struct {
	list := &structpb.ListValue{}
	for i := range entries {
		name := fmt.Sprintf("entry-%05d.txt", i)
		list.Values = append(list.Values, structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			"name": structpb.NewStringValue(name), "path": structpb.NewStringValue("flat/" + name), "type": structpb.NewStringValue("file"),
			"size": structpb.NewNumberValue(2), "mode": structpb.NewStringValue("0644"), "modified": structpb.NewStringValue("2026-11-30T12:00:00Z"),
		}}))
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{"entries": structpb.NewListValue(list), "truncated": structpb.NewBoolValue(false)}}
}

func result(payload *structpb.Struct) *toolv1.InvokeResponse {
	return &toolv1.InvokeResponse{Event: &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: &toolv1.ToolResult{Payload: payload}}}}
}

// BenchmarkCodec moves results through this codec and the standard one.
func BenchmarkCodec(b *testing.B) {
	results := map[string]*toolv1.InvokeResponse{
		"10000 entries": result(listing(10_000)),
		"1 MiB":         result(&structpb.Struct{Fields: map[string]*structpb.Value{"content": structpb.NewStringValue(string(make([]byte, 1<<20)))}}),
		"4 KiB":         result(&structpb.Struct{Fields: map[string]*structpb.Value{"content": structpb.NewStringValue(string(make([]byte, 4<<10)))}}),
	}
	for _, size := range []string{"10000 entries", "1 MiB", "4 KiB"} {
		for name, c := range map[string]encoding.CodecV2{"ours": Codec{}, "standard": standard} {
			encoded, err := c.Marshal(results[size])
			if err != nil {
				b.Fatal(err)
			}
			b.Run(size+"/marshal/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					data, err := c.Marshal(results[size])
					if err != nil {
						b.Fatal(err)
					}
					data.Free()
				}
			})
			b.Run(size+"/unmarshal/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.Unmarshal(encoded, &toolv1.InvokeResponse{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
