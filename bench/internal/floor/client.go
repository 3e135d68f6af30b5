package floor

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Client calls the service. Its methods may be called from many goroutines.
type Client struct{ conn grpc.ClientConnInterface }

// Call makes a unary call.
func (c Client) Call(ctx context.Context, request string) ([]byte, error) {
	out := new(wrapperspb.BytesValue)
	err := c.conn.Invoke(ctx, "/floor.Floor/Call", &wrapperspb.BytesValue{Value: []byte(request)}, out)
	return out.Value, err
}

// Stream makes a streaming call, and gives each message to each. It returns at its end; a ctx that ends cancels it.
func (c Client) Stream(ctx context.Context, request string, each func([]byte)) error {
	s, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/floor.Floor/Stream")
	if err != nil {
		return err
	}
	if err := s.SendMsg(&wrapperspb.BytesValue{Value: []byte(request)}); err != nil {
		return err
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	for {
		m := new(wrapperspb.BytesValue)
		if err := s.RecvMsg(m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		each(m.Value)
	}
}
