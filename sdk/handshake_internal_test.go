package sdk

import (
	"bufio"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// What others print while go-plugin writes its handshake is no part of it, on a line of its own or not.
func TestHandshakeBesideOtherLines(t *testing.T) {
	kernel, toKernel, err := os.Pipe()
	require.NoError(t, err)
	rest, toRest, err := os.Pipe()
	require.NoError(t, err)
	h, err := newHandshake(toKernel, toRest)
	require.NoError(t, err)
	certificate := "CERTIFICATE"
	h.certificate.Store(&certificate)
	for _, text := range []string{"before\n", "1|2|unix|another\n", "beside ", "1|1|unix|/tmp/plugin|grpc||true\n", "1|1|unix|after\n", "behind"} {
		_, err := h.out.WriteString(text)
		require.NoError(t, err)
	}
	require.NoError(t, h.out.Close())
	said, err := bufio.NewReader(kernel).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "1|1|unix|/tmp/plugin|grpc|CERTIFICATE|true\n", said)
	printed := make([]byte, len("before\n1|2|unix|another\nbeside 1|1|unix|after\nbehind"))
	_, err = io.ReadFull(rest, printed)
	require.NoError(t, err)
	require.Equal(t, "before\n1|2|unix|another\nbeside 1|1|unix|after\nbehind", string(printed))
	for _, f := range []*os.File{kernel, toKernel, rest, toRest} {
		require.NoError(t, f.Close())
	}
}
