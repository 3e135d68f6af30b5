package schema_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

type listed struct {
	Name    string  `json:"name"`
	Kind    string  `json:"kind" enum:"file,directory"`
	Size    int     `json:"size"`
	Count   uint8   `json:"count"`
	Share   float64 `json:"share"`
	Hidden  bool    `json:"hidden"`
	Target  string  `json:"target,omitempty"`
	Changed *bool   `json:"changed,omitempty"`
	Inner   struct {
		Mode string `json:"mode"`
	} `json:"inner"`
	Tags []string `json:"tags"`
}

type listing struct {
	Entries []listed `json:"entries"`
}

func entries() listing {
	yes, no := true, false
	all := []listed{
		{Name: "a", Kind: "file", Size: 1, Share: 0.5, Tags: []string{"x"}},
		{Name: "a", Kind: "file", Size: 1, Share: 0.5, Tags: []string{"y"}, Target: "t", Changed: &yes},
		{Name: "b", Kind: "directory", Size: -1, Count: 2, Hidden: true, Tags: []string{}, Changed: &no},
		{Name: "b", Kind: "directory", Size: 0, Count: 2, Share: -0.5, Tags: []string{}, Target: "t"},
		{Name: "", Kind: "file", Size: 1 << 53, Tags: []string{}},
		{Name: "", Kind: "file", Size: 1 << 53, Tags: []string{}},
	}
	for i := range all {
		all[i].Inner.Mode = fmt.Sprint("m", i/4)
	}
	return listing{all}
}

// What one entry has in common with the one before it arrives with both.
func TestListsSayTheSameAgain(t *testing.T) {
	in := entries()
	encoded, err := typeOf[listing](t).Encode(in)
	require.NoError(t, err)
	text, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, string(text), protojson.Format(encoded))
	wire, err := proto.Marshal(encoded)
	require.NoError(t, err)
	received := &structpb.Struct{}
	require.NoError(t, proto.Unmarshal(wire, received))
	var out listing
	require.NoError(t, typeOf[listing](t).Decode(received, &out))
	require.Equal(t, in, out)
}

// A fault is one wherever in a list it stands.
func TestListsRefuseAnywhere(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*listed)
		says  string
	}{
		{"a text outside its enum", func(e *listed) { e.Kind = "socket" }, `entries: [3]: kind: "socket" is none of`},
		{"a number the wire would round", func(e *listed) { e.Size = 1<<53 + 1 }, "entries: [3]: size: 9007199254740993 is beyond"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := entries()
			in.Entries[2].Size = 1 << 53
			tt.spoil(&in.Entries[3])
			_, err := typeOf[listing](t).Encode(in)
			require.ErrorContains(t, err, tt.says)
		})
	}
	in := entries()
	in.Entries[0].Name, in.Entries[1].Name = "\xff", "\xff"
	encoded, err := typeOf[listing](t).Encode(in)
	require.NoError(t, err)
	list := encoded.GetFields()["entries"].GetListValue().GetValues()
	require.Equal(t, "\uFFFD", list[1].GetStructValue().GetFields()["name"].GetStringValue())
}

func BenchmarkEncodeList(b *testing.B) {
	shape := typeOf[listing](b)
	in := listing{make([]listed, 10_000)}
	for i := range in.Entries {
		in.Entries[i] = listed{Name: fmt.Sprint("file", i), Kind: "file", Size: i}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := shape.Encode(in); err != nil {
			b.Fatal(err)
		}
	}
}
