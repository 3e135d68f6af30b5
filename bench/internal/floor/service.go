// Package floor is the smallest provider that does the work: a gRPC service with one unary and one streaming method over
// bytes, and the operations behind it. It checks, logs and asks nothing, so nothing that does can be faster.
package floor

import (
	"context"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type server struct{}

type handler interface {
	call(context.Context, *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error)
}

// call answers "n", which does nothing, and "r"+path, which reads a file.
func (server) call(_ context.Context, in *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
	if in.Value[0] != 'r' {
		return &wrapperspb.BytesValue{}, nil
	}
	b, err := os.ReadFile(string(in.Value[1:]))
	return &wrapperspb.BytesValue{Value: b}, err
}

// stream answers "n" with an empty message, "r"+path with the file in one, as a call of ours ends with one result, and
// "p"+command, which runs under a pty, with what it prints.
func (s server) stream(in *wrapperspb.BytesValue, to grpc.ServerStream) error {
	if in.Value[0] == 'p' {
		return RunPTY(to.Context(), string(in.Value[1:]), func(b []byte) error { return to.SendMsg(&wrapperspb.BytesValue{Value: b}) })
	}
	out, err := s.call(to.Context(), in)
	if err != nil {
		return err
	}
	return to.SendMsg(out)
}

var service = grpc.ServiceDesc{
	ServiceName: "floor.Floor",
	HandlerType: (*handler)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Call", Handler: func(srv any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		in := new(wrapperspb.BytesValue)
		if err := decode(in); err != nil {
			return nil, err
		}
		return srv.(server).call(ctx, in)
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Stream", ServerStreams: true, Handler: func(srv any, to grpc.ServerStream) error {
		in := new(wrapperspb.BytesValue)
		if err := to.RecvMsg(in); err != nil {
			return err
		}
		return srv.(server).stream(in, to)
	}}},
}
