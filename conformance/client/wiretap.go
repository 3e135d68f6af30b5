package client

import (
	"context"

	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Heard is told what comes from a provider: a message of a method with its size on the wire, or the status of a failed
// call. It is called from several goroutines.
type Heard func(method string, size int, content []byte)

// wiretap hands everything that a connection brings to Heard.
type wiretap struct{ heard Heard }

type methodKey struct{}

// TagRPC remembers the method.
func (wiretap) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	return context.WithValue(ctx, methodKey{}, info.FullMethodName)
}

// HandleRPC looks at messages and at the ends of calls.
func (w wiretap) HandleRPC(ctx context.Context, s stats.RPCStats) {
	method, _ := ctx.Value(methodKey{}).(string)
	switch s := s.(type) {
	case *stats.InPayload:
		if m, ok := s.Payload.(proto.Message); ok {
			content, _ := proto.Marshal(m)
			w.heard(method, s.Length, content)
		}
	case *stats.End:
		if s.Error != nil {
			content, _ := proto.Marshal(status.Convert(s.Error).Proto())
			w.heard(method, len(content), content)
		}
	}
}

// TagConn does nothing.
func (wiretap) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn does nothing.
func (wiretap) HandleConn(context.Context, stats.ConnStats) {}
