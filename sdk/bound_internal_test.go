package sdk

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// A payload is never larger than it is taken for.
func FuzzAtMost(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":null,"b":[true,1e300,"x",[],{}],"c":{"d":{"":""}}}`, `{"":{"":{"":{"":[[[[""]]]]}}}}`} {
		f.Add([]byte(seed), 0)
		f.Add([]byte(seed), 1<<16)
	}
	f.Fuzz(func(t *testing.T, text []byte, long int) {
		payload := &structpb.Struct{}
		if !json.Valid(text) || protojson.Unmarshal(text, payload) != nil {
			return
		}
		if long > 0 {
			name := strings.Repeat("n", long%(1<<20))
			nested := &structpb.Struct{Fields: map[string]*structpb.Value{name: structpb.NewStringValue(name)}}
			payload = &structpb.Struct{Fields: map[string]*structpb.Value{name: structpb.NewStructValue(nested), "p": structpb.NewStructValue(payload)}}
		}
		event := &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: &toolv1.ToolResult{Payload: payload}}}
		require.LessOrEqual(t, proto.Size(event), atMost(payload))
	})
}
