package sdk

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nobody who has something to say waits for somebody who reads it, and who reads it later learns what is missing.
func TestSpillIntoAFullPipe(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	s := &spill{out: out}
	line := strings.Repeat("x", 1023)
	const lines = 4 * spillBytes / 1024 // twice what waits and is being written
	for range lines {
		s.printf("%s", line)
	}
	s.mu.Lock()
	require.Positive(t, s.dropped)
	s.mu.Unlock()
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(in)
		read <- string(text)
	}()
	s.flush()
	s.printf("the last one")
	s.flush()
	require.NoError(t, out.Close())
	text := <-read
	require.Regexp(t, `\n\d+ lines more were dropped, since nobody reads them\n`, text)
	require.True(t, strings.HasSuffix(text, "the last one\n"))
	require.Less(t, strings.Count(text, line), lines)
	require.GreaterOrEqual(t, strings.Count(text, line), spillBytes/1024)
	require.NoError(t, in.Close())
}

// A log that neither the kernel nor standard error takes holds up no call.
func TestAFloodOfLogEntriesHoldsUpNobody(t *testing.T) {
	in, out, err := os.Pipe()
	require.NoError(t, err)
	c := newCallbacks(nil)
	c.spill.out = out
	for range 3 * logBacklog {
		c.logger("session", "test").Info(strings.Repeat("x", 10_000))
	}
	require.NoError(t, in.Close()) // which ends the write that waits
	require.NoError(t, c.close())
	c.spill.flush()
	require.NoError(t, out.Close())
}
