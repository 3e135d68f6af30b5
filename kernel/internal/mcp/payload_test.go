package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// M04: empty lists are lists, wherever they stand.
func TestEmptyLists(t *testing.T) {
	s := &structpb.Struct{Fields: map[string]*structpb.Value{
		"a": structpb.NewListValue(nil), "b": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewListValue(&structpb.ListValue{})}}),
		"c": structpb.NewStructValue(nil),
	}}
	require.Equal(t, `{"a":[],"b":[[]],"c":{}}`, string(encoded(s)))
	require.Equal(t, `{}`, string(encoded(nil)))
}

func TestDecoded(t *testing.T) {
	for in, want := range map[string]string{"": "{}", "null": "{}", `{"a":1}`: `{"a":1}`} {
		s, err := decoded(json.RawMessage(in))
		require.NoError(t, err)
		require.Equal(t, want, string(encoded(s)))
	}
	for _, in := range []string{`[]`, `"a"`, `1`, `{"n":12345678901234567890}`} {
		_, err := decoded(json.RawMessage(in))
		require.Error(t, err, in)
	}
}

// FuzzEncoded holds our JSON to what encoding/json reads out of it.
func FuzzEncoded(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,2.5,-1e300,"é\u0000\n\"\\\u2028",true,null,{"b":[]}]}`, "{\"\xff\":1}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := &structpb.Struct{}
		if s.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		var got, want any
		require.NoError(t, json.Unmarshal(encoded(s), &got))
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		require.Equal(t, want, got)
	})
}

func FuzzText(f *testing.F) {
	f.Add("a\x00b\"\\\n\t\r\x7f\u2028é\xff\xf0\x9f\x98")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		require.NoError(t, json.Unmarshal(appendText(nil, s), &got))
		require.Equal(t, strings.ToValidUTF8(s, "\uFFFD"), got)
	})
}
