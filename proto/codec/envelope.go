package codec

import (
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/structpb"

	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// The tags of what is around a payload: a response has an event, that has one of two kinds, and that has the payload. They
// are the same for tools and for commands.
const (
	tagEvent   = 1<<3 | byte(protowire.BytesType)
	tagPartial = 3<<3 | byte(protowire.BytesType)
	tagResult  = 5<<3 | byte(protowire.BytesType)
	tagPayload = 1<<3 | byte(protowire.BytesType)
)

// payloadOf finds the payload of a message that has one and nothing besides; kind is tagResult, tagPartial, or zero when v
// is no such message.
func payloadOf(v any) (kind byte, payload *structpb.Struct) {
	switch m := v.(type) {
	case *toolv1.InvokeResponse:
		if plain(m) && plain(m.GetEvent()) {
			return ofTool(m.GetEvent())
		}
	case *slashcommandv1.InvokeResponse:
		if plain(m) && plain(m.GetEvent()) {
			return ofCommand(m.GetEvent())
		}
	}
	return 0, nil
}

func ofTool(e *toolv1.ToolEvent) (kind byte, payload *structpb.Struct) {
	switch e := e.GetEvent().(type) {
	case *toolv1.ToolEvent_Result:
		if plain(e.Result) && e.Result.Payload != nil {
			return tagResult, e.Result.Payload
		}
	case *toolv1.ToolEvent_PartialResult_:
		if plain(e.PartialResult) && e.PartialResult.Payload != nil {
			return tagPartial, e.PartialResult.Payload
		}
	}
	return 0, nil
}

func ofCommand(e *slashcommandv1.SlashCommandEvent) (kind byte, payload *structpb.Struct) {
	switch e := e.GetEvent().(type) {
	case *slashcommandv1.SlashCommandEvent_Result:
		if plain(e.Result) && e.Result.Payload != nil {
			return tagResult, e.Result.Payload
		}
	case *slashcommandv1.SlashCommandEvent_PartialResult_:
		if plain(e.PartialResult) && e.PartialResult.Payload != nil {
			return tagPartial, e.PartialResult.Payload
		}
	}
	return 0, nil
}

// receiverOf is what puts a payload into v, replacing what was there; nil when v is no message for it.
func receiverOf(v any) func(kind byte, payload *structpb.Struct) {
	switch m := v.(type) {
	case *toolv1.InvokeResponse:
		return func(kind byte, payload *structpb.Struct) {
			m.Reset()
			m.Event = &toolv1.ToolEvent{Event: &toolv1.ToolEvent_Result{Result: &toolv1.ToolResult{Payload: payload}}}
			if kind == tagPartial {
				m.Event.Event = &toolv1.ToolEvent_PartialResult_{PartialResult: &toolv1.ToolEvent_PartialResult{Payload: payload}}
			}
		}
	case *slashcommandv1.InvokeResponse:
		return func(kind byte, payload *structpb.Struct) {
			m.Reset()
			m.Event = &slashcommandv1.SlashCommandEvent{Event: &slashcommandv1.SlashCommandEvent_Result{Result: &toolv1.ToolResult{Payload: payload}}}
			if kind == tagPartial {
				m.Event.Event = &slashcommandv1.SlashCommandEvent_PartialResult_{
					PartialResult: &slashcommandv1.SlashCommandEvent_PartialResult{Payload: payload}}
			}
		}
	}
	return nil
}

// carriesPayload looks whether a response may carry a payload, before anything of it is copied.
func carriesPayload(data mem.BufferSlice) bool {
	if len(data) == 0 {
		return false
	}
	begin := data[0].ReadOnlyData()
	if len(begin) == 0 || begin[0] != tagEvent {
		return false
	}
	_, n := protowire.ConsumeVarint(begin[1:])
	if n < 0 || len(begin) <= 1+n {
		return false
	}
	return begin[1+n] == tagResult || begin[1+n] == tagPartial
}

// opened takes a response apart that is a payload in its envelopes and nothing else.
func opened(message string) (kind byte, payload string, ok bool) {
	event, ok := only(message, tagEvent)
	if !ok || len(event) == 0 {
		return 0, "", false
	}
	kind = event[0]
	inner, ok := only(event, kind)
	if !ok {
		return 0, "", false
	}
	payload, ok = only(inner, tagPayload)
	return kind, payload, ok
}

// only is the content of a message that has one field.
func only(message string, tag byte) (content string, ok bool) {
	if len(message) == 0 || message[0] != tag {
		return "", false
	}
	content, rest, ok := block(message[1:])
	return content, ok && rest == ""
}
