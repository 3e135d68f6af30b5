package lineedit

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The rest of a key that comes at the very moment at which it would be late is no letters behind an Escape.
func TestInputIsThereBeforeItIsLate(t *testing.T) {
	for range 20 { // a select with two that are ready chooses one by chance
		synctest.Test(t, func(t *testing.T) {
			in, out, err := os.Pipe()
			require.NoError(t, err)
			defer in.Close()
			defer out.Close()
			e := &Editor{in: in, slowest: escapeTime, chunks: make(chan chunk, 1), waiting: true, pending: []byte("\x1b")}
			e.line = &line{editor: e, buffer: buffer{text: "ab", at: 2}}
			go func() {
				time.Sleep(escapeTime)
				e.chunks <- chunk{data: []byte("[Dx")}
			}()
			for e.line.text == "ab" {
				_, err := e.step(t.Context(), nil)
				require.NoError(t, err)
			}
			require.Equal(t, "axb", e.line.text)
		})
	}
}

// What nobody has read yet is there too.
func TestEscapeIsLate(t *testing.T) {
	for name, typed := range map[string]string{"input": "[D", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			in, out, err := os.Pipe()
			require.NoError(t, err)
			defer in.Close()
			defer out.Close()
			e := &Editor{in: in, slowest: escapeTime, chunks: make(chan chunk, 1), waiting: true}
			_, err = out.WriteString(typed)
			require.NoError(t, err)
			e.chunks <- chunk{err: os.ErrDeadlineExceeded} // of a reader that has not come to read
			require.Equal(t, typed, string(e.stopAsking().data))
			require.False(t, e.waiting)
		})
	}
}
