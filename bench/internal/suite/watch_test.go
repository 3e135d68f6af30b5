package suite

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentco/agent/bench/internal/row"
	"github.com/agentco/agent/bench/internal/subject"
)

// deaf is a subject that heeds no cancel; stubborn says for how long.
type deaf struct {
	subject.Functions
	stubborn time.Duration
	closed   chan struct{}
}

func (d *deaf) Ended() bool { return false }
func (d *deaf) Close()      { close(d.closed) }

func (d *deaf) Batch(ctx context.Context, _ string, _ subject.Batch) (subject.Samples, error) {
	<-ctx.Done()
	select {
	case <-time.After(d.stubborn):
		return subject.Samples{Took: []float64{1}}, ctx.Err()
	case <-d.closed:
		return subject.Samples{}, nil
	}
}

func TestNothingIsWaitedForForEver(t *testing.T) {
	for _, test := range []struct {
		name     string
		stubborn time.Duration
		waited   time.Duration
		samples  int
		fails    string
	}{
		{"it heeds the cancel, and what it measured counts", 0, 61 * time.Second, 1, "over 1m1s"},
		{"it heeds nothing", time.Hour, 81 * time.Second, 0, "does not answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := &deaf{stubborn: test.stubborn, closed: make(chan struct{})}
				s := &Suite{Say: func(string) {}, subjects: []subject.Subject{x}}
				begun := time.Now()
				got, err := s.watched(t.Context(), x, "sleep", subject.Batch{Limit: time.Second}, mostOf(time.Second, 0))
				require.ErrorContains(t, err, test.fails)
				require.Equal(t, test.waited, time.Since(begun))
				require.Len(t, got.Took, test.samples)
				<-x.closed // it does not run on beside the next one
			})
		})
	}
}

func TestWhatABatchMayTake(t *testing.T) {
	require.Equal(t, 61*time.Second, mostOf(time.Second, 4<<10))
	require.Equal(t, 168*time.Second, mostOf(time.Second, 1<<30))
}

func TestEndedPeerIsStartedAnew(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "floormcp")
	out, err := exec.Command("go", "build", "-o", binary, "../../cmd/floormcp").CombinedOutput()
	require.NoError(t, err, string(out))
	p := &subject.Peer{Name: "mortal", Kind: "mcp", Command: []string{binary, "-memory"}, Ops: map[string]*subject.Op{
		"read": {Steps: []subject.Step{{Tool: "read", Args: map[string]any{"path": "${path}"}}}},
	}}
	vars := subject.Vars{"fx": dir, "home": dir, "path": filepath.Join(dir, "a"), "PATH": os.Getenv("PATH")}
	require.NoError(t, os.WriteFile(vars["path"], []byte("hello"), 0o644))
	first, err := p.Dial(t.Context(), vars)
	require.NoError(t, err)
	s := &Suite{Vars: vars, Peers: []*subject.Peer{p}, Say: func(string) {}, subjects: []subject.Subject{first}, rows: &row.Set{Skipped: map[string]string{}}}
	t.Cleanup(s.close)
	end := func(x subject.Subject) {
		require.NoError(t, syscall.Kill(x.PID(), syscall.SIGKILL))
		require.Eventually(t, x.(interface{ Ended() bool }).Ended, time.Minute, time.Millisecond)
	}
	b := subject.Batch{N: 1, Vars: vars}

	end(first)
	_, err = s.watched(t.Context(), first, "read", b, mostOf(0, 0))
	require.Error(t, err)
	require.Len(t, s.subjects, 1)
	second := s.subjects[0]
	require.NotEqual(t, first.PID(), second.PID())
	got, err := s.watched(t.Context(), second, "read", b, mostOf(0, 0))
	require.NoError(t, err)
	require.Equal(t, "hello", got.Text)

	require.NoError(t, os.Remove(binary))
	end(second)
	_, err = s.watched(t.Context(), second, "read", b, mostOf(0, 0))
	require.Error(t, err)
	require.Empty(t, s.subjects)
	require.Contains(t, s.rows.Skipped["mortal"], "did not start again")
}
