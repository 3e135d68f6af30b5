//go:build linux

package terminal

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

var kinds = []struct {
	name string
	open func() (Stream, error)
	end  error
}{
	{"terminal", func() (Stream, error) { return Open(Size{Columns: 101, Rows: 37}) }, unix.EIO},
	{"terminal by name", named, unix.EIO},
	{"pipe", Pipe, io.EOF},
}

// named is Open on a system that opens terminals by their names alone.
func named() (Stream, error) {
	s, err := openByName()
	if err == nil {
		err = prepare(s, Size{Columns: 101, Rows: 37}, makeRaw)
	}
	return s, err
}

func TestBytesPassAsTheyAre(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s, err := k.open()
			require.NoError(t, err)
			_, err = s.Writer.Write(every)
			require.NoError(t, err)
			got := make([]byte, len(every))
			_, err = io.ReadFull(s.Reader, got)
			require.NoError(t, err)
			require.Equal(t, every, got)
			require.NoError(t, s.Writer.Close())
			n, err := s.Reader.Read(got)
			require.Zero(t, n)
			require.ErrorIs(t, err, k.end)
			require.NoError(t, s.Reader.Close())
		})
	}
}

func TestReaderTakesDeadlinesAndWakesUp(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s, err := k.open()
			require.NoError(t, err)
			require.NoError(t, s.Reader.SetReadDeadline(time.Now().Add(time.Millisecond)))
			_, err = s.Reader.Read(make([]byte, 1))
			require.ErrorIs(t, err, os.ErrDeadlineExceeded)
			require.NoError(t, s.Reader.SetReadDeadline(time.Time{}))
			ended := make(chan error)
			go func() {
				_, err := s.Reader.Read(make([]byte, 1))
				ended <- err
			}()
			require.NoError(t, s.Reader.Close())
			require.ErrorIs(t, <-ended, os.ErrClosed)
			require.NoError(t, s.Writer.Close())
		})
	}
}

// A child that inherited O_NONBLOCK would lose output with EAGAIN.
func TestWriterBlocks(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			s, err := k.open()
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			flags, err := unix.FcntlInt(s.Writer.Fd(), unix.F_GETFL, 0)
			require.NoError(t, err)
			require.Zero(t, flags&unix.O_NONBLOCK)
		})
	}
}

// SO-27
func TestSizeIsSetAtOnce(t *testing.T) {
	s, err := kinds[0].open()
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	rows, columns, err := pty.Getsize(s.Writer)
	require.NoError(t, err)
	require.Equal(t, []int{37, 101}, []int{rows, columns})
}
