package buffer

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTake(t *testing.T) {
	for _, size := range []int{0, 1, least - 1, least, least + 1, most, most + 1, 8 << 20} {
		for range 3 {
			b := Take(size)
			require.Empty(t, b)
			require.GreaterOrEqual(t, cap(b), size)
			require.LessOrEqual(t, cap(b), max(2*size, 8))
			Give(append(b, make([]byte, size)...))
		}
	}
}

// A small one does not get, and keep, the room of a large one.
func TestTakeIsNotWasteful(t *testing.T) {
	Give(make([]byte, most))
	require.LessOrEqual(t, cap(Take(least)), 2*least)
}

func TestPoison(t *testing.T) {
	Poison = true
	t.Cleanup(func() { Poison = false })
	b := []byte("still read")[:5]
	Give(b)
	require.Equal(t, bytes.Repeat([]byte{0xdb}, 5), b)
}
