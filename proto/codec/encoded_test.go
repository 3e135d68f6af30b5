package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// What is taken out of an encoding piece by piece is what was put into it.
func TestEncoded(t *testing.T) {
	payload, err := structpb.NewStruct(map[string]any{
		"bool": true, "list": []any{"a", false, nil}, "number": -0.5, "object": map[string]any{"": ""}, "text": "x",
	})
	require.NoError(t, err)
	encoded, err := Marshal(payload)
	require.NoError(t, err)
	require.Equal(t, payload.AsMap(), objectOf(t, string(encoded)))
}

func objectOf(t *testing.T, members string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for members != "" {
		name, value, rest, ok := NextMember(members)
		require.True(t, ok)
		all[name], members = valueOf(t, value), rest
	}
	_, _, rest, ok := NextMember(members)
	require.False(t, ok)
	require.Empty(t, rest)
	return all
}

// valueOf tries everything that a value can be: it is one thing only.
func valueOf(t *testing.T, v Encoded) (value any) {
	t.Helper()
	kinds := 0
	note := func(is any, ok bool) {
		if ok {
			value, kinds = is, kinds+1
		}
	}
	text, ok := v.Text()
	note(text, ok)
	number, ok := v.Number()
	note(number, ok)
	truth, ok := v.Bool()
	note(truth, ok)
	note(nil, v.Null())
	if members, ok := v.Object(); ok {
		note(objectOf(t, members), true)
	}
	if elements, ok := v.List(); ok {
		list := []any{}
		for elements != "" {
			var element Encoded
			element, elements, ok = NextElement(elements)
			require.True(t, ok)
			list = append(list, valueOf(t, element))
		}
		note(list, true)
	}
	require.Equal(t, 1, kinds)
	return value
}

// FuzzEncoded looks at anything: what is no encoding has nothing to look at, and is left over.
func FuzzEncoded(f *testing.F) {
	f.Add("\n\x08\n\x01a\x12\x03\x1a\x01b")
	f.Add("\n\x80")
	f.Fuzz(func(t *testing.T, message string) {
		for rest := message; ; {
			_, value, next, ok := NextMember(rest)
			if !ok {
				require.Equal(t, rest, next)
				break
			}
			require.Less(t, len(next), len(rest))
			_, _ = value.Text()
			_, _ = value.Number()
			_, _ = value.Bool()
			if list, ok := value.List(); ok {
				_, _, _ = NextElement(list)
			}
			rest = next
		}
	})
}
