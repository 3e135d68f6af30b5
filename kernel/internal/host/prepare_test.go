package host

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

// known is what the fixture says of itself.
func known(t *testing.T, s Spec) *Introduction {
	t.Helper()
	var said *Introduction
	s.Introduced = func(i *Introduction) { said = i }
	p, err := Start(t.Context(), s, nil)
	require.NoError(t, err)
	p.Close()
	return said
}

func prepare(t *testing.T, s Spec) *Provider {
	t.Helper()
	p, err := Prepare(s, nil)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// countedSpec is a spec whose starts are counted; before is what its process does first.
func countedSpec(t *testing.T, before string) (s Spec, starts func() int) {
	t.Helper()
	dir := t.TempDir()
	s = spec(hosttest.Good)
	s.Path = script(t, `touch "`+dir+`/$$"`+"\n"+before+"\n"+`exec "`+hosttest.Path()+`"`)
	return s, func() int {
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		return len(files)
	}
}

func TestPrepareStartsAtTheFirstCall(t *testing.T) {
	s, starts := countedSpec(t, "")
	s.Known = known(t, spec(hosttest.Good))
	p := prepare(t, s)
	require.Len(t, p.Operations(), len(s.Known.Tools.GetTools())+len(s.Known.Commands.GetCommands()))
	require.Equal(t, "1.2.3", p.Info().Producers[0].GetVersion())
	require.Equal(t, "greeting", p.Info().Config.GetAttributes()[0].GetName())
	require.Zero(t, p.Info().Timings.Total())
	require.Zero(t, starts())
	call := callOf(t, p, "echo", map[string]any{"text": "hi"})
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			reply := p.Invoke(t.Context(), call, func(*toolv1.ToolEvent) {})
			require.Equal(t, Completed, reply.Ending, reply.Error)
		})
	}
	calls.Wait()
	require.Equal(t, 1, starts(), "calls at once start it once")
	require.Positive(t, p.Info().Timings.Total())
}

func TestPrepareGoesByWhatItFinds(t *testing.T) {
	s := spec(hosttest.Good)
	s.Known = known(t, s)
	s.Known.Tools = proto.CloneOf(s.Known.Tools)
	s.Known.Tools.Tools = s.Known.Tools.Tools[:1]
	old := s.Known
	var said *Introduction
	s.Introduced = func(i *Introduction) { said = i }
	p := prepare(t, s)
	few := len(p.Operations())
	require.NoError(t, p.Ready(t.Context()))
	require.Greater(t, len(p.Operations()), few)
	require.False(t, said.Equal(old))
	require.True(t, said.Equal(known(t, spec(hosttest.Good))))
}

func TestPrepareRefusesWhatBreaksTheProtocol(t *testing.T) {
	s := spec(hosttest.Good)
	s.Known = &Introduction{Tools: &toolv1.GetSchemaResponse{Tools: []*toolv1.ToolSchema{{Name: "unkind"}}}}
	_, err := Prepare(s, nil)
	require.ErrorContains(t, err, "there is no kind")
}

func TestWarmStartsBeforeTheFirstCall(t *testing.T) {
	s, starts := countedSpec(t, "")
	s.Known = known(t, spec(hosttest.Good))
	p := prepare(t, s)
	p.Warm()
	p.Warm()
	require.NoError(t, p.Ready(t.Context()))
	require.Equal(t, 1, starts())
}

// A start that fails late says the same as one that fails early, and is not tried for ever.
func TestLateStartFails(t *testing.T) {
	s := spec(hosttest.Good)
	s.Known = known(t, s)
	s.Path = filepath.Join(t.TempDir(), "provider-x")
	p := prepare(t, s)
	for range crashLimit {
		var failed *StartError
		require.ErrorAs(t, p.Ready(t.Context()), &failed)
		require.Equal(t, StageLaunch, failed.Stage)
		require.ErrorContains(t, failed, "there is no file "+s.Path)
	}
	reply, _ := invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Crashed, reply.Ending)
	require.Contains(t, reply.Error.GetMessage(), "did not start 3 times")
	require.Contains(t, reply.Error.GetMessage(), "there is no file")
}

// Nobody waits for a start longer than he likes, and the others have it all the same.
func TestLateStartOutlivesWhoWanted(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	s, starts := countedSpec(t, `until [ -e "`+gate+`" ]; do sleep 0.01; done`)
	s.Known = known(t, spec(hosttest.Good))
	p := prepare(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Ready(ctx), context.DeadlineExceeded)
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	require.NoError(t, p.Ready(t.Context()))
	require.Equal(t, 1, starts())
}

func TestCloseStopsAStart(t *testing.T) {
	for _, mode := range []hosttest.Mode{hosttest.Silent, hosttest.Thinking, hosttest.Stuck} {
		t.Run(string(mode), func(t *testing.T) {
			s, starts := countedSpec(t, "")
			s.Env = hosttest.Env(mode)
			s.Known = known(t, spec(hosttest.Good))
			p := prepare(t, s)
			failed := make(chan error, 1)
			go func() { failed <- p.Ready(t.Context()) }()
			require.Eventually(t, func() bool { return starts() == 1 }, time.Minute, time.Millisecond)
			begin := time.Now()
			p.Close()
			require.Less(t, time.Since(begin), 30*time.Second)
			require.ErrorIs(t, <-failed, ErrClosed)
			require.ErrorIs(t, p.Ready(t.Context()), ErrClosed)
		})
	}
}
