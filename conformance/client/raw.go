package client

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// SendRaw sends bytes as the request of a method, whatever they are, and returns the status of the answer.
func SendRaw(ctx context.Context, conn *grpc.ClientConn, method string, request []byte) error {
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, grpc.ForceCodecV2(rawCodec{}))
	if err != nil {
		return err
	}
	if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		var answer []byte
		if err := stream.RecvMsg(&answer); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// rawCodec passes bytes through under the name of the real one.
type rawCodec struct{}

var _ encoding.CodecV2 = rawCodec{}

// Marshal takes a []byte.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("%T is not bytes", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

// Unmarshal fills a *[]byte.
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("%T takes no bytes", v)
	}
	var err error
	*b, err = io.ReadAll(data.Reader())
	return err
}

// Name is the name of the protobuf codec.
func (rawCodec) Name() string { return "proto" }
