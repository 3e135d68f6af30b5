package host

import (
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
)

func testAnnouncer(t *testing.T) (*announcer, <-chan net.Listener) {
	t.Helper()
	announced := make(chan net.Listener, 100)
	dir, number := t.TempDir(), atomic.Int32{}
	return &announcer{server: grpc.NewServer(), accept: func(uint32) (net.Listener, error) {
		listener, err := net.Listen("unix", filepath.Join(dir, strconv.Itoa(int(number.Add(1)))))
		if err == nil {
			announced <- listener
		}
		return listener, err
	}}, announced
}

func TestAnnouncerOfShortCalls(t *testing.T) {
	a, _ := testAnnouncer(t)
	var calls sync.WaitGroup
	for range 1000 {
		calls.Go(func() { a.begin()() })
	}
	calls.Wait()
	a.close()
	require.Nil(t, a.wake)
}

func TestAnnouncerFallsSilentOnceConnected(t *testing.T) {
	a, announced := testAnnouncer(t)
	end := a.begin()
	listener := <-announced
	conn, err := net.Dial("unix", listener.Addr().String())
	require.NoError(t, err)
	connected := func() int {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.connections
	}
	require.Eventually(t, func() bool { return connected() == 1 }, 10*time.Second, time.Millisecond)
	require.True(t, a.reachable())
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return connected() == 0 }, 10*time.Second, time.Millisecond)
	end()
	a.close()
	require.False(t, a.reachable())
	_, err = net.Dial("unix", listener.Addr().String())
	require.Error(t, err, "nothing listens any more")
}

func TestAnnouncerDropsOldListeners(t *testing.T) {
	a, announced := testAnnouncer(t)
	a.announce()
	first := <-announced
	a.open[0].at = a.open[0].at.Add(-announceLife)
	a.announce()
	require.Len(t, a.open, 1)
	_, err := net.Dial("unix", first.Addr().String())
	require.Error(t, err)
	a.close()
}

func TestAnnouncerWithoutBroker(t *testing.T) {
	a := &announcer{server: grpc.NewServer(), accept: func(uint32) (net.Listener, error) { return nil, errors.New("broker closed") }}
	end := a.begin()
	require.Eventually(t, func() bool { return !a.reachable() }, 10*time.Second, time.Millisecond)
	end()
	a.close()
}
