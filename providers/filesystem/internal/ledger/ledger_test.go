package ledger

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLedger(t *testing.T) {
	var l Ledger
	_, ok := l.Last("s", "/f")
	require.False(t, ok)
	l.Saw("s", "/f", Stamp{SHA256: "1"})
	l.Saw("s", "/f", Stamp{SHA256: "2"})
	got, ok := l.Last("s", "/f")
	require.True(t, ok)
	require.Equal(t, "2", got.SHA256)
	_, ok = l.Last("other", "/f")
	require.False(t, ok, "one session does not read for another")
}

func TestLedgerForgetsTheOldest(t *testing.T) {
	var l Ledger
	for i := range remembered + 1 {
		l.Saw("s", strconv.Itoa(i), Stamp{})
	}
	_, ok := l.Last("s", "0")
	require.False(t, ok)
	_, ok = l.Last("s", "1")
	require.True(t, ok)
	require.Len(t, l.entries, remembered)
}

func TestStampSame(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name string
		a, b Stamp
		want bool
	}{
		{"same content", Stamp{SHA256: "x", ModTime: now}, Stamp{SHA256: "x"}, true},
		{"other content", Stamp{SHA256: "x"}, Stamp{SHA256: "y"}, false},
		{"large, untouched", Stamp{Size: 1, ModTime: now}, Stamp{SHA256: "x", Size: 1, ModTime: now}, true},
		{"large, touched", Stamp{Size: 1, ModTime: now}, Stamp{Size: 1, ModTime: now.Add(1)}, false},
		{"large, grown", Stamp{Size: 1, ModTime: now}, Stamp{Size: 2, ModTime: now}, false},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.a.Same(tt.b)) })
	}
}

func TestLocksExclude(t *testing.T) {
	var locks Locks
	var wg sync.WaitGroup
	inside, total := 0, 0
	for range 50 {
		wg.Go(func() {
			unlock, err := locks.Lock(t.Context(), "/f")
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			inside++ // the race detector watches too
			if inside != 1 {
				t.Errorf("%d inside", inside)
			}
			total++
			inside--
		})
	}
	wg.Wait()
	require.Equal(t, 50, total)
	require.Empty(t, locks.held, "a lock nobody wants is gone")
}

func TestLockGivesUp(t *testing.T) {
	var locks Locks
	unlock, err := locks.Lock(t.Context(), "/f")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = locks.Lock(ctx, "/f")
	require.ErrorIs(t, err, context.Canceled)
	other, err := locks.Lock(t.Context(), "/g")
	require.NoError(t, err)
	other()
	unlock()
	require.Empty(t, locks.held)
}

func TestMoved(t *testing.T) {
	var l Ledger
	l.Saw("s", "/d", Stamp{SHA256: "d"})
	l.Saw("s", "/d/f", Stamp{SHA256: "f"})
	l.Saw("t", "/d/f", Stamp{SHA256: "t"})
	l.Saw("s", "/dd", Stamp{SHA256: "dd"})
	l.Saw("s", "/e/old", Stamp{SHA256: "old"})
	l.Moved("/d", "/e")
	want := map[key]string{{"s", "/e"}: "d", {"s", "/e/f"}: "f", {"t", "/e/f"}: "t", {"s", "/dd"}: "dd"}
	require.Len(t, l.entries, len(want))
	require.Equal(t, len(want), l.order.Len())
	for k, sum := range want {
		got, ok := l.Last(k.session, k.path)
		require.True(t, ok, k)
		require.Equal(t, sum, got.SHA256)
	}
}

// Two that want the same locks in another order never wait for each other.
func TestLockAll(t *testing.T) {
	var locks Locks
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			paths := []string{"/a", "/b", "/c", "/a"}
			if i%2 == 0 {
				slices.Reverse(paths)
			}
			unlock, err := locks.LockAll(t.Context(), paths...)
			if err != nil {
				t.Error(err)
				return
			}
			unlock()
		})
	}
	wg.Wait()
	require.Empty(t, locks.held)

	end, err := locks.Lock(t.Context(), "/b")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = locks.LockAll(ctx, "/a", "/b")
	require.ErrorIs(t, err, context.Canceled)
	end()
	require.Empty(t, locks.held, "those it had got are free again")
}
