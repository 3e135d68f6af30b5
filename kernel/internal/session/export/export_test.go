package export_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/agentco/agent/kernel/internal/session"
	"github.com/agentco/agent/kernel/internal/session/export"
	eventv1 "github.com/agentco/agent/proto/pluggableharness/event/v1"
	toolv1 "github.com/agentco/agent/proto/pluggableharness/tool/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the goldens")

const id = "01J00000000000000000000000"

var provider = session.Producer{Category: "tool", Name: "bash", Version: "1.2.3"}

func encoded(t testing.TB, m proto.Message) []byte {
	t.Helper()
	content, err := proto.Marshal(m)
	require.NoError(t, err)
	return content
}

// written is a session with one call of each end, which prints what is given.
func written(t testing.TB, command, stdout, stderr, failure string, raw []byte) *session.File {
	t.Helper()
	log, err := session.NewLog(t.TempDir(), session.Meta{ID: id, Command: "shell", Project: "/home/p"}, nil)
	require.NoError(t, err)
	arguments := &structpb.Struct{Fields: map[string]*structpb.Value{"command": structpb.NewStringValue(command)}}
	call := func(id string) {
		log.Append(session.Entry{Kind: session.ToolCall, Producer: provider, CallID: id, Payload: encoded(t,
			&eventv1.ToolCallEvent{Call: &toolv1.ToolCall{Id: id, ToolName: "bash", Arguments: arguments}})})
	}
	call("tc_1")
	log.Print(session.Output{CallID: "tc_1", Stream: session.Stdout, Data: []byte(stdout)})
	log.Print(session.Output{CallID: "tc_1", Stream: session.Stderr, Data: []byte(stderr)})
	log.Append(session.Entry{Kind: session.ToolResult, Producer: provider, CallID: "tc_1", Payload: encoded(t,
		&eventv1.ToolResultEvent{ToolCallId: "tc_1", Outcome: &eventv1.ToolResultEvent_Result{Result: &toolv1.ToolResult{Payload: arguments}}})})
	call("tc_2")
	log.Append(session.Entry{Kind: session.ToolResult, Producer: provider, CallID: "tc_2", Payload: encoded(t,
		&eventv1.ToolResultEvent{ToolCallId: "tc_2", Outcome: &eventv1.ToolResultEvent_Error{Error: &toolv1.ToolError{
			Category: toolv1.ToolErrorCategory_TOOL_ERROR_CATEGORY_NOT_FOUND, Message: failure}}})})
	log.Append(session.Entry{Kind: "message", Producer: provider, Payload: raw})
	call("tc_3")
	log.Print(session.Output{CallID: "tc_3", Stream: session.Stdout, Data: []byte("never finished")})
	require.NoError(t, log.Close(session.Completed))
	f, err := session.Open(t.Context(), log.Path())
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

func exported(t testing.TB, f *session.File, write func(context.Context, *session.File, *bytes.Buffer) error) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, write(t.Context(), f, &out))
	return out.String()
}

func jsonLines(ctx context.Context, f *session.File, to *bytes.Buffer) error {
	return export.JSONLines(ctx, f, to)
}
func markdown(ctx context.Context, f *session.File, to *bytes.Buffer) error {
	return export.Markdown(ctx, f, to)
}
func cast(ctx context.Context, f *session.File, to *bytes.Buffer) error {
	return export.Cast(ctx, f, to)
}

// Times differ from run to run, and nothing else does.
func TestMarkdown(t *testing.T) {
	f := written(t, "echo `hi` | *x*", "\x1b[31mred\x1b[0m\n```\nfence\x1b]0;title\a\n", "err\r\n", "no <file>", nil)
	text := exported(t, f, markdown)
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "| began") && !strings.HasPrefix(line, "| started") && !strings.HasPrefix(line, "| ended") && !strings.HasPrefix(line, "| took") {
			kept = append(kept, line)
		}
	}
	golden := filepath.Join("testdata", "session.md")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(strings.Join(kept, "\n")), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), strings.Join(kept, "\n"))
}

func TestJSONLines(t *testing.T) {
	f := written(t, "echo", "out", "err", "no", []byte{0xff})
	var kinds []string
	lines := bufio.NewScanner(strings.NewReader(exported(t, f, jsonLines)))
	for lines.Scan() {
		var line struct {
			Session *export.Session
			Event   *export.Event
			Output  *export.Output
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		switch {
		case line.Session != nil:
			kinds = append(kinds, "session")
			require.Equal(t, session.Completed, line.Session.Status)
		case line.Output != nil:
			kinds = append(kinds, "output "+string(line.Output.Data))
		case line.Event != nil:
			kinds = append(kinds, string(line.Event.Kind))
			require.Len(t, line.Event.Hash, 64)
			if line.Event.Kind == "message" {
				require.Equal(t, []byte{0xff}, line.Event.Raw)
			} else {
				require.NotEmpty(t, line.Event.Payload)
			}
		}
	}
	require.Equal(t, []string{"session", "tool_call", "output out", "output err", "tool_result", "tool_call", "tool_result", "message", "tool_call", "output never finished"}, kinds)
}

// castLines takes a cast apart and checks its form.
func castLines(t testing.TB, text string) (screen string) {
	t.Helper()
	head, rest, _ := strings.Cut(text, "\n")
	var header struct {
		Version, Width, Height int
		Timestamp              int64
	}
	require.NoError(t, json.Unmarshal([]byte(head), &header))
	require.Equal(t, 2, header.Version)
	require.WithinDuration(t, time.Now(), time.Unix(header.Timestamp, 0), time.Minute)
	last := 0.0
	for _, line := range strings.Split(strings.TrimSuffix(rest, "\n"), "\n") {
		var moment []any
		require.NoError(t, json.Unmarshal([]byte(line), &moment), "%q", line)
		require.Len(t, moment, 3)
		require.GreaterOrEqual(t, moment[0].(float64), last)
		last = moment[0].(float64)
		require.Equal(t, "o", moment[1])
		screen += moment[2].(string)
	}
	return screen
}

func TestCast(t *testing.T) {
	f := written(t, "echo", "\x1b[31mred\x1b[0m\nand \x1b]0;title\amore\x1b[2J\n", "err\n", "no file\nof that name", nil)
	screen := castLines(t, exported(t, f, cast))
	require.Contains(t, screen, `$ agent invoke bash.bash --args '{"command":"echo"}'`)
	require.Contains(t, screen, "\x1b[31mred")
	require.NotContains(t, screen, "\x1b]0;", "a title is not the business of what is played")
	require.NotContains(t, screen, "\x1b[2J")
	require.Contains(t, screen, "no file\r\nof that name")
	require.Contains(t, screen, "never finished")
	require.NotContains(t, strings.ReplaceAll(screen, "\r\n", ""), "\n", "a terminal needs the carriage return")
}

// The line of a call is for a shell, which gets back from it the arguments that the call ran with.
func TestCastLineIsForAShell(t *testing.T) {
	for _, command := range []string{"echo hi", "it's", `a "b" $HOME \ ` + "`x`", "<&>!", "zwölf\u0085\u202e\n\t"} {
		screen := castLines(t, exported(t, written(t, command, "", "", "no", nil), cast))
		line, _, _ := strings.Cut(screen, "\r\n")
		line = strings.TrimSuffix(strings.TrimPrefix(line, "\x1b[1m$ agent invoke bash.bash --args "), "\x1b[0m")
		out, err := exec.CommandContext(t.Context(), "bash", "-c", "printf %s "+line).Output()
		require.NoError(t, err, "%s", line)
		var arguments map[string]string
		require.NoError(t, json.Unmarshal(out, &arguments), "%s", out)
		require.Equal(t, map[string]string{"command": command}, arguments)
	}
}

// Whatever a session holds, what is written of it is well-formed.
func FuzzExport(f *testing.F) {
	f.Add("echo hi", "out\n", "err\n", "no", []byte("raw"))
	f.Add("a\nb|c`d", "\x1b[31m\xff\xfe```\r\n# x", "</details>", "\u2028\"", []byte{0})
	f.Fuzz(func(t *testing.T, command, stdout, stderr, failure string, raw []byte) {
		if !utf8.ValidString(command) || !utf8.ValidString(failure) {
			return // such a message cannot be encoded
		}
		file := written(t, command, stdout, stderr, failure, raw)
		for _, line := range strings.Split(strings.TrimSuffix(exported(t, file, jsonLines), "\n"), "\n") {
			require.True(t, json.Valid([]byte(line)), "%q", line)
		}
		castLines(t, exported(t, file, cast))
		text := exported(t, file, markdown)
		require.True(t, utf8.ValidString(text))
		// What a call says never becomes a heading, and every fence is closed by its like.
		fence, headings := "", 0
		for _, line := range strings.Split(text, "\n") {
			ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
			switch {
			case fence == "" && len(ticks) >= 3:
				fence = ticks
			case fence != "" && line == fence:
				fence = ""
			case fence == "" && strings.HasPrefix(line, "#"):
				headings++
			}
		}
		require.Empty(t, fence)
		require.Equal(t, 4, headings)
	})
}
