package codec

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func object(members ...any) *structpb.Struct {
	s := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for i := 0; i < len(members); i += 2 {
		s.Fields[members[i].(string)] = members[i+1].(*structpb.Value)
	}
	return s
}

func list(values ...*structpb.Value) *structpb.Value {
	return structpb.NewListValue(&structpb.ListValue{Values: values})
}

var text = structpb.NewStringValue

// payloads are what a result may be, of every kind and size of a length.
func payloads() map[string]*structpb.Struct {
	many := object()
	for i := range 300 {
		many.Fields[fmt.Sprintf("key-%03d", i)] = structpb.NewNumberValue(float64(i))
	}
	return map[string]*structpb.Struct{
		"empty":       {},
		"no fields":   object(),
		"every kind":  object("s", text("déjà vu"), "n", structpb.NewNumberValue(-0.5), "t", structpb.NewBoolValue(true), "f", structpb.NewBoolValue(false), "z", structpb.NewNullValue(), "o", structpb.NewStructValue(object("x", text(""))), "l", list(text("a"), structpb.NewNullValue())),
		"zeros":       object("", text(""), "0", structpb.NewNumberValue(0), "-0", structpb.NewNumberValue(math.Copysign(0, -1))),
		"no numbers":  object("nan", structpb.NewNumberValue(math.NaN()), "inf", structpb.NewNumberValue(math.Inf(-1))),
		"empty parts": object("o", structpb.NewStructValue(&structpb.Struct{}), "l", list()),
		"lengths":     object("127", text(strings.Repeat("x", 127)), "128", text(strings.Repeat("x", 128)), "20000", text(strings.Repeat("x", 20_000)), "3000000", text(strings.Repeat("é", 1_500_000))),
		"many keys":   many,
		"repeating":   object("l", list(structpb.NewStructValue(object("a", text("same"), "b", text("1"))), structpb.NewStructValue(object("a", text("same"), "b", text("2"))), structpb.NewStructValue(object("b", text("2"))), text("2"))),
		"listing":     listing(500),
		"deep":        object("l", nested(150)),
		"too deep":    object("l", nested(1500)),
	}
}

func nested(levels int) *structpb.Value {
	v := text("down here")
	for range levels {
		v = list(structpb.NewStructValue(object("l", v)))
	}
	return v
}

// responses are a payload in each message that carries one.
func responses(payload *structpb.Struct) []proto.Message {
	partial := &toolv1.ToolEvent_PartialResult{Payload: payload}
	return []proto.Message{
		result(payload),
		&toolv1.InvokeResponse{Event: &toolv1.ToolEvent{Event: &toolv1.ToolEvent_PartialResult_{PartialResult: partial}}},
		&slashcommandv1.InvokeResponse{Event: &slashcommandv1.SlashCommandEvent{Event: &slashcommandv1.SlashCommandEvent_Result{Result: &toolv1.ToolResult{Payload: payload}}}},
		&slashcommandv1.InvokeResponse{Event: &slashcommandv1.SlashCommandEvent{Event: &slashcommandv1.SlashCommandEvent_PartialResult_{
			PartialResult: &slashcommandv1.SlashCommandEvent_PartialResult{Payload: payload}}}},
	}
}

// TestTheSameAsTheStandardCodec: the bytes are those of a deterministic encoding, and each side reads the other's.
func TestTheSameAsTheStandardCodec(t *testing.T) {
	for name, payload := range payloads() {
		t.Run(name, func(t *testing.T) {
			for _, m := range responses(payload) {
				want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				got := encode(t, m)
				if name != "too deep" && string(got) != string(want) { // that is the standard codec's, in any order
					t.Fatalf("encoded otherwise:\n got %.200x\nwant %.200x", got, want)
				}
				for _, size := range []int{1, 7, 16 << 10, len(got) + 1} {
					if size < len(got)/10_000 {
						continue // a test of patience
					}
					back := m.ProtoReflect().New().Interface()
					if err := (Codec{}).Unmarshal(torn(got, size), back); err != nil {
						t.Fatal(err)
					}
					if !proto.Equal(m, back) {
						t.Fatal("what was read is not what was written")
					}
				}
			}
		})
	}
}

// TestEveryOtherMessage goes the standard way, also inside a response.
func TestEveryOtherMessage(t *testing.T) {
	event := func(e *toolv1.ToolEvent) *toolv1.InvokeResponse { return &toolv1.InvokeResponse{Event: e} }
	for _, m := range []proto.Message{
		&toolv1.InvokeResponse{},
		event(&toolv1.ToolEvent{}),
		event(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_OutputChunk_{OutputChunk: &toolv1.ToolEvent_OutputChunk{Data: []byte("\xff\x00")}}}),
		event(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Progress_{Progress: &toolv1.ToolEvent_Progress{Message: "half"}}}),
		event(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Error{Error: &toolv1.ToolError{Message: "no", Details: object("why", text("so"))}}}),
		event(&toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: &toolv1.ToolResult{}}}),
		&slashcommandv1.InvokeResponse{Event: &slashcommandv1.SlashCommandEvent{Event: &slashcommandv1.SlashCommandEvent_Result{}}},
		&toolv1.InvokeRequest{Call: &toolv1.ToolCall{Id: "1", Arguments: object("a", list(text("b")))}},
	} {
		back := m.ProtoReflect().New().Interface()
		if err := (Codec{}).Unmarshal(whole(encode(t, m)), back); err != nil {
			t.Fatal(err)
		}
		want := m.ProtoReflect().New().Interface()
		if err := standard.Unmarshal(whole(encode(t, m)), want); err != nil || !proto.Equal(back, want) {
			t.Fatalf("%v: read %v, want %v", err, back, want)
		}
	}
	if _, err := (Codec{}).Marshal("no message"); err == nil {
		t.Fatal("a text is no message")
	}
	if err := (Codec{}).Unmarshal(nil, "no message"); err == nil {
		t.Fatal("a text is no message")
	}
}

// TestWhatCannotBeEncoded is refused as the standard codec refuses it, or becomes what it makes of it.
func TestWhatCannotBeEncoded(t *testing.T) {
	var nothing *structpb.Value_StringValue
	unknown := object("a", text("b"))
	unknown.Fields["a"].ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1))
	for name, payload := range map[string]*structpb.Struct{
		"text not UTF-8": object("a", text("\xff")),
		"key not UTF-8":  object("\xff", text("a")),
		"deep not UTF-8": object("a", list(text("good"), structpb.NewStructValue(object("b", text("\xc3"))))),
		"no value":       object("a", (*structpb.Value)(nil)),
		"no kind":        object("a", &structpb.Value{}),
		"empty kind":     object("a", &structpb.Value{Kind: nothing}),
		"no null":        object("a", &structpb.Value{Kind: &structpb.Value_NullValue{NullValue: 7}}),
		"no element":     object("a", list(nil)),
		"no object":      object("a", &structpb.Value{Kind: &structpb.Value_StructValue{}}),
		"no list":        object("a", &structpb.Value{Kind: &structpb.Value_ListValue{}}),
		"unknown field":  unknown,
	} {
		t.Run(name, func(t *testing.T) {
			want, wantErr := standard.Marshal(result(payload))
			got, err := Codec{}.Marshal(result(payload))
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
			if err == nil && string(got.Materialize()) != string(want.Materialize()) {
				t.Fatalf("got %x, want %x", got.Materialize(), want.Materialize())
			}
		})
	}
}

// TestReceived: what comes as it would be encoded again need not be, to be kept.
func TestReceived(t *testing.T) {
	entry := func(key string) []byte {
		return field(tagEntry, append(field(tagKey, []byte(key)), field(tagValue, field(tagString, []byte("v")))...))
	}
	long := append([]byte{tagEntry, byte(len(entry("a")[2:])) | 0x80, 0}, entry("a")[2:]...) // a length of a byte too much
	for name, test := range map[string]struct {
		payload []byte
		known   bool
	}{
		"in order":        {append(entry("a"), entry("b")...), true},
		"in no order":     {append(entry("b"), entry("a")...), false},
		"of more length":  {long, false},
		"nothing":         {nil, false},
		"of another kind": {append(entry("a"), 0xf8, 0x06, 0x01), false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, m := range []proto.Message{&toolv1.InvokeResponse{}, &slashcommandv1.InvokeResponse{}} {
				received := &Received{Response: m}
				if err := (Codec{}).Unmarshal(whole(field(tagEvent, field(tagResult, field(tagPayload, test.payload)))), received); err != nil {
					t.Fatal(err)
				}
				if kept(t, received) != test.known {
					t.Fatalf("kept %x", received.Payload)
				}
				_, payload := payloadOf(m)
				event := &eventv1.ToolResultEvent{ToolCallId: "tc_1", Outcome: &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{Payload: payload}}}
				want, err := Marshal(event)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := MarshalResult(event, received.Payload); err != nil || string(got) != string(want) {
					t.Fatalf("%v: got %x, want %x", err, got, want)
				}
			}
		})
	}
	bad := &eventv1.ToolResultEvent{ToolCallId: "\xff", Outcome: &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{Payload: object()}}}
	if _, err := MarshalResult(bad, string(entry("a"))); err == nil {
		t.Fatal("an id that is not UTF-8 was encoded")
	}
	if failed, err := MarshalResult(&eventv1.ToolResultEvent{Outcome: &eventv1.ToolResultEvent_Error{Error: &toolv1.ToolError{}}}, "x"); err != nil || len(failed) != 2 {
		t.Fatalf("of an error: %x, %v", failed, err)
	}
}

// TestWhatWasReadStays although the buffer that it was read from is used again.
func TestWhatWasReadStays(t *testing.T) {
	encoded := encode(t, result(listing(20)))
	back := &toolv1.InvokeResponse{}
	if err := (Codec{}).Unmarshal(whole(encoded), back); err != nil {
		t.Fatal(err)
	}
	for i := range encoded {
		encoded[i] = 'x'
	}
	if !proto.Equal(result(listing(20)), back) {
		t.Fatal("it changed with the buffer")
	}
}

// TestReadingReplaces what the message held.
func TestReadingReplaces(t *testing.T) {
	back := result(object("old", text("value")))
	back.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1))
	if err := (Codec{}).Unmarshal(whole(encode(t, result(object("new", text("value"))))), back); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(result(object("new", text("value"))), back) {
		t.Fatalf("there is more: %v", back)
	}
}

// TestNestingWithoutEnd overflows no stack, however many levels hostile bytes have.
func TestNestingWithoutEnd(t *testing.T) {
	v := []byte{tagNull, 0}
	for range 20_000 {
		v = field(tagList, field(tagItem, v))
	}
	encoded := field(tagEvent, field(tagResult, field(tagPayload, field(tagEntry, append(field(tagKey, []byte("l")), field(tagValue, v)...)))))
	if err := (Codec{}).Unmarshal(whole(encoded), &toolv1.InvokeResponse{}); err == nil {
		t.Fatal("it was read")
	}
}

func field(tag byte, content []byte) []byte {
	return append(protowire.AppendVarint([]byte{tag}, uint64(len(content))), content...)
}

func encode(t testing.TB, m any) []byte {
	t.Helper()
	data, err := Codec{}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Free()
	return data.Materialize()
}

func whole(encoded []byte) mem.BufferSlice { return mem.BufferSlice{mem.SliceBuffer(encoded)} }

// torn is what came in pieces of so many bytes.
func torn(encoded []byte, n int) (parts mem.BufferSlice) {
	for ; len(encoded) > n; encoded = encoded[n:] {
		parts = append(parts, mem.SliceBuffer(encoded[:n]))
	}
	return append(parts, mem.SliceBuffer(encoded))
}

// FuzzUnmarshal compares the two decoders: they refuse the same bytes, and make the same of the others.
func FuzzUnmarshal(f *testing.F) {
	for name, payload := range payloads() {
		switch name {
		case "lengths", "listing", "many keys", "deep", "too deep":
			continue // fuzzing is about what is small
		}
		for _, m := range responses(payload) {
			f.Add(encode(f, m))
		}
	}
	inner := field(tagEntry, append(field(tagKey, []byte("k")), field(tagValue, field(tagString, []byte("v")))...))
	for _, payload := range [][]byte{
		append(inner, inner...),                     // a key twice
		field(tagEntry, field(tagKey, []byte("k"))), // no value
		field(tagEntry, field(tagValue, []byte{})),  // neither key nor kind
		append(inner, 0xf8, 0x06, 0x01),             // an unknown field
		field(tagEntry, append(field(tagKey, []byte("k")), field(tagValue, append(field(tagString, nil), tagBool, 1))...)), // two kinds
		field(tagEntry, append(field(tagValue, field(tagString, []byte("\xff"))), field(tagKey, []byte("k"))...)),
		{tagEntry, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, // a length beyond every message
	} {
		f.Add(field(tagEvent, field(tagResult, field(tagPayload, payload))))
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		for _, m := range []proto.Message{&toolv1.InvokeResponse{}, &slashcommandv1.InvokeResponse{}} {
			want := m.ProtoReflect().New().Interface()
			wantErr := standard.Unmarshal(whole(encoded), want)
			err := Codec{}.Unmarshal(whole(encoded), m)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
			if err == nil && !same(m, want) {
				t.Fatalf("read %v, want %v", m, want)
			}
			if err == nil && !same(decode(t, encode(t, m), m), want) {
				t.Fatal("it does not survive a second time")
			}
			received := &Received{Response: m, Payload: "of before"}
			if again := (Codec{}).Unmarshal(whole(encoded), received); (again == nil) != (err == nil) || err == nil && !same(m, want) {
				t.Fatalf("to be kept it is read as %v, %v", m, again)
			}
			if err == nil {
				kept(t, received)
			}
		}
	})
}

// kept checks the payload of what was received: it is what Marshal makes of it, or unknown.
func kept(t testing.TB, r *Received) (known bool) {
	t.Helper()
	if r.Payload == "" {
		return false
	}
	_, payload := payloadOf(r.Response)
	want, err := Marshal(payload)
	if err != nil || string(want) != r.Payload {
		t.Fatalf("%v: kept %x, want %x", err, r.Payload, want)
	}
	return true
}

func decode(t testing.TB, encoded []byte, like proto.Message) proto.Message {
	t.Helper()
	m := like.ProtoReflect().New().Interface()
	if err := standard.Unmarshal(whole(encoded), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// same compares encodings, for which a NaN is one like any other.
func same(a, b proto.Message) bool {
	o := proto.MarshalOptions{Deterministic: true}
	first, errA := o.Marshal(a)
	second, errB := o.Marshal(b)
	return errA == nil && errB == nil && string(first) == string(second)
}

// TestMarshal is deterministic, and byte for byte what the standard encoder makes.
func TestMarshal(t *testing.T) {
	for name, payload := range payloads() {
		t.Run(name, func(t *testing.T) {
			event := &eventv1.ToolResultEvent{ToolCallId: "tc_1", Outcome: &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{Payload: payload}}}
			nameless := proto.CloneOf(event)
			nameless.ToolCallId = ""
			for _, m := range []proto.Message{payload, event, nameless, result(payload), &eventv1.ToolResultEvent{ToolCallId: "tc_1"}} {
				want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := Marshal(m); err != nil || string(got) != string(want) {
					t.Fatalf("%v: got %.200x, want %.200x", err, got, want)
				}
			}
		})
	}
	if _, err := Marshal(&eventv1.ToolResultEvent{ToolCallId: "\xff", Outcome: &eventv1.ToolResultEvent_Result{Result: result(object()).GetEvent().GetResult()}}); err == nil {
		t.Fatal("an id that is not UTF-8 was encoded")
	}
}
