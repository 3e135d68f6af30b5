package serve

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzParseOrder(f *testing.F) {
	f.Add(Order{Path: "/bin/sh", Args: []string{"sh", "-c", ""}, Env: []string{"A=\xff\n"}}.Encode())
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := parseOrder(b)
		if err != nil {
			return
		}
		again, err := parseOrder(o.Encode())
		require.NoError(t, err)
		require.Equal(t, o, again)
	})
}

func TestReply(t *testing.T) {
	for _, value := range []int64{0, 1, 255, 256, 1 << 22, -1} {
		got, err := ReadReply(bytes.NewReader(Reply{ReplyExited, value}.encode()))
		require.NoError(t, err)
		require.Equal(t, Reply{ReplyExited, value}, got)
	}
	_, err := ReadReply(bytes.NewReader(Reply{}.encode()[1:]))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestHeader(t *testing.T) {
	kind, size := parseHeader(Header(RequestStart, 70000))
	require.Equal(t, RequestStart, kind)
	require.Equal(t, 70000, size)
}
