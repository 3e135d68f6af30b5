package sdk_test

import (
	"bytes"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func object(t require.TestingT, m map[string]any) *structpb.Struct {
	s, err := structpb.NewStruct(m)
	require.NoError(t, err)
	return s
}

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// gone reports whether no process has the number.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	return err != nil || p.Signal(syscall.Signal(0)) != nil
}

// syncBuffer is a buffer that one side writes while the other reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// orphanT lets the helpers of tests run in a process that is no test.
type orphanT struct{ testing.TB }

func (*orphanT) Errorf(format string, args ...any) { panic(format) }
func (*orphanT) FailNow()                          { os.Exit(1) }
func (*orphanT) Helper()                           {}
func (*orphanT) Cleanup(func())                    {}
