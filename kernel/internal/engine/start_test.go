package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/catalogue"
	"github.com/agentco/agent/kernel/internal/gate"
	"github.com/agentco/agent/kernel/internal/host/hosttest"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

// script is a provider whose starts are counted. What it becomes is the fixture in the mode that the file mode holds.
type script struct {
	t    *testing.T
	dir  string
	spec ProviderSpec
}

func newScript(t *testing.T) *script {
	t.Helper()
	s := &script{t: t, dir: t.TempDir()}
	path := filepath.Join(s.dir, "provider")
	s.become(hosttest.Good)
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `#!/bin/sh
touch %[1]q/start.$$
HOSTTEST_MODE=$(cat %[1]q/mode) exec %[2]q
`, s.dir, hosttest.Path()), 0o755))
	s.spec = ProviderSpec{Name: "fixture", Path: path}
	return s
}

func (s *script) become(m hosttest.Mode) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, "mode"), []byte(m), 0o600))
}

func (s *script) starts() int {
	found, err := filepath.Glob(filepath.Join(s.dir, "start.*"))
	require.NoError(s.t, err)
	return len(found)
}

// known is a catalogue that has the fixture in it, in which mode ever it was.
func known(t *testing.T, s *script) *catalogue.Catalogue {
	t.Helper()
	c := catalogue.In(t.TempDir())
	e, err := Open(t.Context(), Options{Providers: []ProviderSpec{s.spec}, Catalogue: c, Lazy: true})
	require.NoError(t, err)
	require.Equal(t, 1, s.starts(), "what is not known is started at once")
	e.Close()
	return c
}

func lazily(t *testing.T, s *script, c *catalogue.Catalogue, session ...SessionOptions) *Session {
	t.Helper()
	return open(t, Options{Providers: []ProviderSpec{s.spec}, Catalogue: c, Lazy: true}, session...)
}

func TestLazyOpenStartsNothing(t *testing.T) {
	s := newScript(t)
	c := known(t, s)
	session := lazily(t, s, c)
	eager := open(t, Options{Providers: []ProviderSpec{s.spec}})
	require.Equal(t, len(eager.Operations()), len(session.Operations()))
	require.Equal(t, eager.Engine().Providers()[0].Config.String(), session.Engine().Providers()[0].Config.String())
	_, err := session.Lookup("fixture", "ecco")
	require.ErrorContains(t, err, `did you mean "fixture.echo"?`)
	o := session.Invoke(t.Context(), request(t, session, "write", map[string]any{"path": 1}), nil)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, o.Error.GetCategory())
	_, _, failed := session.Decide(request(t, session, "echo", map[string]any{"text": "hi"}))
	require.Nil(t, failed)
	require.Equal(t, 2, s.starts(), "one for the catalogue, one for the engine that does not wait")

	var calls []Request
	for range 8 {
		calls = append(calls, request(t, session, "echo", map[string]any{"text": "hi"}))
	}
	for _, o := range session.Turn(t.Context(), calls, func(int, *toolv1.ToolEvent) {}) {
		require.Equal(t, Completed, o.Status, o.Error)
	}
	require.Equal(t, 3, s.starts())
}

func TestWarmAndStart(t *testing.T) {
	s := newScript(t)
	session := lazily(t, s, known(t, s))
	session.Engine().Warm()
	require.NoError(t, session.Engine().Start(t.Context(), "another"))
	require.NoError(t, session.Engine().Start(t.Context()))
	require.Positive(t, session.Engine().Providers()[0].Timings.Total())
	require.NoError(t, session.Engine().Start(t.Context(), "fixture"))
	require.Equal(t, 2, s.starts())
}

// A call is judged by what the provider says when it is started, and not by what it once said.
func TestWhatIsRememberedApprovesNothing(t *testing.T) {
	s := newScript(t)
	s.become(hosttest.Harmless)
	c := known(t, s)
	s.become(hosttest.Good)
	session := lazily(t, s, c)
	op, err := session.Lookup("fixture", "write")
	require.NoError(t, err)
	require.Equal(t, toolv1.ToolKind_TOOL_KIND_DATA_SOURCE, op.Kind, "so it was")
	path := filepath.Join(t.TempDir(), "f")
	o := session.Invoke(t.Context(), request(t, session, "write", map[string]any{"path": path, "content": "hi"}), nil)
	require.Equal(t, Denied, o.Status, o.Error)
	require.NoFileExists(t, path)
	require.Equal(t, toolv1.ToolKind_TOOL_KIND_RESOURCE, request(t, session, "write", nil).Operation.Kind, "so it is")

	again := lazily(t, s, c)
	require.Equal(t, toolv1.ToolKind_TOOL_KIND_RESOURCE, request(t, again, "write", nil).Operation.Kind, "and so it is remembered")
	// An operation that was found before the start is not taken at its word after it.
	o = session.Invoke(t.Context(), Request{Operation: op, Arguments: request(t, session, "write", map[string]any{"path": path, "content": ""}).Arguments}, nil)
	require.Equal(t, Denied, o.Status, o.Error)
}

func TestWhatIsRememberedMayBeGone(t *testing.T) {
	s := newScript(t)
	c := known(t, s)
	s.become(hosttest.ToolsOnly)
	session := lazily(t, s, c)
	hello := request(t, session, "hello", nil)
	o := session.Invoke(t.Context(), hello, nil)
	require.Equal(t, Failed, o.Status)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, o.Error.GetCategory())
	_, failed := session.Explain(t.Context(), hello)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, failed.GetCategory())
	_, err := session.LookupCommand("hello")
	require.Error(t, err)
}

func TestLateStartFailsAtTheCall(t *testing.T) {
	s := newScript(t)
	c := known(t, s)
	s.become(hosttest.Dying)
	session := lazily(t, s, c, SessionOptions{Approver: gate.ApproveAll("--yes")})
	echo := request(t, session, "echo", map[string]any{"text": "hi"})
	o := session.Invoke(t.Context(), echo, nil)
	require.Equal(t, Crashed, o.Status)
	require.Contains(t, o.Error.GetMessage(), "fixture.echo was not run: provider \"fixture\": ")
	require.Contains(t, o.Error.GetMessage(), "cannot find the moon")
	failures := Failures(session.Engine().Start(t.Context()))
	require.Len(t, failures, 1)
	require.Equal(t, StageHandshake, failures[0].Stage)
	s.become(hosttest.Good)
	require.Equal(t, Completed, session.Invoke(t.Context(), echo, nil).Status)
}

func TestLateStartReadsItsConfiguration(t *testing.T) {
	s := newScript(t)
	c := known(t, s)
	s.spec.Config = func(*configv1.ConfigSchema) (*structpb.Struct, error) {
		return structpb.NewStruct(map[string]any{"greeting": "good day"})
	}
	session := lazily(t, s, c)
	o := session.Invoke(t.Context(), request(t, session, "hello", map[string]any{"name": "Ann"}), nil)
	require.Equal(t, "good day Ann", o.Result.AsMap()["greeting"])
}

func TestCloseAndCancelDuringALateStart(t *testing.T) {
	for _, name := range []string{"close", "cancel"} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			c := known(t, s)
			s.become(hosttest.Silent)
			e, err := Open(t.Context(), Options{Providers: []ProviderSpec{s.spec}, Catalogue: c, Lazy: true})
			require.NoError(t, err)
			defer e.Close()
			session := e.Session(SessionOptions{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			outcomes := make(chan Outcome, 1)
			echo := request(t, session, "echo", map[string]any{"text": "hi"})
			go func() { outcomes <- session.Invoke(ctx, echo, nil) }()
			require.Eventually(t, func() bool { return s.starts() == 2 }, time.Minute, time.Millisecond)
			if name == "close" {
				e.Close()
			} else {
				cancel()
			}
			o := <-outcomes
			require.Equal(t, Cancelled, o.Status, o.Error)
			require.Contains(t, o.Error.GetMessage(), "nothing has happened")
		})
	}
}

// A binary that takes the place of the one that was looked at must not be remembered under the checksum of the other.
func TestAReplacedBinaryIsNotRemembered(t *testing.T) {
	s := newScript(t)
	c := catalogue.In(t.TempDir())
	before, err := c.Identify(s.spec.Path)
	require.NoError(t, err)
	s.spec.Config = func(*configv1.ConfigSchema) (*structpb.Struct, error) { return &structpb.Struct{}, nil }
	m := memory{catalogue: c, spec: s.spec}
	require.Nil(t, m.recall())
	other := newScript(t)
	require.NoError(t, os.Rename(other.spec.Path, s.spec.Path))
	session := open(t, Options{Providers: []ProviderSpec{s.spec}, Catalogue: catalogue.In(t.TempDir())})
	require.NotEmpty(t, session.Operations())
	require.NoError(t, m.keep(m.catalogue.Find(before.Checksum)))
	require.Nil(t, c.Find(before.Checksum))
}

func TestAChecksumIsTheKey(t *testing.T) {
	s := newScript(t)
	c := catalogue.In(t.TempDir())
	binary, err := c.Identify(s.spec.Path)
	require.NoError(t, err)
	s.spec.Checksum = binary.Checksum
	open(t, Options{Providers: []ProviderSpec{s.spec}, Catalogue: c})
	require.NotNil(t, c.Find(binary.Checksum))
	require.NoError(t, os.WriteFile(s.spec.Path, []byte("#!/bin/sh\necho fake\n"), 0o755))
	session := lazily(t, s, c)
	o := session.Invoke(t.Context(), request(t, session, "echo", map[string]any{"text": "hi"}), nil)
	require.Equal(t, Crashed, o.Status)
	require.Contains(t, o.Error.GetMessage(), "checksum mismatch")
}

// A provider that cannot be configured has not crashed, and is not worth another attempt.
func TestCallOfAProviderThatCannotBeConfigured(t *testing.T) {
	s := newScript(t)
	c := known(t, s)
	s.spec.Config = func(*configv1.ConfigSchema) (*structpb.Struct, error) {
		return nil, fmt.Errorf("agent.hcl:2:3: Missing required argument")
	}
	e, _ := Open(t.Context(), Options{Providers: []ProviderSpec{s.spec}, Catalogue: c, Lazy: true})
	t.Cleanup(e.Close)
	session := e.Session(SessionOptions{})
	for range 5 {
		o := session.Invoke(t.Context(), request(t, session, "echo", map[string]any{"text": "hi"}), nil)
		require.Equal(t, Failed, o.Status, "%v", o.Error)
		require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED, o.Error.GetCategory())
		require.False(t, o.Error.GetRetryable())
		require.Contains(t, o.Error.GetMessage(), "agent.hcl:2:3: Missing required argument")
		require.Contains(t, o.Error.GetMessage(), "configuration")
	}
}
