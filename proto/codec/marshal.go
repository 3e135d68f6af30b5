package codec

import (
	"slices"

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

func (w *writer) resultEvent(e *eventv1.ToolResultEvent) bool {
	payload := e.GetResult().GetPayload()
	if payload == nil || !plain(e) || !plain(e.GetResult()) || !w.structure(payload, 0) {
		return false
	}
	w.head(tagPayload, 0)
	w.head(tagKept, 0)
	return e.GetToolCallId() == "" || w.text(tagCallID, e.GetToolCallId())
}
