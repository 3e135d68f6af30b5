// Package codec moves messages between kernel and provider in protobuf's own encoding, byte for byte what every other
// implementation writes and reads. A result or a part of one, which may be a hundred thousand values, goes by code made
// for google.protobuf.Struct; every other message, and every encoding that is unusual, by google.golang.org/protobuf.
package codec

import (
	"strings"

	"google.golang.org/grpc/encoding"
	standardcodec "google.golang.org/grpc/encoding/proto" // registers the standard codec, too
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// Codec is gRPC's codec "proto". Give it to a server with grpc.ForceServerCodecV2 and to a client with
// grpc.ForceCodecV2. The zero value is ready, and safe for concurrent use. A message that was read shares no memory
// with what it was read from; all texts of a result share one piece.
type Codec struct{}

var _ encoding.CodecV2 = Codec{}

var standard = encoding.GetCodecV2(standardcodec.Name)

// Name is that of the standard codec: the two cannot be told apart on the wire.
func (Codec) Name() string { return standardcodec.Name }

// Marshal encodes a message. The members of a payload are written in the order of their names, those of a [Builder] as they
// are.
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	kind, payload := payloadOf(v)
	if kind == 0 {
		return standard.Marshal(v)
	}
	if content := encoded(payload); len(content) > 0 {
		w := newWriter()
		for _, tag := range [...]byte{tagPayload, kind, tagEvent} {
			w.length(tag, len(content)+w.size())
		}
		return mem.BufferSlice{w.buffer(), mem.SliceBuffer(content)}, nil
	}
	w := newWriter()
	if !w.structure(payload, 0) {
		w.discard()
		return standard.Marshal(v)
	}
	for _, tag := range [...]byte{tagPayload, kind, tagEvent} {
		w.head(tag, 0)
	}
	return mem.BufferSlice{w.buffer()}, nil
}

// Received is what Unmarshal can read a response into when its payload is to be kept as well.
type Received struct {
	// Response is what is read, an InvokeResponse of either service.
	Response proto.Message
	// Payload is the encoding of its payload, if it has one that is encoded as [Marshal] does it; otherwise empty. It and
	// the texts of the payload share memory.
	Payload string
}

// Unmarshal decodes into v, which must be a message or a *Received.
func (Codec) Unmarshal(data mem.BufferSlice, v any) error {
	received, keep := v.(*Received)
	if keep {
		received.Payload, v = "", received.Response
	}
	receive := receiverOf(v)
	if receive == nil || !carriesPayload(data) {
		return standard.Unmarshal(data, v)
	}
	var message strings.Builder
	message.Grow(data.Len())
	for _, part := range data {
		message.Write(part.ReadOnlyData())
	}
	kind, payload, ok := opened(message.String())
	if !ok {
		return standard.Unmarshal(data, v)
	}
	var r reader
	s, ok := r.structure(payload, 0)
	if !ok {
		return standard.Unmarshal(data, v)
	}
	receive(kind, s)
	if keep && !r.unordered {
		received.Payload = payload
	}
	return nil
}
