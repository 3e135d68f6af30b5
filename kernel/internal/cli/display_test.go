package cli

import (
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/kernel/internal/paint"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

// Where stdout is a pipe, what reads it may write to the terminal of the status line: `agent invoke … | cat`.
func TestStatusKeepsAwayFromTheNextProgramOfAPipeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, readOut := written(t)
		err, readErr := written(t)
		d := &display{out: screen{file: out}, err: screen{file: err, terminal: true, live: true}, output: [2]*paint.Output{{}, {Live: true}}}
		d.SetStatus("working")
		require.Contains(t, readErr(), "working")
		d.Chunk(&toolv1.ToolEvent_OutputChunk{Stream: toolv1.OutputStream_OUTPUT_STREAM_STDOUT, Data: []byte("hi\n")})
		require.Equal(t, "hi\n", readOut())
		require.Equal(t, "\r\x1b[K", readErr(), "the status is gone when the line may be shown, and is not back at once")
		time.Sleep(2 * relay)
		synctest.Wait()
		require.Contains(t, readErr(), "working")
		d.SetStatus("")
		synctest.Wait()
	})
}

// written returns a file for a screen, and what reads what was written to it since.
func written(t *testing.T) (in *os.File, read func() string) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "screen")
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	seen := int64(0)
	return file, func() string {
		all, err := io.ReadAll(io.NewSectionReader(file, seen, 1<<20))
		require.NoError(t, err)
		seen += int64(len(all))
		return string(all)
	}
}

// Whoever is being asked can see what, whatever other calls have to say meanwhile.
func TestQuestionStaysBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err, read := written(t)
		d := &display{out: screen{file: err, terminal: true, live: true}, err: screen{file: err, terminal: true, live: true}}
		d.output[0] = &paint.Output{Live: true}
		d.output[1] = d.output[0]
		d.SetStatus("working")
		read()
		d.Prompt("It is long.\nGo ahead? ")
		require.Equal(t, "\r\x1b[KIt is long.\nGo ahead? ", read())
		d.SetStatus("another")
		time.Sleep(2 * redraw)
		synctest.Wait()
		require.Empty(t, read(), "no status in its place")
		d.Note("news")
		require.Equal(t, "\r\x1b[Knews\nGo ahead? ", read())
		d.Answered(true)
		time.Sleep(2 * redraw)
		synctest.Wait()
		require.Contains(t, read(), "another")
		d.Prompt("And this? ")
		read()
		d.Answered(false)
		require.Equal(t, "\n", read())
		d.SetStatus("")
		synctest.Wait()
	})
}

// A terminal that can do nothing has a question above what is said meanwhile.
func TestQuestionOnADumbTerminal(t *testing.T) {
	err, read := written(t)
	d := &display{err: screen{file: err, terminal: true}, output: [2]*paint.Output{{}, {}}}
	d.Prompt("Go ahead? ")
	d.Note("news")
	d.Note("more")
	require.Equal(t, "Go ahead? \nnews\nmore\n", read())
	d.Answered(true)
	require.Empty(t, read())
}
