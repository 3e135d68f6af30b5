package sdk_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/sdk"
)

func TestReaderReadsAllThereIs(t *testing.T) {
	text, err := io.ReadAll(sdk.Reader(t.Context(), strings.NewReader("all there is")))
	require.NoError(t, err)
	require.Equal(t, "all there is", string(text))
}

func TestReaderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := sdk.Reader(ctx, strings.NewReader("text"))
	_, err := r.Read(make([]byte, 1))
	require.NoError(t, err)
	cancel()
	_, err = r.Read(make([]byte, 1))
	require.ErrorIs(t, err, context.Canceled)
}

func TestReaderWakesAReadThatWaits(t *testing.T) {
	for _, test := range []struct {
		name string
		pair func(t *testing.T) (io.Reader, io.WriteCloser)
	}{
		{"a pipe of the system", func(t *testing.T) (io.Reader, io.WriteCloser) {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			t.Cleanup(func() { r.Close() })
			return r, w
		}},
		{"a connection", func(t *testing.T) (io.Reader, io.WriteCloser) {
			a, b := net.Pipe()
			t.Cleanup(func() { a.Close() })
			return a, b
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			from, to := test.pair(t)
			defer to.Close()
			ctx, cancel := context.WithCancel(t.Context())
			r := sdk.Reader(ctx, from)
			go func() {
				_, _ = to.Write([]byte("x"))
				cancel() // the second Read waits by now, or will find it
			}()
			n, err := r.Read(make([]byte, 8))
			if err == nil { // else the cancellation came first
				require.Equal(t, 1, n)
				_, err = r.Read(make([]byte, 8))
			}
			require.ErrorIs(t, err, context.Canceled)

			// Whoever reads on has no deadline.
			go func() { _, _ = to.Write([]byte("later")) }()
			text := make([]byte, 5)
			_, err = io.ReadFull(from, text)
			require.NoError(t, err)
		})
	}
}

func TestReaderOfWhatCannotBeWoken(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	_, err := sdk.Reader(ctx, io.MultiReader()).Read(make([]byte, 1))
	require.True(t, errors.Is(err, context.DeadlineExceeded))
}
