package host

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentco/agent/kernel/internal/host/hosttest"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	configv1 "github.com/agentco/agent/proto/pluggableharness/config/v1"
	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestMain(m *testing.M) {
	hosttest.Main(m, func() (string, func()) { return "kernel", fakeKernel })
}

// testLog is a log that a test can read while it is written.
type testLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *testLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *testLog) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug - 4}))
}

func spec(m hosttest.Mode) Spec {
	return Spec{Name: "fixture", Path: hosttest.Path(), Env: hosttest.Env(m)}
}

// fixed is a Configure for a configuration that is known beforehand.
func fixed(config map[string]any) Configure {
	return func(*configv1.ConfigSchema) (*structpb.Struct, error) { return structpb.NewStruct(config) }
}

func start(t *testing.T, s Spec) *Provider {
	t.Helper()
	p, err := Start(t.Context(), s, nil)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func callOf(t *testing.T, p *Provider, name string, args map[string]any) Call {
	t.Helper()
	s, err := structpb.NewStruct(args)
	require.NoError(t, err)
	for _, op := range p.Operations() {
		if op.Name == name {
			return Call{ID: ulid.Make().String(), Operation: op, Arguments: s, Context: &commonv1.CallContext{WorkingDirectory: t.TempDir()}}
		}
	}
	t.Fatalf("no operation %q", name)
	return Call{}
}

func invoke(t *testing.T, p *Provider, name string, args map[string]any) (Reply, *hosttest.Recorder) {
	t.Helper()
	r := hosttest.NewRecorder()
	return p.Invoke(t.Context(), callOf(t, p, name, args), r.Show), r
}

func TestStartDiscoversBothCategories(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	info := p.Info()
	require.Len(t, info.Producers, 2)
	require.Equal(t, "1.2.3", info.Producers[0].GetVersion())
	require.Equal(t, "greeting", info.Config.GetAttributes()[0].GetName())
	require.Positive(t, info.Timings.Exec)
	require.Positive(t, info.Timings.Handshake)
	require.Positive(t, info.Timings.Schema)
	require.Positive(t, info.Timings.Configure)
	hello := callOf(t, p, "hello", nil).Operation
	require.True(t, hello.IsCommand())
	require.Equal(t, "/hello", hello.String())
	require.Equal(t, "fixture.echo", callOf(t, p, "echo", nil).Operation.String())
}

func TestStartOfToolsOnly(t *testing.T) {
	p := start(t, spec(hosttest.ToolsOnly))
	require.Len(t, p.Info().Producers, 1)
	for _, op := range p.Operations() {
		require.False(t, op.IsCommand(), op.Name)
	}
}

func TestStartFailures(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode, content string) string {
		path := dir + "/" + name
		require.NoError(t, os.WriteFile(path, []byte(content), mode))
		return path
	}
	write("provider-wordcount", 0o755, "")
	mips := "\x7fELF\x02\x02\x01" + strings.Repeat("\x00", 9) + "\x00\x02\x00\x08\x00\x00\x00\x01" + strings.Repeat("\x00", 28) + "\x00\x40" + strings.Repeat("\x00", 10)
	tests := []struct {
		name  string
		mode  hosttest.Mode
		path  string
		stage Stage
		want  []string
	}{
		{name: "no such file", path: dir + "/provider-wordcuont", stage: StageLaunch, want: []string{"there is no file", `did you mean "provider-wordcount"?`}},
		{name: "a directory", path: dir, stage: StageLaunch, want: []string{"is a directory"}},
		{name: "not executable", path: write("plain", 0o644, "#!/bin/sh\n"), stage: StageLaunch, want: []string{"not executable", "-rw-r--r--", "chmod +x"}},
		{name: "another machine", path: write("mips", 0o755, mips), stage: StageLaunch, want: []string{"is built for", "mips", "install the build for this machine"}},
		{name: "no program", path: write("text", 0o755, "hello"), stage: StageLaunch, want: []string{"not a program of this system"}},
		{name: "no interpreter", path: write("script", 0o755, "#!/does/not/exist\n"), stage: StageLaunch, want: []string{"interpreter"}},
		{name: "no provider", path: write("true", 0o755, "#!/bin/sh\nexit 0\n"), stage: StageHandshake, want: []string{"exit status 0", "not a provider"}},
		{name: "prints first", mode: hosttest.Chatty, stage: StageHandshake, want: []string{`"debug: \x1b[31mhello\x1b[0m"`, "stdout is reserved"}},
		{name: "hangs", mode: hosttest.Silent, stage: StageHandshake, want: []string{"did not shake hands"}},
		{name: "dies", mode: hosttest.Dying, stage: StageHandshake, want: []string{"exit status 3", "cannot find the moon"}},
		{name: "another version", mode: hosttest.Future, stage: StageHandshake, want: []string{"speaks version 2", "this kernel speaks version 1"}},
		{name: "nothing to offer", mode: hosttest.Useless, stage: StageSchema, want: []string{"neither tools nor slash commands"}},
		{name: "breaks the protocol", mode: hosttest.Lying, stage: StageSchema, want: []string{
			`"harmless": TOOL_KIND_DATA_SOURCE must have risk`, `"bad\x1bname": the name must be`, `"echo" is offered twice`, `"unkind": there is no kind`,
			`"haunted": its input_schema: "ghost" is required and not among`, `"flat": its output_schema: it must be of type object`}},
		{name: "refuses without a word", mode: hosttest.Curt, stage: StageConfigure, want: []string{"does not say why"}},
		{name: "dies in Configure", mode: hosttest.Fragile, stage: StageConfigure, want: []string{"exit status 4", "the vase fell"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := spec(test.mode)
			if test.path != "" {
				s.Path = test.path
			}
			if test.mode == hosttest.Silent {
				s.StartTimeout = 500 * time.Millisecond
			}
			_, err := Start(t.Context(), s, nil)
			var failed *StartError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, test.stage, failed.Stage)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), "\x1b")
			require.ErrorContains(t, err, `provider "fixture": `)
		})
	}
}

// What can no longer become a handshake is not waited for.
func TestStartEndsWithTheFirstLine(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"never ends it", "head -c 100000 /dev/zero; exec sleep 600", "to stdout where the handshake belongs"},
		{"forgets the newline", "printf '1|1|unix|/nowhere|grpc|AA'; exec sleep 600", "without the newline that ends it"},
		{"greets without a newline", "printf Hello; exec sleep 600", `wrote "Hello" to stdout where the handshake belongs`},
		{"ends before the newline", "printf '1|1|unix|/nowhere|grpc|AA'", "without the newline that ends it"},
		{"closes stdout", "exec >&-; exec sleep 600", "closed its stdout, where the handshake belongs"},
		{"dies of a signal", "kill -SEGV $$", "signal: segmentation fault"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := spec(hosttest.Good)
			s.StartTimeout = time.Hour
			s.Path = filepath.Join(t.TempDir(), "provider")
			require.NoError(t, os.WriteFile(s.Path, []byte("#!/bin/sh\n"+test.script+"\n"), 0o755))
			_, err := Start(t.Context(), s, nil)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// Whoever stops a start is told that, and not what broke by it.
func TestStartIsStoppedAtEveryStage(t *testing.T) {
	stopped := errors.New("changed my mind")
	for _, mode := range []hosttest.Mode{hosttest.Silent, hosttest.Thinking, hosttest.Stuck} {
		t.Run(string(mode), func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, stopped)
			defer cancel()
			_, err := Start(ctx, spec(mode), nil)
			require.ErrorIs(t, err, stopped)
		})
	}
}

// The provider works in the project, the kernel elsewhere: a relative TMPDIR is not the same folder for both.
func TestRelativeTemporaryFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".")
	s := spec(hosttest.Good)
	s.Dir = t.TempDir()
	start(t, s)
}

func TestConfigureRejectionNamesTheField(t *testing.T) {
	_, err := Start(t.Context(), spec(hosttest.Good), fixed(map[string]any{"refuse": true}))
	var failed *StartError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, StageConfigure, failed.Stage)
	require.Equal(t, "refuse", failed.Rejection.GetDetails().GetFields()["field"].GetStringValue())
	require.ErrorContains(t, err, "refuse must be false")
	require.Empty(t, failed.Output)
}

func TestStartIsStoppedByItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Start(ctx, spec(hosttest.Silent), nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestEnvironmentIsAllowListed(t *testing.T) {
	t.Setenv("API_TOKEN", "s3cr3t-abc")
	t.Setenv("LC_ALL", "C")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:9") // K25: the local connection must not go there
	s := spec(hosttest.Good)
	s.Env["GIVEN"] = "yes"
	p := start(t, s)
	reply, _ := invoke(t, p, "environment", nil)
	require.Equal(t, Completed, reply.Ending, reply.Error)
	payload := reply.Payload.AsMap()
	require.Contains(t, payload["names"], "GIVEN")
	require.Contains(t, payload["names"], "PATH")
	require.Contains(t, payload["names"], "LC_ALL")
	require.NotContains(t, payload["names"], "API_TOKEN")
	require.NotContains(t, payload["names"], "HTTPS_PROXY")
	if stdin := payload["stdin"]; stdin != "" {
		require.Equal(t, os.DevNull, stdin)
	}
}

// K12
func TestDeepTemporaryFolder(t *testing.T) {
	deep := t.TempDir() + "/" + strings.Repeat("d", 95)
	require.NoError(t, os.Mkdir(deep, 0o700))
	t.Setenv("TMPDIR", deep)
	p := start(t, spec(hosttest.Good))
	reply, _ := invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Completed, reply.Ending)
	entries, err := os.ReadDir(deep)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestCloseRemovesSockets(t *testing.T) {
	p := start(t, spec(hosttest.Good))
	l := p.life
	require.DirExists(t, l.sockets.path)
	p.Close()
	require.NoDirExists(t, l.sockets.path)
	reply, _ := invoke(t, p, "echo", map[string]any{"text": "hi"})
	require.Equal(t, Crashed, reply.Ending)
	require.Contains(t, reply.Error.GetMessage(), ErrClosed.Error())
}
