package runner

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRelayKeepsOrderAndBytes(t *testing.T) {
	r := newRelay()
	var want [2]bytes.Buffer
	var order, wantOrder strings.Builder
	go func() {
		defer r.close()
		for i := range 20_000 {
			s := Stream(i * 7 % 3 % 2)
			piece := bytes.Repeat([]byte{byte('a' + i%26)}, i%97+1)
			want[s].Write(piece)
			for range piece {
				wantOrder.WriteByte(byte('0' + s))
			}
			r.put(s, piece)
		}
	}()
	var got [2]bytes.Buffer
	r.pump(func(s Stream, p []byte) {
		require.LessOrEqual(t, len(p), chunkSize)
		require.NotEmpty(t, p)
		got[s].Write(p)
		for range p {
			order.WriteByte(byte('0' + s))
		}
	})
	require.Equal(t, want[0].String(), got[0].String())
	require.Equal(t, want[1].String(), got[1].String())
	require.Equal(t, wantOrder.String(), order.String())
}

func TestRelayGathersWhatComesMeanwhile(t *testing.T) {
	r := newRelay()
	first, proceed := make(chan struct{}), make(chan struct{})
	var sizes []int
	var done sync.WaitGroup
	done.Go(func() {
		r.pump(func(_ Stream, p []byte) {
			if sizes = append(sizes, len(p)); len(sizes) == 1 {
				close(first)
				<-proceed
			}
		})
	})
	r.put(Stdout, []byte("x"))
	<-first // the first byte goes out by itself
	for range 100 {
		r.put(Stdout, make([]byte, 1000))
	}
	r.close()
	close(proceed)
	done.Wait()
	require.Equal(t, []int{1, chunkSize, chunkSize, chunkSize, 100_000 - 3*chunkSize}, sizes)
}

func TestRelayHoldsReadersBack(t *testing.T) {
	r := newRelay()
	blocked, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer r.close()
		for {
			select {
			case <-stop:
				return
			default:
				r.put(Stdout, make([]byte, chunkSize))
			}
		}
	}()
	var delivered int
	r.pump(func(_ Stream, p []byte) {
		if delivered == 0 {
			// While this one is stuck, the other room fills to the brim and no further.
			go func() {
				for r.pending() < roomSize {
				}
				close(blocked)
			}()
			<-blocked
			require.Equal(t, roomSize, r.pending())
			close(stop)
		}
		delivered += len(p)
	})
	require.LessOrEqual(t, delivered, 2*roomSize+2*chunkSize)
}
