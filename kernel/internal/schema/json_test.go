package schema

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/agentco/agent/proto/codec"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// M04: empty lists are lists, wherever they stand.
func TestAppendJSONEmptyLists(t *testing.T) {
	s := &structpb.Struct{Fields: map[string]*structpb.Value{
		"a": structpb.NewListValue(nil), "b": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewListValue(&structpb.ListValue{})}}),
		"c": structpb.NewStructValue(nil),
	}}
	require.Equal(t, `{"a":[],"b":[[]],"c":{}}`, string(AppendJSON(nil, s)))
	require.Equal(t, `{}`, string(AppendJSON(nil, nil)))
}

// Numbers are written as encoding/json does.
func TestAppendJSONNumbers(t *testing.T) {
	for _, n := range []float64{0, math.Copysign(0, -1), 1, -7, 0.5, 1e15, 1 << 53, -(1 << 53), 1e20, 1e21, 1e-7, math.MaxFloat64, 123456789.25} {
		want, err := json.Marshal(n)
		require.NoError(t, err)
		s := &structpb.Struct{Fields: map[string]*structpb.Value{"n": structpb.NewNumberValue(n)}}
		require.Equal(t, `{"n":`+string(want)+`}`, string(AppendJSON(nil, s)))
	}
}

// FuzzAppendJSON holds our JSON to what encoding/json reads out of it.
func FuzzAppendJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,2.5,-1e300,"é\u0000\n\"\\\u2028",true,null,{"b":[]}]}`, "{\"\xff\":1}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := &structpb.Struct{}
		if s.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		var got, want any
		require.NoError(t, json.Unmarshal(AppendJSON(nil, s), &got))
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		require.Equal(t, want, got)
		encoded, err := codec.Marshal(s)
		require.NoError(t, err)
		straight, ok := AppendEncoded([]byte("x"), string(encoded))
		require.True(t, ok)
		require.Equal(t, "x"+string(AppendJSON(nil, s)), string(straight))
	})
}

// FuzzAppendEncoded holds it to what is decoded from the same, whatever that is.
func FuzzAppendEncoded(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,-0.5,"x",true,false,null,{"b":[],"c":{}},[[]]],"b":"\u0000"}`} {
		s := &structpb.Struct{}
		require.NoError(f, s.UnmarshalJSON([]byte(seed)))
		encoded, err := codec.Marshal(s)
		require.NoError(f, err)
		f.Add(string(encoded))
	}
	f.Add("\n\x80\x00")
	f.Fuzz(func(t *testing.T, encoded string) {
		got, ok := AppendEncoded(nil, encoded)
		if !ok {
			require.Empty(t, got)
			return
		}
		s := &structpb.Struct{}
		if proto.Unmarshal([]byte(encoded), s) != nil {
			return
		}
		if again, err := codec.Marshal(s); err != nil || string(again) != encoded {
			return // it is not as we encode it
		}
		require.Equal(t, string(AppendJSON(nil, s)), string(got))
	})
}

func FuzzAppendText(f *testing.F) {
	f.Add("a\x00b\"\\\n\t\r\x7f\u2028é\xff\xf0\x9f\x98")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		require.NoError(t, json.Unmarshal(AppendText(nil, s), &got))
		require.Equal(t, strings.ToValidUTF8(s, "\uFFFD"), got)
	})
}
