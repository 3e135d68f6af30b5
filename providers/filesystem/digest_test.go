package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Wherever two contents begin to differ, the hash of each is its own.
func TestDigest(t *testing.T) {
	const all = 3*stretch + 100
	body := bytes.Repeat([]byte("0123456789\n"), all/11+1)[:all]
	for _, size := range []int{0, 1, stretch - 1, stretch, stretch + 1, 2 * stretch, 3 * stretch, all} {
		d := newDigest(body[:size])
		require.Equal(t, sum(body[:size]), d.sum())
		for _, next := range []int{0, 1, stretch - 1, stretch, stretch + 1, 2*stretch - 1, 2 * stretch, 2*stretch + 1, 3 * stretch, all} {
			same := body[:next]
			require.Equal(t, sum(same), d.next(same)(), "%d bytes of %d", next, size)
			for _, at := range []int{0, stretch - 1, stretch, 2*stretch - 1, 2 * stretch, next - 1} {
				if at < 0 || at >= next {
					continue
				}
				other := bytes.Clone(same)
				other[at] = 'x'
				require.Equal(t, sum(other), d.next(other)(), "%d bytes of %d, another at %d", next, size, at)
				longer := bytes.Join([][]byte{same[:at], []byte("more"), same[at:]}, nil)
				require.Equal(t, sum(longer), d.next(longer)(), "%d bytes of %d, more at %d", next, size, at)
			}
		}
	}
	var none *digest
	require.Equal(t, sum(body), none.next(body)())
}

// What they have in common is not hashed twice.
func TestDigestSkips(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789\n"), stretch)
	other := bytes.Clone(body)
	other[5*stretch+1] = 'x'
	d := newDigest(body)
	d.sum()
	_, rest := d.skip(other)
	require.Len(t, rest, len(body)-5*stretch)
	_, rest = d.skip(body)
	require.Len(t, rest, stretch)
	other[0] = 'x'
	_, rest = d.skip(other)
	require.Len(t, rest, len(body))
}

// Also where one of the two contents is of a size that memory is used again for, and the other is not.
func TestHashesOfAnEdit(t *testing.T) {
	w := newWorld(t, args{"require_read_before_write": false})
	for _, size := range []int{60 << 10, 64 << 10, 2<<20 - 40, 2 << 20} {
		for _, place := range []string{"first\n", "last\n"} {
			before := "first\n" + strings.Repeat("a line\n", size/7-2) + "last\n"
			w.put("root/f", before)
			call := args{"path": "f", "old_string": place, "new_string": strings.Repeat("longer\n", 20)}
			_, err := w.Preview(t.Context(), "edit_file", call)
			require.NoError(t, err)
			got := w.must("edit_file", call)
			require.Equal(t, sum([]byte(before)), got["sha256_before"])
			require.Equal(t, sum([]byte(w.bytes("root/f"))), got["sha256_after"])
			w.must("undo", args{"path": "f"})
			require.Equal(t, before, w.bytes("root/f"))
		}
	}
}
