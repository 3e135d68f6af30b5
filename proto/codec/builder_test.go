package codec

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// built is {"free": [null, 1.5], "last": [{"on": true}], "path": "b.txt"}, from its end.
func built(t *testing.T) *structpb.Struct {
	t.Helper()
	b := NewBuilder()
	end := b.Len()
	if !b.Text("b.txt") {
		t.Fatal("a text is no text")
	}
	b.Member("path", end)
	end = b.Len()
	b.Bool(true)
	b.Member("on", end)
	b.Object(end)
	b.Element(end)
	b.List(end)
	b.Member("last", end)
	end = b.Len()
	b.Number(1.5)
	b.Element(end)
	last := b.Len()
	if !b.Value(structpb.NewNullValue()) {
		t.Fatal("null is no value")
	}
	b.Element(last)
	b.List(end)
	b.Member("free", end)
	return b.Payload()
}

// TestBuilder makes what every encoder writes and every decoder reads.
func TestBuilder(t *testing.T) {
	want := object("free", list(structpb.NewNullValue(), structpb.NewNumberValue(1.5)),
		"last", list(structpb.NewStructValue(object("on", structpb.NewBoolValue(true)))), "path", text("b.txt"))
	opened, err := Opened(built(t))
	if err != nil || !proto.Equal(want, opened) {
		t.Fatalf("%v: built %v, want %v", err, opened, want)
	}
	for i, m := range responses(built(t)) {
		like := responses(want)[i]
		standardly, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for name, encoded := range map[string][]byte{"this codec": encode(t, m), "the standard one": standardly} {
			if !proto.Equal(like, decode(t, encoded, like)) {
				t.Fatalf("%s wrote %x", name, encoded)
			}
		}
	}
	if kept, err := Marshal(built(t)); err != nil || EncodedSize(built(t)) != len(kept) {
		t.Fatalf("%v: %d bytes, not %d", err, len(kept), EncodedSize(built(t)))
	}
}

// TestBuilderOfNothing makes an empty object, and leaves to others what it cannot write.
func TestBuilderOfNothing(t *testing.T) {
	empty := NewBuilder().Payload()
	if opened, err := Opened(empty); err != nil || opened != empty || EncodedSize(empty) != 0 {
		t.Fatal("nothing is something")
	}
	if opened, err := Opened(nil); err != nil || opened != nil {
		t.Fatal("no payload is one")
	}
	b := NewBuilder()
	defer b.Discard()
	if b.Text("\xff") || b.Value(&structpb.Value{}) || b.Value(nil) {
		t.Fatal("it was written")
	}
}
