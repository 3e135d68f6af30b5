package conformance_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/conformance"
	"github.com/agentco/agent/conformance/client"
	commonv1 "github.com/agentco/agent/proto/pluggableharness/common/v1"
	slashcommandv1 "github.com/agentco/agent/proto/pluggableharness/slashcommand/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
	"github.com/agentco/agent/proto/plugin"
)

// The provider of examples/node-provider shares no line with the SDK: what it does, any language can.

const (
	nodeSession = "01J9Z3QK4T8V6W2X5Y7A9B1C3D"
	nodeSecret  = "sixteen letters and more"
)

// TestNode runs the provider that is written in JavaScript. It is skipped where Node or its packages are not to be had.
func TestNode(t *testing.T) {
	path := installNode(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, string)
	}{
		{"its own tests", nodeOwnTests},
		{"identity", nodeIdentity},
		{"configure", nodeConfigure},
		{"preview and edit", nodeEdit},
		{"errors of a call", nodeErrors},
		{"stream of a child process", nodeStream},
		{"slow reader", nodeSlowReader},
		{"cancel", nodeCancel},
		{"cancel the deaf", nodeCancelDeaf},
		{"secret", nodeSecretStays},
		{"terminate", nodeTerminate},
		{"killed", nodeKilled},
		{"parent dies", nodeParentDies},
		{"under agent", nodeUnderAgent},
		{"every rule of the protocol", nodeConformance},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, path) })
	}
}

// offline is what npm says when it cannot reach its registry.
var offline = regexp.MustCompile(`\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E403|E5\d\d)\b`)

// installNode copies the provider with the protocol's files and installs its packages there. It gives the path of the
// executable.
func installNode(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s on this machine, which the provider of examples/node-provider needs", tool)
		}
	}
	root := t.TempDir()
	copyTree(t, "../proto", filepath.Join(root, "proto"))
	dir := filepath.Join(root, "examples/node-provider")
	copyTree(t, "../examples/node-provider", dir)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=0")
	npm.Dir = dir
	out, err := npm.CombinedOutput()
	if err != nil && (offline.Match(out) || ctx.Err() != nil) {
		t.Skipf("the packages of examples/node-provider cannot be installed here: %v\n%s", err, out)
	}
	require.NoError(t, err, "npm ci: %s", out)
	return filepath.Join(dir, "provider")
}

// copyTree copies a folder without what belongs to one machine or to another language.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		if strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, info.Mode())
	}))
}

// notebook is a running, configured provider in a project with two notes.
type notebook struct {
	*client.Provider
	dir string
}

func openNotebook(t *testing.T, path string) *notebook {
	t.Helper()
	n := launchNotebook(t, path)
	block := nodeObject(t, map[string]any{"folder": "notes", "seal_key": nodeSecret})
	_, err := n.Tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: block})
	require.NoError(t, err)
	_, err = n.Commands.Configure(t.Context(), &slashcommandv1.ConfigureRequest{Config: block})
	require.NoError(t, err, "the kernel configures each service")
	return n
}

func launchNotebook(t *testing.T, path string) *notebook {
	t.Helper()
	dir := t.TempDir()
	writeNotes(t, dir)
	p, err := client.Launch(client.Options{Path: path, Dir: dir, Stderr: os.Stderr})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return &notebook{Provider: p, dir: dir}
}

func writeNotes(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "notes"), 0o755))
	for name, text := range map[string]string{"one.md": "# One\n\nhello\n\n## Inner\n", "two.md": "no title\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "notes", name), []byte(text), 0o644))
	}
}

func nodeObject(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(m)
	require.NoError(t, err)
	return s
}

func (n *notebook) call(t *testing.T, tool string, arguments map[string]any) *toolv1.ToolCall {
	return &toolv1.ToolCall{Id: "call_" + tool, ToolName: tool, Arguments: nodeObject(t, arguments),
		CallContext: &commonv1.CallContext{SessionId: nodeSession, TurnId: nodeSession, WorkingDirectory: n.dir}}
}

// invoke runs a tool to its end and gives its events.
func (n *notebook) invoke(t *testing.T, tool string, arguments map[string]any) []*toolv1.ToolEvent {
	t.Helper()
	stream, err := n.Tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: n.call(t, tool, arguments)})
	require.NoError(t, err)
	var events []*toolv1.ToolEvent
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return events
		}
		require.NoError(t, err)
		events = append(events, r.GetEvent())
	}
}

func last(events []*toolv1.ToolEvent) *toolv1.ToolEvent { return events[len(events)-1] }

func nodeToolError(t *testing.T, err error) *toolv1.ToolError {
	t.Helper()
	details := status.Convert(err).Details()
	require.Len(t, details, 1, "%v", err)
	require.IsType(t, &toolv1.ToolError{}, details[0])
	return details[0].(*toolv1.ToolError)
}

func nodeOwnTests(t *testing.T, path string) {
	npm := exec.CommandContext(t.Context(), "npm", "test")
	npm.Dir = filepath.Dir(path)
	out, err := npm.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "# pass 0\n")
}

func nodeIdentity(t *testing.T, path string) {
	n := launchNotebook(t, path)
	d, err := n.Tools.Describe(t.Context(), &toolv1.DescribeRequest{})
	require.NoError(t, err)
	require.Equal(t, "notebook", d.GetProducer().GetName())
	require.Equal(t, commonv1.Category_CATEGORY_TOOL, d.GetProducer().GetCategory())
	require.EqualValues(t, 1, d.GetProducer().GetProtocolVersion())
	schema, err := n.Tools.GetSchema(t.Context(), &toolv1.GetSchemaRequest{})
	require.NoError(t, err)
	capabilities, err := n.Commands.GetCapabilities(t.Context(), &slashcommandv1.GetCapabilitiesRequest{})
	require.NoError(t, err)
	require.Len(t, schema.GetTools(), 3)
	require.Equal(t, "outline", capabilities.GetCommands()[0].GetName())
	attributes := schema.GetConfigSchema().GetAttributes()
	require.True(t, attributes[0].GetRequired())
	require.True(t, attributes[1].GetSensitive())
	require.Nil(t, attributes[1].DefaultJson)
}

func nodeConfigure(t *testing.T, path string) {
	n := launchNotebook(t, path)
	for _, test := range []struct {
		name  string
		block map[string]any
		field string
	}{
		{"nothing", nil, "folder"},
		{"another type", map[string]any{"folder": true}, "folder"},
		{"no such folder", map[string]any{"folder": "missing"}, "folder"},
		{"unknown attribute", map[string]any{"folder": "notes", "foldre": "x"}, "foldre"},
		{"short secret", map[string]any{"folder": "notes", "seal_key": "hunter2"}, "seal_key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := n.Tools.Configure(t.Context(), &toolv1.ConfigureRequest{Config: nodeObject(t, test.block)})
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			e := nodeToolError(t, err)
			require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS, e.GetCategory())
			require.Equal(t, test.field, e.GetDetails().GetFields()["field"].GetStringValue())
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func nodeEdit(t *testing.T, path string) {
	n := openNotebook(t, path)
	file := filepath.Join(n.dir, "notes", "one.md")
	before, err := os.ReadFile(file)
	require.NoError(t, err)
	edit := map[string]any{"name": "one.md", "old_text": "hello", "new_text": "goodbye"}
	preview, err := n.Tools.Preview(t.Context(), &toolv1.PreviewRequest{Call: n.call(t, "edit_note", edit)})
	require.NoError(t, err)
	hunk := preview.GetPreview().GetRoot().GetGroup().GetChildren()[1].GetDiff().GetHunks()[0]
	require.EqualValues(t, []int32{1, 5, 1, 5}, []int32{hunk.GetOldStart(), hunk.GetOldLines(), hunk.GetNewStart(), hunk.GetNewLines()})
	unchanged, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, before, unchanged, "a preview does nothing")

	events := n.invoke(t, "edit_note", edit)
	require.EqualValues(t, 3, last(events).GetResult().GetPayload().GetFields()["line"].GetNumberValue())
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(string(before), "hello", "goodbye", 1), string(after))

	_, err = n.Tools.Preview(t.Context(), &toolv1.PreviewRequest{Call: n.call(t, "edit_note", edit)})
	require.Equal(t, codes.NotFound, status.Code(err), "what Invoke refuses, Preview refuses")
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, nodeToolError(t, err).GetCategory())
}

func nodeErrors(t *testing.T, path string) {
	n := openNotebook(t, path)
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(n.dir, "notes", "link.md")))
	edit := func(name, old string) map[string]any {
		return map[string]any{"name": name, "old_text": old, "new_text": ""}
	}
	for _, test := range []struct {
		name, tool string
		arguments  map[string]any
		want       toolv1.ToolErrorCategory
	}{
		{"missing argument", "run", nil, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"another type", "run", map[string]any{"command": 1.0}, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"unknown tool", "walk", nil, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"ambiguous", "edit_note", edit("one.md", "n"), toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"half a note", "list_notes", map[string]any{"limit": 1.5}, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"no number at all", "list_notes", map[string]any{"limit": math.NaN()}, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"too large a note", "edit_note", map[string]any{"name": "one.md", "old_text": "hello", "new_text": strings.Repeat("x", 1<<20)},
			toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_EXECUTION_FAILED},
		{"no such note", "edit_note", edit("three.md", "o"), toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND},
		{"a way out", "edit_note", edit("../one.md", "o"), toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_INVALID_ARGUMENTS},
		{"a link", "edit_note", edit("link.md", "root"), toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_PERMISSION_DENIED},
	} {
		t.Run(test.name, func(t *testing.T) {
			events := n.invoke(t, test.tool, test.arguments)
			require.Len(t, events, 1)
			require.Equal(t, test.want.String(), events[0].GetError().GetCategory().String(), events[0].GetError().GetMessage())
			require.NotEmpty(t, events[0].GetError().GetMessage())
		})
	}
}

func nodeStream(t *testing.T, path string) {
	n := openNotebook(t, path)
	events := n.invoke(t, "run", map[string]any{"command": `printf 'out\377'; printf err >&2; kill -USR1 $$`})
	var stdout, stderr []byte
	var exit *toolv1.ToolEvent_ExitStatus
	for _, event := range events {
		if chunk := event.GetOutputChunk(); chunk.GetStream() == toolv1.OutputStream_OUTPUT_STREAM_STDOUT {
			stdout = append(stdout, chunk.GetData()...)
		} else {
			stderr = append(stderr, chunk.GetData()...)
		}
		if event.GetExitStatus() != nil {
			require.Nil(t, exit)
			exit = event.GetExitStatus()
		}
	}
	require.NotEmpty(t, events[0].GetProgress().GetMessage())
	require.Equal(t, "out\xff", string(stdout))
	require.Equal(t, "err", string(stderr))
	require.EqualValues(t, 128+int(syscall.SIGUSR1), exit.GetExitCode())
	require.Equal(t, "SIGUSR1", exit.GetSignal())
	require.EqualValues(t, 7, last(events).GetResult().GetPayload().GetFields()["output_bytes"].GetNumberValue())
}

// nodeSlowReader holds that a kernel which does not read stops the command, and that nothing is lost by it.
func nodeSlowReader(t *testing.T, path string) {
	const size = 64 << 20
	n := openNotebook(t, path)
	mark := filepath.Join(n.dir, "printed")
	command := `head -c 67108864 /dev/zero; echo done >` + mark
	stream, err := n.Tools.Invoke(t.Context(), &toolv1.InvokeRequest{Call: n.call(t, "run", map[string]any{"command": command})})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	// Another call prints as much and is read, so there was time to print everything if nothing held the command back.
	n.invoke(t, "run", map[string]any{"command": "head -c 67108864 /dev/zero"})
	require.NoFileExists(t, mark)
	total := 0
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		total += len(r.GetEvent().GetOutputChunk().GetData())
	}
	require.Equal(t, size, total)
	require.FileExists(t, mark)
}

func nodeCancel(t *testing.T, path string) {
	n := openNotebook(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	call := n.call(t, "run", map[string]any{"command": `trap 'wait; echo bye; exit 7' TERM; (trap 'echo child; exit' TERM; echo up; sleep 1000 & wait) & wait`})
	stream, err := n.Tools.Invoke(ctx, &toolv1.InvokeRequest{Call: call})
	require.NoError(t, err)
	for printed := false; !printed; {
		r, err := stream.Recv()
		require.NoError(t, err)
		printed = strings.Contains(string(r.GetEvent().GetOutputChunk().GetData()), "up")
	}
	cancel()
	patience, end := context.WithTimeout(t.Context(), 5*time.Second)
	defer end()
	report, err := n.Callbacks.Report(patience, call.GetId())
	require.NoError(t, err)
	require.Equal(t, toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_CANCELLED, report.GetError().GetCategory())
	details := report.GetError().GetDetails().AsMap()
	require.Equal(t, "child\nbye\n", details["output"], "the whole group is asked to end, and has the time for it")
	require.Equal(t, map[string]any{"exit_code": 7.0, "output_bytes": 13.0}, details["partial_result"])
	require.NotNil(t, last(n.invoke(t, "list_notes", nil)).GetResult(), "the provider lives on")
}

func nodeSecretStays(t *testing.T, path string) {
	n := openNotebook(t, path)
	require.NoError(t, os.WriteFile(filepath.Join(n.dir, "notes", "bad.md"), []byte{0xff}, 0o644))
	require.EqualValues(t, 1, last(n.invoke(t, "list_notes", nil)).GetResult().GetPayload().GetFields()["unreadable"].GetNumberValue())
	for _, event := range append(n.invoke(t, "list_notes", nil), n.invoke(t, "run", map[string]any{"command": "env"})...) {
		require.NotContains(t, event.String(), nodeSecret)
	}
}

// nodeCancelDeaf holds that nothing of a cancelled command lives on, not even what ignores that it is asked to end.
func nodeCancelDeaf(t *testing.T, path string) {
	n := openNotebook(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	end := n.startForever(ctx, t, `(trap '' TERM; exec sleep 1000) &`)
	cancel()
	end(t)
}

func nodeTerminate(t *testing.T, path string) {
	n := openNotebook(t, path)
	end := n.startForever(t.Context(), t, "")
	require.NoError(t, syscall.Kill(n.PID(), syscall.SIGTERM))
	end(t)
}

// nodeKilled holds that a command does not outlive its provider, even one that had no chance to do anything about it.
func nodeKilled(t *testing.T, path string) {
	n := openNotebook(t, path)
	end := n.startForever(t.Context(), t, "")
	require.NoError(t, syscall.Kill(n.PID(), syscall.SIGKILL))
	end(t)
}

// startForever runs a command that never ends by itself, after what it begins with. What it returns waits until every
// process of it has ended.
func (n *notebook) startForever(ctx context.Context, t *testing.T, begin string) func(*testing.T) {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	call := n.call(t, "run", map[string]any{"command": `exec 9>` + fifo + "\n" + begin + "\n" + `echo up >&9; sleep 1000 & sleep 1000`})
	_, err := n.Tools.Invoke(ctx, &toolv1.InvokeRequest{Call: call})
	require.NoError(t, err)
	held, err := os.OpenFile(fifo, os.O_RDONLY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = held.Close() })
	up := make([]byte, 3)
	_, err = io.ReadFull(held, up)
	require.NoError(t, err)
	return func(t *testing.T) {
		t.Helper()
		require.NoError(t, held.SetReadDeadline(time.Now().Add(10*time.Second)))
		rest, err := io.ReadAll(held)
		require.NoError(t, err, "a process of the command lives on")
		require.Empty(t, rest)
	}
}

// nodeParentDies starts the provider below a shell that is killed, as a kernel on a system without PR_SET_PDEATHSIG
// would be. No kernel ever connects.
func nodeParentDies(t *testing.T, path string) {
	sockets := t.TempDir()
	shell := exec.Command("sh", "-c", `"$0" <&- & read _`, path)
	shell.Env = append(os.Environ(), plugin.MagicCookieKey+"="+plugin.MagicCookieValue, "PLUGIN_UNIX_SOCKET_DIR="+sockets)
	stdin, err := shell.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	shell.Stdout = write
	require.NoError(t, shell.Start())
	require.NoError(t, write.Close())
	require.NoError(t, read.SetReadDeadline(time.Now().Add(20*time.Second)))
	out := bufio.NewReader(read)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^1\|1\|unix\|`+regexp.QuoteMeta(sockets)+`/[^|]+\|grpc\|\n$`, line, "without a certificate of the kernel's there is none of the provider's")
	require.NoError(t, shell.Process.Kill())
	_ = shell.Wait()
	rest, err := io.ReadAll(out)
	require.NoError(t, err, "the provider lives on without its parent")
	require.Empty(t, rest)
	left, err := os.ReadDir(sockets)
	require.NoError(t, err)
	require.Empty(t, left)
}

func nodeConformance(t *testing.T, path string) {
	report, err := conformance.Check(t.Context(), []string{path}, conformance.Options{
		Scenario: filepath.Join(filepath.Dir(path), "conformance.hcl"), Stderr: t.Output(),
	})
	require.NoError(t, err)
	for _, row := range report.Rows {
		require.Contains(t, []conformance.Verdict{conformance.Pass, conformance.Skipped}, row.Verdict, "%s: %s", row.ID, row.Seen)
	}
}

func nodeUnderAgent(t *testing.T, path string) {
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", agent, ".")
	build.Dir = "../kernel/cmd/agent"
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	writeNotes(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent.hcl"), []byte(`
required_providers {
  notebook = { source = "github.com/agentco/agent//provider-notebook" }
}
provider "notebook" {
  folder   = "notes"
  seal_key = env("SEAL_KEY")
}
`), 0o644))
	config := filepath.Join(dir, "config")
	require.NoError(t, os.MkdirAll(filepath.Join(config, "agent"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(config, "agent", "config.hcl"),
		[]byte("dev_overrides {\n  notebook = \""+path+"\"\n}\n"), 0o644))
	run := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), agent, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+config, "SEAL_KEY="+nodeSecret)
		return cmd
	}
	text := func(args ...string) string {
		out, err := run(args...).Output()
		require.NoError(t, err, "agent %v", args)
		return string(out)
	}
	require.Contains(t, text("providers"), "tool, slashcommand")
	require.Contains(t, text("invoke", "notebook.list_notes"), "one.md")
	edit, err := run("--log-level", "info", "invoke", "notebook.edit_note", "name=one.md", "old_text=hello", "new_text=hi", "--yes").CombinedOutput()
	require.NoError(t, err, "%s", edit)
	require.Contains(t, string(edit), "changed one.md at line 3")
	require.Contains(t, string(edit), "msg=edited provider=notebook", "log entries go over the callback channel")
	require.Contains(t, text("run", "/outline", "name=one.md"), "Inner")
	nodeInterrupt(t, run("invoke", "notebook.run", "command=echo up; sleep 1000", "--yes", "--json"))
}

// nodeInterrupt is a Ctrl-C: the report of the provider is the outcome.
func nodeInterrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	up := base64.StdEncoding.EncodeToString([]byte("up\n"))
	var line string
	for lines.Scan() {
		if line = lines.Text(); strings.Contains(line, up) {
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	err = cmd.Wait()
	require.EqualValues(t, 130, cmd.ProcessState.ExitCode(), "%v", err)
	var end struct {
		Outcome struct {
			Status string
			Report struct{ Note string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(line), &end), line)
	require.Equal(t, "cancelled", end.Outcome.Status)
	require.Equal(t, "the command was ended by SIGTERM after it had printed 3 bytes", end.Outcome.Report.Note)
}
