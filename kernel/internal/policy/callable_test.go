package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	schemav1 "github.com/agentco/agent/proto/pluggableharness/schema/v1"
)

func text() *schemav1.Schema { return &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_STRING} }

func objectOf(properties map[string]*schemav1.Schema) *schemav1.Schema {
	return &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_OBJECT, Properties: properties}
}

func list(of *schemav1.Schema) *schemav1.Schema {
	return &schemav1.Schema{Type: schemav1.SchemaType_SCHEMA_TYPE_ARRAY, Items: of}
}

// What an operation takes is what a deny of everything in that argument can hold for.
func TestCallableTakes(t *testing.T) {
	op := Callable{Input: objectOf(map[string]*schemav1.Schema{
		"source": text(), "content": text(), "limit": {Type: schemav1.SchemaType_SCHEMA_TYPE_NUMBER},
		"tags": list(text()), "files": list(objectOf(map[string]*schemav1.Schema{"name": text(), "depth": {Type: schemav1.SchemaType_SCHEMA_TYPE_NUMBER}})),
		"env": objectOf(nil), "command": list(text()),
	})}
	require.False(t, op.TakesCommand(), "a list of words is no script")
	require.Equal(t, []string{"command", "content", "files.name", "source", "tags"}, op.Texts())
	call := map[string]any{
		"source": "x", "content": "x", "limit": 1, "tags": []any{"x"}, "files": []any{map[string]any{"name": "x", "depth": 1}}, "env": map[string]any{"A": "x"},
	}
	args, err := structpb.NewStruct(call)
	require.NoError(t, err)
	for name, want := range map[string]bool{
		"source": true, "content": true, "tags": true, "tag": true, "files.name": true, "name": true, "env.A": true, "path": true, "x.path": true,
		"file": false, "limit": false, "files.depth": false, "files.nam": false, "conten": false, "env": false, "": false,
	} {
		require.Equal(t, want, op.Takes(name), name)
		s, err := New([]Rule{{Match: Match{Arguments: map[string]string{name: "**"}}, Action: Deny}})
		require.NoError(t, err)
		require.Equal(t, want, s.Decide(Call{Kind: resource, Arguments: args, Place: Place{Root: "/p", Dir: "/p"}}).Action == Deny, name)
	}
}
