package codec

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
)

// The tags of what is kept of a call that came to a good end.
const (
	tagCallID = 1<<3 | byte(protowire.BytesType)
	tagKept   = 2<<3 | byte(protowire.BytesType)
)

// Marshal is a deterministic encoding, as of proto.MarshalOptions, to be kept or compared: payloads, and events that hold
// one, are encoded as [Codec] does.
func Marshal(m proto.Message) ([]byte, error) {
	w := newWriter()
	defer w.discard()
	ok := false
	switch m := m.(type) {
	case *structpb.Struct:
		ok = w.structure(m, 0)
	case *eventv1.ToolResultEvent:
		ok = w.resultEvent(m)
	}
	if ok {
		return slices.Clone((*w.buf)[w.at:]), nil
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// MarshalResult is Marshal for an event whose payload has been received: encoded is that of [Received], or empty when it is not
// known or not that of the event any more.
func MarshalResult(e *eventv1.ToolResultEvent, encoded string) ([]byte, error) {
	if encoded == "" || e.GetResult().GetPayload() == nil || !utf8.ValidString(e.GetToolCallId()) {
		return Marshal(e)
	}
	var b []byte
	around := len(e.GetToolCallId()) + 3*(1+binary.MaxVarintLen64)
	b = slices.Grow(b, around+len(encoded))
	if id := e.GetToolCallId(); id != "" {
		b = append(protowire.AppendVarint(append(b, tagCallID), uint64(len(id))), id...)
	}
	inner := 1 + protowire.SizeVarint(uint64(len(encoded))) + len(encoded)
	b = protowire.AppendVarint(append(b, tagKept), uint64(inner))
	b = protowire.AppendVarint(append(b, tagPayload), uint64(len(encoded)))
	return append(b, encoded...), nil
}

func (w *writer) resultEvent(e *eventv1.ToolResultEvent) bool {
	payload := e.GetResult().GetPayload()
	if payload == nil || !plain(e) || !plain(e.GetResult()) || !w.structure(payload, 0) {
		return false
	}
	w.head(tagPayload, 0)
	w.head(tagKept, 0)
	return e.GetToolCallId() == "" || w.text(tagCallID, e.GetToolCallId())
}
