package codec

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
)

// What is taken out of an encoding piece by piece is what was put into it.
func TestEncoded(t *testing.T) {
	payload, err := structpb.NewStruct(map[string]any{
		"bool": true, "list": []any{"a", false, nil}, "number": -0.5, "object": map[string]any{"": ""}, "text": "x",
	})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := objectOf(t, string(encoded)), payload.AsMap(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func objectOf(t *testing.T, members string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for members != "" {
		name, value, rest, ok := NextMember(members)
		if !ok {
			t.Fatalf("no member at the beginning of %q", members)
		}
		all[name], members = valueOf(t, value), rest
	}
	if _, _, rest, ok := NextMember(members); ok || rest != "" {
		t.Errorf("at the end there is %q, %v", rest, ok)
	}
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
		note(listOf(t, elements), true)
	}
	if kinds != 1 {
		t.Errorf("%q is %d things", string(v), kinds)
	}
	return value
}

func listOf(t *testing.T, elements string) []any {
	t.Helper()
	list := []any{}
	for elements != "" {
		element, rest, ok := NextElement(elements)
		if !ok {
			t.Fatalf("no element at the beginning of %q", elements)
		}
		list, elements = append(list, valueOf(t, element)), rest
	}
	return list
}

// FuzzEncoded looks at anything: what is no encoding has nothing to look at, and is left over.
func FuzzEncoded(f *testing.F) {
	f.Add("\n\x08\n\x01a\x12\x03\x1a\x01b")
	f.Add("\n\x80")
	f.Fuzz(func(t *testing.T, message string) {
		for {
			_, value, rest, ok := NextMember(message)
			if !ok {
				if rest != message {
					t.Errorf("of %q, which has no member, %q is left over", message, rest)
				}
				return
			}
			if len(rest) >= len(message) {
				t.Fatalf("of %q, %q is left over", message, rest)
			}
			_, _ = value.Text()
			_, _ = value.Number()
			_, _ = value.Bool()
			if list, ok := value.List(); ok {
				_, _, _ = NextElement(list)
			}
			message = rest
		}
	})
}
