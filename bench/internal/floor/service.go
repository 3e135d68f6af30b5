// Package floor is the smallest provider that does the work: a gRPC service with one unary and one streaming method over
// bytes, and the operations behind it. It checks, logs and asks nothing, so nothing that does can be faster.
package floor

import (
	"context"
	"errors"
	"io"
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

// stream answers "p"+command, which runs under a pty, and "r"+path, which reads a file in chunks of 256 KiB.
func (server) stream(in *wrapperspb.BytesValue, to grpc.ServerStream) error {
	send := func(b []byte) error { return to.SendMsg(&wrapperspb.BytesValue{Value: b}) }
	rest := string(in.Value[1:])
	switch in.Value[0] {
	case 'p':
		return RunPTY(to.Context(), rest, send)
	case 'r':
		f, err := os.Open(rest)
		if err != nil {
			return err
		}
		defer f.Close()
		buf := make([]byte, 256<<10)
		for {
			n, err := f.Read(buf)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = send(buf[:n])
			}
			if err != nil {
				return err
			}
		}
	}
	return errors.New("there is no such stream")
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
