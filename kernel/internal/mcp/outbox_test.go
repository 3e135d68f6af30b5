package mcp

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// writes notes what it is given at a time.
type writes []string

func (w *writes) Write(text []byte) (int, error) {
	*w = append(*w, string(text))
	return len(text), nil
}

// A client is woken once for a message that a pipe holds, however many pieces it has; a large one is not copied.
func TestMessagesAreWrittenAtOnce(t *testing.T) {
	large := strings.Repeat("x", mostJoined)
	for _, test := range []struct {
		name         string
		pieces, want []string
	}{
		{"one", []string{"a\n"}, []string{"a\n"}},
		{"several", []string{"a", "b", "\n"}, []string{"ab\n"}},
		{"large", []string{"a", large}, []string{"a", large}},
		{"nothing", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var m outgoing
			for _, piece := range test.pieces {
				m.text = append(m.text, []byte(piece))
			}
			var out writes
			_, err := m.write(&out, nil)
			require.NoError(t, err)
			require.Equal(t, test.want, []string(out))
		})
	}
	t.Run("the buffer is used again", func(t *testing.T) {
		var out writes
		whole, err := outgoing{text: net.Buffers{[]byte("first "), []byte("message\n")}}.write(&out, nil)
		require.NoError(t, err)
		_, err = outgoing{text: net.Buffers{[]byte("a"), []byte("b\n")}}.write(&out, whole[:0])
		require.NoError(t, err)
		require.Equal(t, writes{"first message\n", "ab\n"}, out)
	})
}
